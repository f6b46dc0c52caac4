//! The texts about skills of Mistral Vibe.

use crate::profile::template::{
    EscapeRule, FilePaths, FilesTemplate, ListingOrder, ListingTemplate, LoadTemplate,
    PromptTemplate, ToolTemplate,
};

/// The texts of Mistral Vibe 3.0.3: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
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
            head: "",
            before: "<file>",
            separator: "</file>\n",
            tail: "</file>",
            paths: FilePaths::BelowSkill,
            most: Some(10),
            order: ListingOrder::AsFound,
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
