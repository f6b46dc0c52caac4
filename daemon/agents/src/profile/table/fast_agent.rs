//! The row of fast-agent, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, usual};
use crate::profile::template::{BlanksRule, EscapeRule, ListingTemplate, PromptTemplate};
use crate::profile::{
    AncestorStop, DuplicatePolicy, EncodingPolicy, OutputFormat, Profile, RootBase, Scope, WalkRule,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| Names that differ only in case are one name, and the last skill wins it. | They are two names. | No other agent compares names so. |
| `FAST_AGENT_HOME`, `--home`, `--skills-dir` and `skills.directories` in its settings name other directories of skills. | They are not read. | Only directories and files are measured. |
| Frontmatter may be JSON or TOML. | It is not read. | No known skill uses it. |
| An entry of the list also names the directories `scripts`, `references` and `assets` that a skill has. | They are left out. | The list is made without the files beside a skill. |
| Its model reads the file of a skill, with a tool `read_skill` where it has no shell. | `load` has the standard's form. | The agent has no tool that takes a skill's name. |
";

/// fast-agent 0.10.48: run, and its source.
pub(super) fn profile() -> Profile {
    let walk = WalkRule { hidden: true, ..one_level() };
    let cwd = RootBase::Ancestors { stop: AncestorStop::Cwd };
    let directories = [".fast-agent/skills", ".agents/skills", ".claude/skills"];
    let usual = usual("fast-agent", "fast-agent", "0.10.48");
    Profile {
        deviations: DEVIATIONS,
        own: ".fast-agent/skills".into(),
        presence: Some(present(
            ("HOME", "", ".fast-agent"),
            "fast-agent",
            &[".fast-agent", "fast-agent.yaml", "fastagent.config.yaml"],
        )),
        roots: [root(cwd, &directories, Scope::Project, &walk)]
            .into_iter()
            .chain(all_provided())
            .collect(),
        fence: Fence::DashRuns,
        library: YamlLibrary::PyYaml,
        duplicates: DuplicatePolicy::LastWins,
        bad_utf8: EncodingPolicy::Drop,
        bom: EncodingPolicy::Drop,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of fast-agent 0.10.48: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "fast-agent",
    listing: ListingTemplate {
        head: "Skills provide specialized capabilities and domain knowledge. Use a Skill if it seems relevant to the user's task, intent, or would increase your effectiveness.
To use a Skill, read its SKILL.md file from the specified location using the 'read_text_file' tool.
Prefer that file-reading tool over shell commands when loading skill content or skill resources.
The <location> value is the absolute path to the skill's SKILL.md file, and <directory> is the resolved absolute path to the skill's root directory.
When present, <scripts>, <references>, and <assets> provide resolved absolute paths for standard skill resource directories.
When a skill references relative paths, resolve them against the skill's directory (the parent of SKILL.md) and use absolute paths in tool calls.
Only use Skills listed in <available_skills> below.

<available_skills>
",
        entry: "<skill>
  <name>{name}</name>
  <description>{description}</description>
  <location>{path}</location>
  <directory>{dir}</directory>
</skill>",
        tail: "\n</available_skills>",
        escape: EscapeRule::Html,
        blanks: BlanksRule::Trimmed,
        ..ListingTemplate::USUAL
    },
    load: None,
    tool: None,
};
