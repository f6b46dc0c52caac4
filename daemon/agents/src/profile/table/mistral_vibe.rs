//! The row of Mistral Vibe, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::template::{
    EscapeRule, FilesTemplate, ListingTemplate, LoadTemplate, PromptTemplate, ToolTemplate,
};
use crate::profile::{
    AncestorStop, DuplicatePolicy, NameCheck, NameRule, OutputFormat, Profile, FieldForm, Requirement,
    RootBase, Scope, WalkRule, settings,
};
use crate::yaml_library::YamlLibrary;

const DEVIATIONS: &str = "\
| The list has the order of the file system. | That of names. | The order of a file system differs between machines. |
| Skills and settings of a folder that the user does not trust are not loaded. | The skills are listed, and its settings switch skills off. | Its list of trusted folders is not read. |
| Of two skills with one name in a directory, the first in the order of the file system is listed. | The first in the order of names. | The order of a file system differs between machines. |
| A pattern `re:` may look around and refer back. | Such a pattern selects nothing, and `explain` names it. | Its time grows with the name beyond all bounds. |
| A list has any number of patterns of any length. | 200 patterns of at most 256 bytes count, and `explain` names the others. | Each name is compared with all patterns. |
| Its bundled skills, its registry, `skill_paths`, its profiles of agents and `agents/openai.yaml` count. | They are not read. | Only directories, files and two settings are measured. |
";

/// Mistral Vibe 3.0.3: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper.
    let walk = WalkRule { hidden: true, repeats: true, ..one_level() };
    let project = RootBase::Ancestors { stop: AncestorStop::Cwd };
    let roots = [
        root(project, &[".vibe/skills", ".agents/skills"], Scope::Project, &walk),
        root(variable("VIBE_HOME", ".vibe"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("mistral-vibe", "Mistral Vibe", "3.0.3");
    Profile {
        deviations: DEVIATIONS,
        own: ".vibe/skills".into(),
        environment: texts(&["HOME", "VIBE_HOME"]),
        presence: Some(present(("VIBE_HOME", ".vibe", ""), "vibe", &[".vibe"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        settings: settings::mistral_vibe(),
        name: NameRule { check: NameCheck::Standard, ..usual.name },
        requires: vec![
            Requirement::DescriptionAtMost(1024),
            FieldForm::TextOrNull.of("license"),
            FieldForm::TextOrNull.of("compatibility"),
        ],
        fence: Fence::DashRuns,
        library: YamlLibrary::PyYaml,
        // Source: of two with one name in a directory, the first in the file system's order wins.
        duplicates: DuplicatePolicy::FirstWins,
        hides_from_model: true,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of Mistral Vibe 3.0.3: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "mistral-vibe",
    listing: ListingTemplate {
        head: "<available-skills>
",
        entry: "  <skill>
    <name>{name}</name>
    <description>{description}</description>
    <path>{path}</path>
  </skill>",
        tail: "\n</available-skills>",
        escape: EscapeRule::Xml,
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"<skill_content name="{name}">
# Skill: {name}

{body}

Base directory for this skill: {dir}
Relative paths in this skill are relative to this base directory.
Note: file list is sampled.

<skill_files>
{files}
</skill_files>
</skill_content>"#,
        files: Some(FilesTemplate {
            before: "<file>",
            separator: "</file>\n",
            tail: "</file>",
            most: Some(10),
            ..FilesTemplate::USUAL
        }),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "skill",
        description: r#"Load a specialized skill that provides domain-specific instructions and workflows. When a task matches one of the available skills listed in your system prompt, call this tool with the exact skill name to load the full skill instructions. Only listed names are valid. Call exactly with {"name":"<exact name>"}; no other argument keys are accepted."#,
        parameter: "name",
        schema: r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "name": {
      "type": "string",
      "description": "The exact name of the skill to load from the available skills.",
      "minLength": 1
    }
  },
  "required": [
    "name"
  ]
}"#,
    }),
};
