//! Location that an agent runs in, and the directories above it.

use std::path::{Path, PathBuf};

/// Location that an agent runs in.
#[derive(Clone, Debug)]
pub struct AgentLocation {
    /// The agent's working directory, absolute.
    pub cwd: PathBuf,
    /// HOME.
    pub home: PathBuf,
}

impl AgentLocation {
    /// Returns the nearest directory, from the working directory up, that contains `.git`.
    pub(super) fn worktree(&self) -> Option<PathBuf> {
        self.cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf)
    }

    /// Returns the working directory and its parents up to and including `last`, nearest first.
    pub(super) fn up_to(&self, last: &Path) -> Vec<PathBuf> {
        let above = self.cwd.ancestors().take_while(|dir| dir.starts_with(last));
        above.map(Path::to_path_buf).collect()
    }

    /// Returns the directories up to the worktree's top, or outside git only the working directory.
    pub(super) fn up_to_worktree(&self) -> Vec<PathBuf> {
        self.up_to(&self.worktree().unwrap_or_else(|| self.cwd.clone()))
    }
}
