//! The texts about skills of OpenClaw.

use crate::profile::template::{
    BlanksRule, EscapeRule, ListingOrder, ListingTemplate, PromptTemplate,
};

/// The texts of OpenClaw 2026.9.6: recorded.
pub(crate) static PROMPTS: PromptTemplate = PromptTemplate {
    id: "openclaw",
    listing: ListingTemplate {
        head: "The following skills provide specialized instructions for specific tasks.
Read a skill's file at its listed location when the task matches its description.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use that absolute path in tool commands.

<available_skills>
",
        entry: "  <skill>
    <name>{name}</name>
    <description>{description}</description>
    <location>{path}</location>
  </skill>",
        tail: "\n</available_skills>",
        order: ListingOrder::ByName,
        escape: EscapeRule::Xml,
        blanks: BlanksRule::Trimmed,
        tilde: true,
        ..ListingTemplate::USUAL
    },
    load: None,
    tool: None,
};
