//! What is put into a file of somebody else: one element of a list, or one property of an object.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that is put into a JSON or TOML file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Item {
    /// The keys that lead to the list or the object it is put into.
    pub(super) at: Vec<String>,
    /// Its key there; none for an element of a list.
    pub(super) key: Option<String>,
    /// The value itself.
    pub(super) value: Value,
    /// Text in an element of the list by which one that somebody wrote otherwise is known.
    pub(super) mark: String,
}

impl Item {
    /// Returns an element of the list at `at`.
    pub(super) fn element(at: &[&str], value: Value, mark: &str) -> Self {
        Self { at: owned(at), key: None, value, mark: mark.to_owned() }
    }

    /// Returns a property of the object at `at`.
    pub(super) fn property(at: &[&str], key: &str, value: Value) -> Self {
        Self { at: owned(at), key: Some(key.to_owned()), value, mark: String::new() }
    }
}

fn owned(at: &[&str]) -> Vec<String> {
    at.iter().map(|it| (*it).to_owned()).collect()
}

/// In which language a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    /// JSON with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

/// Whether an item is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is not there.
    Absent,
    /// It is there to the letter.
    Same,
    /// Something else is there in its place.
    Other,
}

/// Why a file cannot be edited.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// What is wrong.
    pub(super) message: String,
    /// Where: line and column, from 1; none where it is the file as a whole.
    pub(super) place: Option<(usize, usize)>,
}

impl Fault {
    /// Returns that something is of another kind than the agent wants.
    pub(super) fn kind(at: &[String], wanted: &str) -> Self {
        let message = if at.is_empty() {
            format!("the file holds no {wanted}")
        } else {
            format!("`{}` is no {wanted}", at.join("."))
        };
        Self { message, place: None }
    }
}
