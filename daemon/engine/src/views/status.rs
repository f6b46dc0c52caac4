//! Status of the engine, for `status` and `doctor`.

use std::collections::BTreeMap;

use skills_agents::profile::Text;
use skills_discovery::discover::SkillState;
use skills_syntax::path::AbsPath;

use crate::files::counters::Counters;
use crate::health::Health;
use crate::sources::source_status::SourceStatus;

/// Status of the engine.
#[derive(Clone, Debug)]
pub struct Status {
    /// Number of status changes before this one.
    pub version: u64,
    /// Worktrees with views, by path.
    pub worktrees: Vec<WorktreeStatus>,
    /// Number of watched directories.
    pub watches: usize,
    /// The user's limit on watches, if the system reports one.
    pub watch_limit: Option<u64>,
    /// Counts of resolved views by cause.
    pub rebuilds: Rebuilds,
    /// Counts of disk accesses by cause.
    pub counters: Counters,
    /// State of each external source.
    pub sources: Vec<SourceStatus>,
}

/// Status of one worktree.
#[derive(Clone, Debug)]
pub struct WorktreeStatus {
    /// Path of its top.
    pub path: AbsPath,
    /// Number of its views.
    pub views: usize,
    /// True if a client opened it.
    pub pinned: bool,
    /// Number of skills in each state, in its most recently used view.
    pub skills: BTreeMap<SkillState, usize>,
    /// Number of skills in each state for each profile, in the profile's most recently used view. A
    /// view without a session comes first.
    pub profiles: BTreeMap<Text, BTreeMap<SkillState, usize>>,
    /// Problems of its views.
    pub health: Vec<Health>,
}

/// Counts of resolved views by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilds {
    /// A request for a view that did not exist.
    pub opened: u64,
    /// A change of its dependencies.
    pub changed: u64,
}

impl Rebuilds {
    /// Returns the sum over all causes.
    pub fn total(self) -> u64 {
        self.opened + self.changed
    }
}
