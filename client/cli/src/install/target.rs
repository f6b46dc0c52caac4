//! Desired content of one file ([`TargetFile`]), before the file is read.

use std::path::PathBuf;

use skills_protocol::wire::InstallPart;

use crate::agent_config::item::{ConfigEntry, FileFormat};

#[derive(Debug, Clone)]
pub(super) struct TargetFile {
    pub(super) part: InstallPart,
    pub(super) owner: &'static str,
    pub(super) path: PathBuf,
    pub(super) content: TargetContent,
    /// Note for the user about this file.
    pub(super) note: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub(super) enum TargetContent {
    /// Complete content of a file of ours.
    Whole(String),
    /// Entries in a file of another program.
    Items { form: FileFormat, items: Vec<ConfigEntry> },
}
