//! [`OwnDirectory`]: where an agent's own skills are.

use std::path::{Path, PathBuf};

/// Directories of an agent's own skills.
#[derive(Debug)]
pub struct OwnDirectory {
    /// In a project; empty if the agent looks in no project.
    pub project: &'static str,
    /// The levels of a project at which the agent looks for it.
    pub levels: ProjectLevels,
    /// The variable that names the base of the user's directory.
    pub variable: &'static str,
    /// The base below home without the variable.
    pub below_home: &'static str,
    /// The user's directory below the base; empty if the agent has no skills of the user.
    pub user: &'static str,
}

/// The levels of a project at which an agent looks for its own directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectLevels {
    /// The working directory and those above it, up to the worktree's top.
    EachLevel,
    /// The working directory alone.
    WorkingDirectory,
    /// The worktree's top alone.
    WorktreeTop,
    /// No directory of a project.
    None,
}

impl OwnDirectory {
    /// Returns the project's directory for an agent that works in `cwd`, at `level` if the agent
    /// looks at each one; `None` if it looks in no project.
    pub fn in_project(&self, level: &Path, cwd: &Path, top: &Path) -> Option<PathBuf> {
        let base = match self.levels {
            ProjectLevels::EachLevel => level,
            ProjectLevels::WorkingDirectory => cwd,
            ProjectLevels::WorktreeTop => top,
            ProjectLevels::None => return None,
        };
        Some(base.join(self.project))
    }
}
