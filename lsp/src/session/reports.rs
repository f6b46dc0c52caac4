//! The cached diagnostics of unopened files, and [`Changes`], which tells when to make them again.

use std::sync::Arc;
use std::time::Duration;

use skills_syntax::path::AbsPath;
use tokio::time::Instant;
use tower_lsp::ls_types::{Diagnostic, Uri};

use super::rescan::RescanThrottle;

/// The time between two reports for reported changes in the long run, as a multiple of the duration
/// of a walk.
const INTERVAL_PER_WALK: u32 = 4;

/// The maximum of that time.
const MAX_INTERVAL: Duration = Duration::from_secs(4);

/// The time by which reports may be made earlier, so that the first changes after a pause do not
/// wait.
const BURST: Duration = Duration::from_secs(8);

/// Counters of what the diagnostics of a workspace depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    /// Changes of open documents, and of what their findings depend on.
    pub(super) documents: u64,
    /// Changes on the disk: reported ones and possible ones.
    pub(super) disk: DiskChanges,
    /// Requests; a new one ends those that are held open.
    pub(super) pulls: u64,
    /// True after `shutdown` or the end of the input.
    pub(super) is_ended: bool,
}

/// Counters of changes on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct DiskChanges {
    /// Changes of skills, of files near them or of settings.
    pub(super) reported: u64,
    /// Messages of the client that can mean a change: text typed, or any file created.
    pub(super) possible: u64,
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
    /// The counts of disk changes before the reports were made.
    pub(super) cached: Option<(DiskChanges, Arc<FolderReports>)>,
    pub(super) throttle: RescanThrottle,
    /// When the intervals of all walks so far are over.
    intervals_end: Option<Instant>,
}

impl ReportCache {
    /// Returns the cached reports, if nothing has changed since; otherwise requests new ones, and
    /// returns when they are due.
    pub(super) fn cached_or_deadline(
        &mut self,
        now: DiskChanges,
    ) -> Result<Arc<FolderReports>, Option<Instant>> {
        let before = self.cached.as_ref().map(|it| it.0);
        if let Some((_, reports)) = self.cached.as_ref().filter(|it| it.0 == now) {
            return Ok(Arc::clone(reports));
        }
        self.throttle.request();
        let is_reported = before.is_none_or(|it| it.reported != now.reported);
        let deadline = self.throttle.deadline();
        let reported = self.intervals_end.and_then(|it| it.checked_sub(BURST));
        Err(if is_reported { deadline.min(reported) } else { deadline })
    }

    /// Records the duration of the walk that made reports.
    pub(super) fn record_walk(&mut self, took: Duration) {
        let interval = took.saturating_mul(INTERVAL_PER_WALK).min(MAX_INTERVAL);
        self.intervals_end = self.intervals_end.max(Some(Instant::now())).map(|it| it + interval);
        self.throttle.record_walk(took);
    }
}
