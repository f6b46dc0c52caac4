//! Keys for the parser's own tests.

use super::{Document, Keys, parse_with};

/// Keys of the open standard and of some agents, with misspellings.
const FIELDS: [&str; 19] = [
    "name",
    "Name",
    "description",
    "when_to_use",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "allowed_tools",
    "allowedTools",
    "argument-hint",
    "arguments",
    "model",
    "context",
    "agent",
    "paths",
    "hooks",
    "version",
    "tags",
];

/// The keys that the tests know.
pub(super) const TEST_KEYS: Keys = Keys {
    is_field: |key| FIELDS.contains(&key),
    is_prose: |key| matches!(key, "description" | "when_to_use"),
};

/// Parses a text in which those are known.
pub(crate) fn parse(text: &str) -> Document {
    parse_with(text, TEST_KEYS)
}
