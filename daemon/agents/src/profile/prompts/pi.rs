//! The texts about skills of pi.

use crate::profile::template::{
    ArgumentsTemplate, BlanksRule, BodyTrim, EscapeRule, ListingOrder, ListingTemplate,
    LoadTemplate, PromptTemplate,
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
        separator: "\n",
        tail: "\n</available_skills>",
        order: ListingOrder::AsFound,
        heading: "",
        scopes: &[],
        when_to_use: "",
        no_description: "",
        escape: EscapeRule::Xml,
        blanks: BlanksRule::Kept,
        tilde: false,
        longest: None,
        limit: None,
    },
    load: Some(LoadTemplate {
        text: r#"<skill name="{name}" location="{path}">
References are relative to {dir}.

{body}
</skill>{arguments}"#,
        scopes: &[],
        trim: BodyTrim::Both,
        escape: EscapeRule::Never,
        files: None,
        arguments: ArgumentsTemplate::Filled("\n\n{arguments}"),
    }),
    tool: None,
};
