//! Output of `skillsd doctor --json`, the only result that the daemon does not produce.
//!
//! The client produces it, because `doctor` also examines why no daemon runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::entry::word_enum;
use crate::wire::{InstallPart, ServerInfo, Severity, TrustGetResult, Watches};

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
    /// Files in which agents that are present register skillsd, or would.
    #[serde(default)]
    pub registrations: Vec<Registration>,
    /// Problems, the most severe first; empty if there are none.
    pub findings: Vec<Finding>,
}

/// A registration of skillsd with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// Name of the agent.
    pub agent: String,
    /// Its profile, as `skillsd install --agent` names it.
    pub profile: String,
    /// The registered part.
    pub part: InstallPart,
    /// The file, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// State of the registration.
    pub state: RegistrationState,
    /// The program that the file names but that does not exist; absent in other states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

word_enum! {
    /// State of a registration.
    RegistrationState {
        /// The file has the entries that `skillsd install` writes.
        Current = "current",
        /// The file has our entries in another form, which the user may have chosen.
        Changed = "changed",
        /// The file has only some of the entries, or a server without its agent's profile.
        Incomplete = "incomplete",
        /// The program in the file does not exist.
        Broken = "broken",
        /// The file has no entry of ours.
        Absent = "absent",
        /// The file cannot be read or has a syntax error.
        Unreadable = "unreadable",
    }
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
