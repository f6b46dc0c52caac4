//! The rows of the field table, and the search for a row by key.

use super::claude_code::{
    AGENT, ARGUMENT_HINT, ARGUMENTS, BACKGROUND, CONTEXT, DISABLE_MODEL_INVOCATION,
    DISALLOWED_TOOLS, EFFORT, HOOKS, MODEL, PATHS, SHELL, USER_INVOCABLE, VERSION, WHEN_TO_USE,
};
use super::field::Field;
use super::standard::{ALLOWED_TOOLS, COMPATIBILITY, DESCRIPTION, LICENSE, METADATA, NAME};
use super::unread_fields;

#[derive(Clone, Copy, Debug)]
pub enum KeyKind {
    Field(&'static Field),
    /// A misspelling of this field, which no agent reads.
    Misspelled(&'static Field),
    /// Any other key.
    Unknown,
}

/// All fields, in the order of the reference page.
static FIELDS: [&Field; 27] = [
    &NAME,
    &DESCRIPTION,
    &WHEN_TO_USE,
    &LICENSE,
    &COMPATIBILITY,
    &METADATA,
    &ALLOWED_TOOLS,
    &DISALLOWED_TOOLS,
    &ARGUMENT_HINT,
    &ARGUMENTS,
    &DISABLE_MODEL_INVOCATION,
    &USER_INVOCABLE,
    &MODEL,
    &EFFORT,
    &CONTEXT,
    &AGENT,
    &BACKGROUND,
    &PATHS,
    &HOOKS,
    &SHELL,
    &VERSION,
    &unread_fields::AUTHOR,
    &unread_fields::TAGS,
    &unread_fields::KEYWORDS,
    &unread_fields::CATEGORY,
    &unread_fields::HOMEPAGE,
    &unread_fields::SOURCE,
];

/// Returns all fields, in the order of the reference page: unread fields come last.
pub fn fields() -> &'static [&'static Field] {
    &FIELDS
}

/// Returns the field with this key. Keys are case-sensitive, as for every agent.
pub fn find(key: &str) -> Option<&'static Field> {
    FIELDS.iter().copied().find(|it| it.key == key)
}

/// Classifies a key as a field, a known misspelling of one, or unknown.
pub fn classify_key(key: &str) -> KeyKind {
    if let Some(field) = find(key) {
        return KeyKind::Field(field);
    }
    let misspelled = FIELDS.iter().copied().find(|it| it.misspellings.contains(&key));
    misspelled.map_or(KeyKind::Unknown, KeyKind::Misspelled)
}
