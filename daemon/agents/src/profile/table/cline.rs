//! The row of Cline, and the texts about skills that it gives its model.

use crate::fence::Fence;
use crate::profile::row::{all_provided, one_level, present, root, texts, usual, variable};
use crate::profile::{
    AncestorStop, DescriptionRule, DuplicatePolicy, NameRule, NameSource, OutputFormat, Profile,
    FieldForm, Requirement, RootBase, Scope, WalkRule,
};
use crate::profile::template::{
    ArgumentsTemplate, ListingTemplate, LoadTemplate, PromptTemplate, ToolTemplate,
};

const DEVIATIONS: &str = "\
| The list has the order in which the files were read. | That of directories and names. | The agent's order differs between runs. |
| Names that differ only in capitals are one name; white space around a name is taken off. | They are two names. | A rule of a profile would have to compare names differently. |
| Of two skills with one name in a directory, the last in the order of the file system is listed. | The last in the order of names. | The order of a file system differs between machines. |
| Its settings switch skills off. | They are not read. | Only fields, directories and files are measured. |
| Its plugins and `.cline/*/managed.json` add skills. | They are not listed. | Only directories and files are measured. |
";

/// Cline CLI 3.0.65: run, and its source.
pub(super) fn profile() -> Profile {
    // `skills/<name>/SKILL.md` and nothing deeper, and a SKILL.md in the root itself.
    let walk = WalkRule {
        root_skill: true,
        into_skills: true,
        hidden: true,
        repeats: true,
        ..one_level()
    };
    let project = RootBase::Ancestors { stop: AncestorStop::WorktreeTop };
    let own = [".clinerules/skills", ".cline/skills", ".agents/skills"];
    // The last wins.
    let roots = [
        root(project, &own, Scope::Project, &walk),
        root(variable("CLINE_DIR", ".cline"), &["skills"], Scope::User, &walk),
        root(RootBase::Home, &[".agents/skills"], Scope::User, &walk),
    ];
    let usual = usual("cline", "Cline", "3.0.65");
    Profile {
        deviations: DEVIATIONS,
        own: ".cline/skills".into(),
        environment: texts(&["HOME", "CLINE_DIR"]),
        presence: Some(present(("CLINE_DIR", ".cline", ""), "cline", &[".cline", ".clinerules"])),
        roots: all_provided().into_iter().rev().chain(roots).collect(),
        name: NameRule { source: NameSource::FieldElseDirectory, ..usual.name },
        description: DescriptionRule::Optional,
        requires: vec![
            Requirement::BodyText,
            FieldForm::TextOrNull.of("name"),
            FieldForm::TextOrNull.of("description"),
            FieldForm::OffIfTrue.of("disabled"),
            FieldForm::OffIfFalse.of("enabled"),
        ],
        fence: Fence::PrefixRest,
        duplicates: DuplicatePolicy::LastWins,
        output: OutputFormat::Template(&PROMPTS),
        ..usual
    }
}

/// The texts of Cline 3.0.65: recorded.
pub(super) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "cline",
    listing: ListingTemplate {
        head: "Available skills: ",
        entry: "{name}",
        separator: ", ",
        tail: ".",
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: "<command-name>{name}</command-name>{arguments}
<command-instructions>
Description: {description}

{body}
</command-instructions>",
        arguments: ArgumentsTemplate::Filled("\n<command-args>{arguments}</command-args>"),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "skills",
        description: r#"Execute a skill within the main conversation. When users ask you to perform tasks, check if any available skills match. When users reference a slash command, invoke it with this tool. Input: `skill` (required) and optional `args`. Example: `skill: "pdf"`, `skill: "commit", args: "-m \"Fix bug\""`, `skill: "review-pr", args: "123"`, `skill: "ms-office-suite:pdf"`. When a skill matches the user's request, invoking this tool is a blocking requirement before any other response. Never mention a skill without invoking this tool. {listing}"#,
        parameter: "skill",
        schema: r#"{
  "type": "object",
  "properties": {
    "skill": {
      "type": "string",
      "minLength": 1,
      "description": "Name of the skill to execute."
    },
    "args": {
      "description": "Arguments for the skill; use null when omitted",
      "anyOf": [
        {
          "type": "string"
        },
        {
          "type": "null"
        }
      ]
    }
  },
  "required": [
    "skill"
  ],
  "additionalProperties": false
}"#,
    }),
};
