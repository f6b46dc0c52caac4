//! The types of `worktree/*`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::{Health, State};

/// How many skills are in each state; states without any are absent.
pub type SkillCounts = BTreeMap<State, u64>;

skills_params! {
    /// Which worktree to pin: that of `cwd`.
    WorktreeOpenParams {}
}

skills_params! {
    /// Which worktree to unpin: that of `cwd`.
    WorktreeCloseParams {}
}

/// `worktree/list` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeListParams {}

/// An open worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Its top, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether `worktree/open` holds it.
    pub pinned: bool,
    /// How many views it has: one for each working directory, profile and environment in use.
    pub views: u64,
    /// How many skills are in each state, over the files of all its views.
    pub skills: SkillCounts,
    /// What is unwell in it.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The worktree that is now pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeOpenResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The worktree.
    pub worktree: Worktree,
}

/// What became of the pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCloseResult {
    /// Whether there was a pin to take back.
    pub closed: bool,
    /// The worktree's top, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// The open worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeListResult {
    /// Sorted by path.
    pub worktrees: Vec<Worktree>,
}
