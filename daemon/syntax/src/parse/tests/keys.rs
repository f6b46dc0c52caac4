//! Known keys for the parser's tests.

use crate::parse::{Document, Keys, parse_with};

/// Fields of the Agent Skills standard and of some agents, including misspellings.
const FIELDS: [&str; 19] = [
    "name", "Name", "description", "when_to_use", "license", "compatibility", "metadata",
    "allowed-tools", "allowed_tools", "allowedTools", "argument-hint", "arguments", "model",
    "context", "agent", "paths", "hooks", "version", "tags",
];

pub(crate) const TEST_KEYS: Keys = Keys {
    is_field: |key| FIELDS.contains(&key),
    is_prose: |key| matches!(key, "description" | "when_to_use"),
};

/// Parses a text with the known keys of the tests.
pub(crate) fn parse(text: &str) -> Document {
    parse_with(text, TEST_KEYS)
}
