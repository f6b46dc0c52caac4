//! Output of `skillsd doctor --json`, the only result that the daemon does not produce.
//!
//! The client produces it, because `doctor` also examines why no daemon runs.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::{ServerInfo, Severity, TrustGetResult, Watches};

/// Result of an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorResult {
    /// Version of the program that produced this result.
    pub version: String,
    /// Socket path of the daemon, running or not; null if the path is invalid.
    pub socket: Option<String>,
    /// Encoding of `socket`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The daemon that answered; null if none did.
    pub daemon: Option<ServerInfo>,
    /// Number of directories watched by all programs of this user; null if the system does not
    /// provide it.
    pub watches: Option<Watches>,
    /// Trusted directories, and the skills in this worktree that need trust; null if unavailable.
    pub trust: Option<TrustGetResult>,
    /// Problems, the most severe first; empty if there are none.
    pub findings: Vec<Finding>,
}

/// A problem with a suggested action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Stable name in kebab case, for example `socket-stale`.
    pub code: String,
    /// Severity: an error prevents something from working, a warning may.
    pub severity: Severity,
    /// Description for users, one sentence.
    pub message: String,
    /// Suggested action, a full sentence.
    pub hint: String,
    /// The file or directory concerned; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True if `--fix` can repair it.
    pub fixable: bool,
    /// Repair made by `--fix`; absent if nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
}
