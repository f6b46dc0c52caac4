//! The texts about skills of Continue.

use crate::profile::template::{
    FilePaths, FilesTemplate, ListingOrder, ListingTemplate, LoadTemplate, PromptTemplate,
    ToolTemplate,
};

/// The texts of Continue 1.5.47: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "continue",
    listing: ListingTemplate {
        entry: "
name: {name}
description: {description}
",
        separator: ",",
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: "<skill_name>{name}</skill_name>
<skill_description>{description}</skill_description>
<skill_content>{body}</skill_content>{files}",
        files: Some(FilesTemplate {
            head: "\n<skill_files>",
            before: "",
            separator: ",",
            tail: "</skill_files>\n<other_instructions>Use the read file tool to access skill files as needed.</other_instructions>",
            paths: FilePaths::BelowCwd,
            most: None,
            order: ListingOrder::ByName,
        }),
        ..LoadTemplate::USUAL
    }),
    tool: Some(ToolTemplate {
        name: "Skills",
        description: "Use this tool to read the content of a skill by its name. Skills contain detailed instructions for specific tasks. The skill name should match one of the available skills listed below:
{listing}",
        parameter: "skill_name",
        schema: r#"{
  "type": "object",
  "required": [
    "skill_name"
  ],
  "properties": {
    "skill_name": {
      "type": "string",
      "description": "The name of the skill to read. This should match the name from the available skills."
    }
  }
}"#,
    }),
};
