//! The row of OpenHands, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, usual};
use crate::profile::{
    AncestorStop, DescriptionRule, EncodingPolicy, NameCheck, NameRule, NameSource, OutputFormat, Profile,
    FieldForm, RootBase, ScalarRule, Scope, WalkRule,
};
use crate::profile::template::{
    ArgumentsTemplate, BlanksRule, BodyTrim, EscapeRule, ListingOrder, ListingTemplate,
    LoadTemplate, PromptTemplate, ToolTemplate,
};
use crate::yaml_library::YamlLibrary;

const DIRECTORIES: [&str; 3] = [".agents/skills", ".openhands/skills", ".openhands/microagents"];

const DEVIATIONS: &str = "\
| A file that is not UTF-8, or whose description, license or compatibility is no text, drops all skills of its directory of skills. | It drops that skill alone. | The other skills would vanish for a fault in another file. |
| Markdown files in a directory of skills are skills too, and so are `AGENTS.md`, `.cursorrules`, `CLAUDE.md` and `GEMINI.md`; they win over a directory with their name. | They are not listed. | The files and scripts of such a skill would be all files beside it. |
| Frontmatter may be JSON or TOML. | It is not read. | No known skill uses it. |
| A skill whose frontmatter is a list is loaded without fields; one whose `allowed-tools` is a map, or with a malformed `.mcp.json`, `triggers`, `inputs` or `metadata`, is dropped. | The former is dropped, the latter is loaded. | No other agent has these rules. |
| A byte order mark is part of the description that is taken from the body. | It is taken out. | It is invisible, and no part of the text. |
| Its public skills, its plugins and `~/.openhands/skills/installed` add skills. | They are not listed. | Only directories and files are measured. |
| A description that is taken from the body ends with the number of characters that follow in the body. | It ends without it. | The list is made without the bodies. |
| The list has the order of the file system. | That of names. | The order of a file system differs between machines. |
| Commands in a body, between `` !` `` and `` ` ``, run when its model loads the skill. | They stay as they are written. | A loaded skill runs nothing without approval. |
";

/// OpenHands 1.16.0 with its SDK 1.21.0: its own loading functions run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk = WalkRule { hidden: true, repeats: true, ..one_level() };
    let project = RootBase::Ancestors { stop: AncestorStop::CwdAndTop };
    let roots = [
        root(project, &DIRECTORIES, Scope::Project, &walk),
        root(RootBase::Home, &DIRECTORIES, Scope::User, &walk),
    ];
    let usual = usual("openhands", "OpenHands", "1.16.0");
    Profile {
        deviations: DEVIATIONS,
        presence: Some(present(("HOME", "", ".openhands"), "openhands", &[".openhands"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        name: NameRule {
            source: NameSource::FieldIfPresent,
            scalars: ScalarRule::Text,
            check: NameCheck::StandardDirectory,
            ..usual.name
        },
        description: DescriptionRule::ElseBodyLine,
        requires: vec![
            FieldForm::TextOrNull.of("description"),
            FieldForm::TextOrNull.of("license"),
            FieldForm::TextOrNull.of("compatibility"),
        ],
        fence: Fence::DashRuns,
        library: YamlLibrary::PyYaml,
        bad_utf8: EncodingPolicy::Drop,
        bom: EncodingPolicy::AsBody,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of OpenHands 1.16.0: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "openhands",
    listing: ListingTemplate {
        head: r#"<SKILLS>
The following skills are available. Some are auto-injected when their keywords or task types appear in your messages; others are listed here for you to invoke proactively when relevant.
To use a skill, call the `invoke_skill(name="<skill-name>")` tool with the `<name>` shown below. This is the only supported way to invoke a skill.

<available_skills>
"#,
        entry: "  <skill>
    <name>{name}</name>
    <description>{description}</description>
  </skill>",
        empty: "",
        separator: "\n",
        tail: "\n</available_skills>\n</SKILLS>",
        order: ListingOrder::AsFound,
        heading: "",
        scopes: &[],
        when_to_use: "",
        no_description: "",
        escape: EscapeRule::Tags,
        blanks: BlanksRule::Trimmed,
        tilde: false,
        longest: Some((
            1_024,
            "<response clipped><NOTE>Due to the max output limit, only part of the full description is shown. You can view the complete skill content at {path}.</NOTE>",
        )),
        limit: None,
    },
    load: Some(LoadTemplate {
        text: "{body}

---
This skill is located at `{place}`. Any files it references (e.g. under `scripts/`, `references/`, `assets/`) are relative to that directory.",
        scopes: &[],
        trim: BodyTrim::Both,
        escape: EscapeRule::Never,
        files: None,
        arguments: ArgumentsTemplate::Ignored,
    }),
    tool: Some(ToolTemplate {
        name: "invoke_skill",
        description: "Invoke a skill by name.

This is the only supported way to invoke a skill listed in
`<available_skills>`. Call it with the `<name>` shown in that block; the
skill's full content is rendered (including any dynamic context) and
returned as the tool result.
",
        parameter: "name",
        schema: r#"{
  "type": "object",
  "properties": {
    "summary": {
      "type": "string",
      "description": "A concise summary (approximately 10 words) describing what this specific action does. Focus on the key operation and target. Example: 'List all Python files in current directory'"
    },
    "name": {
      "type": "string",
      "description": "Name of the loaded skill to invoke."
    }
  },
  "required": [
    "name"
  ]
}"#,
    }),
};
