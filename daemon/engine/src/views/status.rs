//! How the engine is, for `status` and `doctor`.

use std::collections::BTreeMap;

use skills_discovery::discover::SkillState;
use skills_syntax::path::AbsPath;

use crate::files::counters::Counters;
use crate::sources::source_set::SourceStatus;
use crate::views::view::Health;

/// How the engine is.
#[derive(Clone, Debug)]
pub struct Status {
    /// How often there had been another one before.
    pub turn: u64,
    /// Identifies this run of the daemon; part of every clock.
    pub boot_id: String,
    /// The worktrees that views are in, by path.
    pub worktrees: Vec<WorktreeStatus>,
    /// How many directories are watched.
    pub watches: usize,
    /// How many the system allows this user in all, where it says.
    pub watch_limit: Option<u64>,
    /// How often views were resolved, and why.
    pub rebuilds: Rebuilds,
    /// How often the disk was asked, by what.
    pub counters: Counters,
    /// How what is provided from elsewhere is.
    pub sources: Vec<SourceStatus>,
}

/// One worktree.
#[derive(Clone, Debug)]
pub struct WorktreeStatus {
    /// Its top.
    pub path: AbsPath,
    /// How many views are in it.
    pub views: usize,
    /// Whether somebody opened it to keep.
    pub pinned: bool,
    /// How many skills are in each state, as its most recently used view sees them.
    pub skills: BTreeMap<SkillState, usize>,
    /// What is not well in any of its views.
    pub health: Vec<Health>,
}

/// How often views were resolved, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilds {
    /// Somebody asked for a view that was not there.
    pub opened: u64,
    /// Something it depends on changed.
    pub changed: u64,
}

impl Rebuilds {
    /// Returns how often views were resolved in all.
    pub fn total(self) -> u64 {
        self.opened + self.changed
    }
}
