//! The texts about skills of Cline.

use crate::profile::template::{
    ArgumentsTemplate, ListingTemplate, LoadTemplate, PromptTemplate, ToolTemplate,
};

/// The texts of Cline 3.0.65: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
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
