//! Types of `worktree/*`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::{Health, State};

/// Number of skills in each state; states without skills are absent.
pub type SkillCounts = BTreeMap<State, u64>;

skills_params! {
    /// The worktree to pin: that of `cwd`.
    WorktreeOpenParams {}
}

skills_params! {
    /// The worktree to unpin: that of `cwd`.
    WorktreeCloseParams {}
}

/// `worktree/list` takes no parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeListParams {}

/// An open worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Top of the worktree, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True if `worktree/open` has pinned it.
    pub pinned: bool,
    /// Number of its views: one for each working directory, profile and environment in use.
    pub views: u64,
    /// Number of skills in each state, in its most recently used view.
    pub skills: SkillCounts,
    /// Number of skills in each state for each profile with a view, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileSkills>,
    /// Current problems of the worktree.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Skills of a worktree for one profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSkills {
    /// Name of the profile.
    pub profile: String,
    /// Number of skills in each state, in the profile's most recently used view. A view without a
    /// session comes first.
    pub skills: SkillCounts,
}

/// The pinned worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeOpenResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The worktree.
    pub worktree: Worktree,
}

/// Result of unpinning a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCloseResult {
    /// True if it was pinned.
    pub closed: bool,
    /// Top of the worktree, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// The open worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeListResult {
    /// The worktrees, sorted by path.
    pub worktrees: Vec<Worktree>,
}
