//! Location that an agent works in, and its directories.

use std::fs;
use std::path::{Path, PathBuf};

/// Inputs of the two profiles besides files.
#[derive(Clone, Debug)]
pub struct AgentLocation {
    /// The agent's working directory, absolute.
    pub cwd: PathBuf,
    /// HOME.
    pub home: PathBuf,
    /// CLAUDE_CONFIG_DIR, if set.
    pub claude_config_dir: Option<PathBuf>,
}

impl AgentLocation {
    /// Returns the location of an agent that works in `cwd` with HOME at `home`.
    pub fn new(cwd: impl Into<PathBuf>, home: impl Into<PathBuf>) -> AgentLocation {
        AgentLocation { cwd: cwd.into(), home: home.into(), claude_config_dir: None }
    }

    /// Returns the working directory and its parents up to the top of the worktree, nearest first;
    /// outside a worktree only the working directory.
    pub(super) fn upward(&self) -> Vec<PathBuf> {
        let ancestors: Vec<PathBuf> = self.cwd.ancestors().map(Path::to_path_buf).collect();
        match ancestors.iter().position(|dir| dir.join(".git").symlink_metadata().is_ok()) {
            Some(top) => ancestors[..=top].to_vec(),
            None => vec![self.cwd.clone()],
        }
    }
}

/// Returns the subdirectories of `dir`, links followed, sorted by the bytes of their names; empty
/// if it cannot be read.
pub(super) fn sub_dirs(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut dirs: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    dirs.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    dirs
}

/// Returns the last part of a path, with bytes that are not UTF-8 replaced.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
