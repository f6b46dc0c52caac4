//! [`DiskState`]: cached knowledge about the disk, and the queue of tasks that update it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use skills_syntax::path::AbsPath;

use super::reports::ReportCache;
use super::rescan::RescanThrottle;
use super::task::Task;
use crate::backend::{WatchHandle, WatchTarget};
use crate::document::Document;
use crate::workspace::WorkspaceState;

/// Cached knowledge about the disk, and the tasks that update it.
#[derive(Debug, Default)]
pub(super) struct DiskState {
    pub(super) workspace: WorkspaceState,
    pub(super) tasks: VecDeque<Task>,
    /// The count of opened and closed documents, and that of ownership changes, when every open
    /// document last had a root.
    pub(super) owned: Option<(u64, u64)>,
    /// True if every open document had a root, with the counts as in `owned`.
    pub(super) loaded: Option<((u64, u64), bool)>,
    /// True while a task is running.
    pub(super) is_running: bool,
    pub(super) throttle: RescanThrottle,
    /// True if a message of the client requested the rescan: any file may have changed.
    pub(super) rescan_requested: bool,
    /// The unopened files that mention a skill, by the skill's file. Cached because code lenses ask
    /// at each keystroke; cleared when a document is closed or the disk may have changed.
    pub(super) referrers: BTreeMap<AbsPath, Referrers>,
    /// The watches of the texts that are searched for mentions, by root; removed after a change.
    pub(super) text_watches: BTreeMap<AbsPath, WatchHandle>,
    /// Counts how often `referrers` was cleared.
    pub(super) invalidations: u64,
    /// The diagnostics of unopened files, for `workspace/diagnostic`.
    pub(super) reports: ReportCache,
    /// The targets to watch; `watch` ends the watches of the last ones when dropped.
    pub(super) watch_targets: Vec<WatchTarget>,
    pub(super) watch: Option<WatchHandle>,
}

/// The unopened files that mention a skill.
#[derive(Debug)]
pub(super) struct Referrers {
    /// The skill name that was searched for.
    pub(super) name: String,
    pub(super) texts: Arc<[Arc<Document>]>,
    /// The name of the skill's plugin, which may precede its own.
    pub(super) plugin: Option<String>,
}

impl DiskState {
    pub(super) fn clear_referrers(&mut self) {
        self.referrers.clear();
        self.invalidations += 1;
    }

    pub(super) fn is_idle(&self) -> bool {
        !self.is_running
            && self.tasks.is_empty()
            && !self.workspace.has_pending_fetches()
            && !self.throttle.is_due()
    }
}
