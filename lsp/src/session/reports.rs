//! The cached diagnostics of unopened files, and [`Changes`], which tells when to make them again.

use std::sync::Arc;

use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::rescan::RescanThrottle;

/// Counters of what the diagnostics of a workspace depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    /// Changes of open documents, and of what their findings depend on.
    pub(super) documents: u64,
    /// Possible changes on the disk.
    pub(super) disk: u64,
    /// Requests; a new one ends those that are held open.
    pub(super) pulls: u64,
    /// True after `shutdown` or the end of the input.
    pub(super) is_ended: bool,
}

/// The diagnostics of one file as it is on the disk.
#[derive(Debug)]
pub(crate) struct FileReport {
    pub(crate) path: AbsPath,
    pub(crate) uri: Uri,
    pub(crate) result_id: String,
    pub(crate) found: Vec<Diagnostic>,
}

/// The diagnostics of all files with findings in the workspace folders.
#[derive(Debug, Default)]
pub(crate) struct FolderReports {
    pub(crate) files: Vec<FileReport>,
    /// The folders for which the backend had no answer.
    pub(crate) unanswered: Vec<AbsPath>,
}

/// The last [`FolderReports`], and the limit on how often they are made.
#[derive(Debug, Default)]
pub(super) struct ReportCache {
    /// The count of disk changes before the reports were made.
    pub(super) cached: Option<(u64, Arc<FolderReports>)>,
    pub(super) throttle: RescanThrottle,
}
