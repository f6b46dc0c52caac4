//! Desired content of one file ([`TargetFile`]), before the file is read.

use std::path::PathBuf;

use skills_protocol::wire::InstallPart;

use crate::agent_config::item::{ConfigEntry, FileFormat};

/// File that is to be installed or edited.
#[derive(Debug, Clone)]
pub(super) struct TargetFile {
    /// Part of the installation.
    pub(super) part: InstallPart,
    /// Program that the file belongs to.
    pub(super) owner: &'static str,
    /// Path of the file.
    pub(super) path: PathBuf,
    /// Desired content.
    pub(super) content: TargetContent,
    /// Note for the user about this file.
    pub(super) note: Option<&'static str>,
}

/// Desired content of a file.
#[derive(Debug, Clone)]
pub(super) enum TargetContent {
    /// Complete content of a file of ours.
    Whole(String),
    /// Entries in a file of another program.
    Items {
        /// Format of the file.
        form: FileFormat,
        /// Entries.
        items: Vec<ConfigEntry>,
    },
}
