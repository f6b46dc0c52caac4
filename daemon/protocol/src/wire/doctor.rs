//! What `skillsd doctor --json` prints: the one answer that no daemon gives.
//!
//! It is made by the program that looks, because much of what it looks at is why no daemon can.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::{ServerInfo, Severity, TrustGetResult, Watches};

/// What was looked at, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorResult {
    /// The program that looked.
    pub version: String,
    /// Where the daemon listens, or would; null where there is no place for it.
    pub socket: Option<String>,
    /// How `socket` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The daemon that answered; null when none did.
    pub daemon: Option<ServerInfo>,
    /// How many directories all programs of this user watch; null where the system does not tell.
    pub watches: Option<Watches>,
    /// What is trusted, and what here asks for it; null where nobody could say.
    pub trust: Option<TrustGetResult>,
    /// What is wrong, the worst first; empty when all is well.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// A stable kebab-case name, for example `socket-stale`.
    pub code: String,
    /// How bad it is: an error keeps something from working, a warning may.
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// What to do about it, a full sentence.
    pub hint: String,
    /// The file or directory concerned; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether `--fix` can mend it.
    pub fixable: bool,
    /// What `--fix` did about it; absent when nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
}
