//! The texts about skills of pi.

use crate::profile::template::{
    ArgumentsTemplate, EscapeRule, ListingTemplate, LoadTemplate, PromptTemplate,
};

/// The texts of pi 0.87.1: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "pi",
    listing: ListingTemplate {
        head: "The following skills provide specialized instructions for specific tasks.
Use the read tool to load a skill's file when the task matches its description.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use that absolute path in tool commands.

<available_skills>
",
        entry: "  <skill>
    <name>{name}</name>
    <description>{description}</description>
    <location>{path}</location>
  </skill>",
        tail: "\n</available_skills>",
        escape: EscapeRule::Xml,
        ..ListingTemplate::USUAL
    },
    load: Some(LoadTemplate {
        text: r#"<skill name="{name}" location="{path}">
References are relative to {dir}.

{body}
</skill>{arguments}"#,
        arguments: ArgumentsTemplate::Filled("\n\n{arguments}"),
        ..LoadTemplate::USUAL
    }),
    tool: None,
};
