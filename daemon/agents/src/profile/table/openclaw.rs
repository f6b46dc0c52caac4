//! The row of OpenClaw, and the texts about skills that it gives its model.

use crate::profile::row::{present, provided, root, texts, usual, variable};
use crate::profile::{
    DuplicatePolicy, LinkPolicy, LoadStrategy, NameRule, NameSource, OutputFormat, Profile,
    Provider, Quoting, RootBase, ScalarRule, Scope, WalkRule,
};
use crate::profile::template::{
    BlanksRule, CompactListing, EscapeRule, ListingLimit, ListingOrder, ListingTemplate, Overflow,
    PromptTemplate,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| The workspace is a setting, or below `OPENCLAW_STATE_DIR`; `skills.load.extraDirs` and its profile add directories. | The workspace is `~/.openclaw/workspace`; the variable moves only `skills`, and settings are not read. | Only directories and files are measured. |
| A linked SKILL.md is read only if it leads to a file of the skill. | It may lead to any file of the directory of skills. | One rule serves all links. |
| A directory `skills` within a directory of skills may take its place. | It is a directory like others. | No known skill uses it. |
| At most 200 skills of a directory are loaded. | All are. | The limit is a setting. |
| Its bundled skills and its plugins add skills, `requires` in `metadata` and its settings remove them. | They are not read. | Only directories and files are measured. |
| Its own skills are in the list, and in the 18,000 characters and 150 skills to which it is cut. | They are not. | They differ between machines, by the programs that they need. |
| For a model with a context below 90,000 tokens, descriptions are cut to 64 to 220 characters. | They are not cut for that. | Only the usual list is measured. |
| Its model loads a skill by reading the file. | A loaded skill has the standard's form. | The agent has no tool for skills. |
";

/// OpenClaw 2026.9.6: run, and its source.
pub(super) fn profile() -> Profile {
    let walk = WalkRule {
        max_depth: Some(6),
        root_skill: true,
        root_stops: true,
        repeats: true,
        stops_at_directory: true,
        skipped: texts(&["node_modules"]),
        max_bytes: Some(256_000),
        ..WalkRule::plain()
    };
    // Measured: links out of the workspace's directories are reported, not followed.
    let within = WalkRule { directory_links: LinkPolicy::WithinRoot, ..walk.clone() };
    let usual = usual("openclaw", "OpenClaw", "2026.9.6");
    Profile {
        deviations: DEVIATIONS,
        own: "".into(),
        environment: texts(&["HOME", "OPENCLAW_STATE_DIR"]),
        presence: Some(present(("OPENCLAW_STATE_DIR", ".openclaw", ""), "openclaw", &[])),
        roots: vec![
            // The last wins, so skills from elsewhere come before the agent's own.
            provided(Provider::Bundled),
            provided(Provider::Mcp),
            provided(Provider::Remote),
            root(variable("OPENCLAW_STATE_DIR", ".openclaw"), &["skills"], Scope::User, &walk),
            root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
            root(
                RootBase::Home,
                &[".openclaw/workspace/.agents/skills", ".openclaw/workspace/skills"],
                Scope::User,
                &within,
            ),
        ],
        name: NameRule {
            source: NameSource::FieldElseDirectory,
            scalars: ScalarRule::Text,
            ..usual.name
        },
        library: YamlLibrary::NpmYamlAsJson,
        load_strategies: vec![LoadStrategy::Strict, LoadStrategy::Quote(Quoting::Description)],
        duplicates: DuplicatePolicy::LastWins,
        hides_from_model: true,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of OpenClaw 2026.9.6: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "openclaw",
    listing: ListingTemplate {
        head: "The following skills provide specialized instructions for specific tasks.
Read a skill's file at its listed location when the task matches its description.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use that absolute path in tool commands.

<available_skills>
",
        entry: "  <skill>
    <name>{name}</name>
    <description>{description}</description>
    <location>{path}</location>
  </skill>",
        empty: "    <description>{description}</description>\n",
        tail: "\n</available_skills>",
        order: ListingOrder::ByName,
        escape: EscapeRule::Xml,
        blanks: BlanksRule::Trimmed,
        tilde: true,
        limit: Some(ListingLimit {
            characters: 18_000,
            counts_last_break: true,
            per_100_tokens: None,
            built_in: 0,
            overflow: Overflow::Compact(&COMPACT),
        }),
        ..ListingTemplate::USUAL
    },
    load: None,
    tool: None,
};

/// Source: the texts of a list over the limit.
static COMPACT: CompactListing = CompactListing {
    most: 150,
    lengths: (4, 220),
    head: "The following skills provide specialized instructions for specific tasks.
Read a skill's file at its listed location when the task matches its name or description.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use that absolute path in tool commands.

<available_skills>
",
    head_of_names: "The following skills provide specialized instructions for specific tasks.
Read a skill's file at its listed location when the task matches its name.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use that absolute path in tool commands.

<available_skills>
",
    omits: "⚠️ Skills truncated: included {listed} of {all}{form}. Run `openclaw skills check` to audit.",
    form: " (compact format, {descriptions})",
    cuts: "⚠️ Skills catalog using compact format ({descriptions}). Run `openclaw skills check` to audit.",
    words: ("descriptions shortened", "descriptions omitted"),
    gap: "\n\n\n",
};
