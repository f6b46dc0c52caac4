//! What is unwell, as every answer about skills says it.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// One thing that is unwell and what to do about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// A stable kebab-case name, for example `watch-limit`.
    pub code: String,
    /// A sentence for a person.
    pub message: String,
    /// What to do about it; absent when there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The file or directory concerned; absent when it concerns the whole daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}
