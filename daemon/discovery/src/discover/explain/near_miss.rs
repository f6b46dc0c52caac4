//! Near misses: files on the disk that a query without a match may mean.
//!
//! A resolution records only what discovery visited. Explaining why a path is not a skill, or where
//! a skill with an unknown name is, needs another look at the disk. The engine makes it for
//! `explain` only.

use std::ffi::OsString;

use skills_agents::profile::agents;
use skills_syntax::path::AbsPath;

use super::super::root_paths::root_paths;
use super::super::{DiscoveryContext, Resolution, SkillFile};

/// Near misses of a query, the most likely first, with distinct paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearMisses {
    /// The near misses.
    pub paths: Vec<NearMiss>,
    /// Name of a skill on the disk that is similar to a name for which nothing is found.
    pub similar: Option<String>,
    /// True if the search ended at a limit, so that there may be more.
    pub is_partial: bool,
}

/// One path that the query may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct NearMiss {
    /// The path; it may not exist.
    pub path: AbsPath,
    /// Its type.
    pub thing: NearMissKind,
    /// Directory of the innermost skill that contains the path, whether the agent finds that skill
    /// or not.
    pub skill: Option<AbsPath>,
    /// Top of the git worktree that contains the path.
    pub worktree: Option<AbsPath>,
    /// The line that makes git ignore it.
    pub ignored: Option<IgnoreRule>,
    /// The skill's file, if the path is that file or its directory. `None` if it cannot be read, or
    /// is reached by a link out of the worktree.
    pub file: Option<SkillFile>,
}

/// Type of a near miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearMissKind {
    /// Does not exist. Holds a similar path that does.
    Nothing(Option<AbsPath>),
    /// A file.
    File,
    /// A directory. Holds the name of the file in it that is called SKILL.md in any case.
    Directory(Option<OsString>),
}

/// A line that makes git ignore a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRule {
    /// The ignored directory.
    pub dir: AbsPath,
    /// The ignore file.
    pub file: AbsPath,
    /// Line number, from 1.
    pub line: u32,
    /// The pattern.
    pub pattern: String,
}

/// Returns the directories that any agent would search for skills from this context, those of the
/// context's own profile first.
pub fn places(ctx: &DiscoveryContext, resolution: &Resolution) -> Vec<AbsPath> {
    let mut places: Vec<_> = resolution.roots.iter().map(|it| it.path.clone()).collect();
    let worktree = resolution.git_worktree();
    for profile in agents() {
        let rules = profile.roots.iter().filter(|it| it.has_skill_directories());
        let paths = rules.flat_map(|rule| root_paths(ctx, rule, &worktree, &[]));
        places.extend(paths.filter_map(Result::ok));
    }
    if let Some(main) = resolution.repository.main() {
        let within =
            |it: &AbsPath| it.strip_prefix(&resolution.worktree).ok().map(|it| main.child(it));
        let there: Vec<_> = places.iter().filter_map(within).collect();
        places.extend(there);
    }
    let mut seen = std::collections::HashSet::new();
    places.retain(|it| seen.insert(it.clone()));
    places
}
