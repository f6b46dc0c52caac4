//! The texts about skills of Copilot CLI.

use crate::profile::Scope;
use crate::profile::template::{
    BlanksRule, BodyTrim, EscapeRule, FilePaths, FilesTemplate, ListingLimit, ListingOrder,
    ListingTemplate, LoadTemplate, Overflow, PromptTemplate, ToolTemplate,
};

/// The texts of Copilot CLI 1.0.102: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "copilot-cli",
    listing: ListingTemplate {
        head: "<available_skills>
",
        entry: "<skill>
  <name>{name}</name>
  <description>{description}</description>
  <location>{scope}</location>
</skill>",
        tail: "\n</available_skills>",
        scopes: &[
            (Scope::Project, "project"),
            (Scope::User, "user"),
            (Scope::Additional, "custom"),
        ],
        escape: EscapeRule::Xml,
        blanks: BlanksRule::Trimmed,
        limit: Some(ListingLimit {
            characters: 15_000,
            counts_last_break: true,
            per_100_tokens: None,
            built_in: 0,
            overflow: Overflow::NamesAfter("Additional skills available (invoke by name): "),
        }),
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"<skill-context name="{name}">
Base directory for this skill: {dir}
{files}
{body}
</skill-context>"#,
        trim: BodyTrim::BlankLinesBefore,
        files: Some(FilesTemplate {
            head: "\nRelated files (use view tool to read):\n",
            before: "  - ",
            separator: "\n",
            tail: "\n",
            paths: FilePaths::Absolute,
            most: None,
            order: ListingOrder::AsFound,
        }),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "skill",
        description: r#"Load a skill into the main conversation

<skills_instructions>
Before acting on a task, check current or previously listed <available_skills>. If a skill matches, invoking it is mandatory and must be your first action, before any response; never merely announce it.

Call this tool with only the skill name (for example `skill: "pdf"` or `skill: "xlsx"`). Use only listed skills unless the user explicitly requests an unlisted skill by name, in which case invoke it. Do not reinvoke a running skill or use this tool for built-in CLI commands such as /help or /clear.
</skills_instructions>"#,
        parameter: "skill",
        schema: r#"{
  "type": "object",
  "properties": {
    "skill": {
      "type": "string",
      "description": "The skill name to invoke. E.g., \"pdf\" or \"code-reviewer\""
    }
  },
  "required": [
    "skill"
  ]
}"#,
    }),
};
