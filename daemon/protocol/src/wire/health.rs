//! A current problem, as included in every result about skills.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// A problem with a suggested action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Stable name in kebab case, for example `watch-limit`.
    pub code: String,
    /// Description for users, one sentence.
    pub message: String,
    /// Suggested action; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The file or directory concerned; absent if the problem concerns the whole daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}
