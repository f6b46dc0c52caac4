//! Output of `skillsd install --json` and `uninstall --json`.
//!
//! Not part of the socket protocol; the client produces it.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;

/// Changes made or planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallResult {
    /// Version of the program that produced this result.
    pub version: String,
    /// True if the changes were written; false with `--dry-run` or if the user declined.
    pub written: bool,
    /// Every file examined, in the order of writing.
    pub changes: Vec<InstallChange>,
    /// Parts left out, each a sentence with the reason.
    pub left_out: Vec<String>,
}

/// Change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallChange {
    /// Purpose of the file.
    pub part: InstallPart,
    /// Owner of the file: `systemd`, `launchd`, or the name of an agent.
    pub owner: String,
    /// Path of the file.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Kind of change.
    pub action: InstallAction,
    /// Unified diff of the change; empty if nothing changes.
    pub diff: String,
    /// Additional information, for example why something was not changed.
    pub notes: Vec<String>,
}

/// A part of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallPart {
    /// Units of the user's service manager.
    Units,
    /// The agents' hooks that report touched files.
    Hooks,
    /// The MCP server in the agents' configuration.
    Mcp,
}

/// Kind of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallAction {
    /// Created.
    Create,
    /// Changed; a copy of the previous version is kept next to it.
    Change,
    /// Removed.
    Remove,
    /// Unchanged, because it is up to date.
    None,
    /// Cannot be read or written; a note gives the reason.
    Fail,
}
