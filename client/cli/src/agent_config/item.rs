//! Entry in a configuration file of another program ([`ConfigEntry`]): an element of a list, or a
//! property of an object.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Entry in a JSON or TOML file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConfigEntry {
    /// Path of keys to the list or object.
    pub(crate) at: Vec<String>,
    /// Key of a property; `None` for an element of a list.
    pub(crate) key: Option<String>,
    /// Value.
    pub(crate) value: Value,
    /// Text that marks a list element as ours, even if the user changed it.
    pub(crate) mark: String,
}

impl ConfigEntry {
    /// Returns true for the version of a file.
    pub(crate) fn is_version(&self) -> bool {
        self.at.is_empty() && self.key.as_deref() == Some("version")
    }

    /// Returns an element of the list at `at`.
    pub(crate) fn element(at: &[&str], value: Value, mark: &str) -> Self {
        Self { at: owned(at), key: None, value, mark: mark.to_owned() }
    }

    /// Returns a property of the object at `at`.
    pub(crate) fn property(at: &[&str], key: &str, value: Value) -> Self {
        Self { at: owned(at), key: Some(key.to_owned()), value, mark: String::new() }
    }
}

fn owned(at: &[&str]) -> Vec<String> {
    at.iter().map(|it| (*it).to_owned()).collect()
}

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileFormat {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

/// Presence of an item in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The item is missing.
    Absent,
    /// The item is present unchanged.
    Same,
    /// Another value is present, for example one that the user changed.
    Other,
}

/// Error of editing a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditError {
    /// Message.
    pub(crate) message: String,
    /// Line and column, 1-based; `None` for the whole file.
    pub(crate) place: Option<(usize, usize)>,
}

impl EditError {
    /// Returns the error for a value at `at` of another kind than `wanted`.
    pub(crate) fn kind(at: &[String], wanted: &str) -> Self {
        let article = if wanted.starts_with('o') { "an" } else { "a" };
        let message = if at.is_empty() {
            format!("the top level is not {article} {wanted}")
        } else {
            format!("`{}` is not {article} {wanted}", at.join("."))
        };
        Self { message, place: None }
    }
}
