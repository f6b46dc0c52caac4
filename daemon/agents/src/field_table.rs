//! The field table: all frontmatter fields, as data for every reader, rule and document.
//!
//! A row states a field's key and shape, the agents that read it since which version and how, its
//! default, and the sources of these facts. The typed reading ([`crate::fields`]), the JSON Schema
//! and the reference page are generated from it; no other code spells a key. Rows state facts
//! about agents; judging a file is left to the rules. A fact that no source gives is left out:
//! [`FieldReader::since`] is then `None`.

mod agent;
mod citations;
mod claude_code;
mod coercion;
pub mod commands;
mod field;
pub mod hooks;
mod rows;
mod standard;
pub mod tools;
mod unread_fields;
pub mod variables;

pub use agent::Agent;
pub use citations::Citation;
pub use citations::{
    AUTHORING, CLAUDE_CHANGES, CLAUDE_HOOKS, CLAUDE_PERMISSIONS, CLAUDE_SKILLS, CODEX, COMMON_MARK,
    CORPUS, GEMINI, GIT_IGNORE, GIT_MERGE, OPENCODE, PLUGIN, SPECIFICATION, UNICODE, YAML,
};
pub use claude_code::{
    AGENT, ARGUMENT_HINT, ARGUMENTS, BACKGROUND, CONTEXT, DISABLE_MODEL_INVOCATION,
    DISALLOWED_TOOLS, EFFORT, HOOKS, MODEL, PATHS, SHELL, USER_INVOCABLE, VERSION, WHEN_TO_USE,
};
pub use coercion::{Coercion, Separators, Shape};
pub use field::{
    Field, FieldReader, FieldStatus, MapKey, NamedValue, OnMissing, OnViolation, Safety, TextLimit,
};
pub use rows::{KeyKind, classify_key, fields, find};
pub use standard::{
    ALLOWED_TOOLS, CLAUDE_MAX_DESCRIPTION, COMPATIBILITY, DESCRIPTION, LICENSE, METADATA, NAME,
};

#[cfg(test)]
mod tests;
