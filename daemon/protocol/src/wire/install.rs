//! What `skillsd install` and `uninstall` have found, and changed or would change.
//!
//! No method of the socket: the client looks for itself, and this is the form of `--json`.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// What was installed or removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallResult {
    /// The program that looked.
    pub version: String,
    /// Whether the changes were written; false for `--dry-run` and where the user said no.
    pub written: bool,
    /// Each file that was looked at, in the order in which it is written.
    pub changes: Vec<InstallChange>,
    /// What was left out, each a sentence that says why.
    pub left_out: Vec<String>,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallChange {
    /// What the file is for.
    pub part: InstallPart,
    /// Whose file it is: `systemd`, or the name of an agent.
    pub owner: String,
    /// The file.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What becomes of it.
    pub action: InstallAction,
    /// The difference as a unified diff; empty where nothing changes.
    pub diff: String,
    /// What is to be known besides, for example why something was left as it is.
    pub notes: Vec<String>,
}

/// A part of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallPart {
    /// The units of systemd's user manager.
    Units,
    /// The agents' hooks, which tell of touched files.
    Hooks,
    /// The MCP server, as the agents know it.
    Mcp,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallAction {
    /// It is made.
    Create,
    /// It is changed, and a copy of what it was is kept beside it.
    Change,
    /// It is removed.
    Remove,
    /// It is as it should be.
    None,
    /// It cannot be read or written; a note says why.
    Fail,
}
