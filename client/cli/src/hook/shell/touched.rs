//! Absolute paths of the files that a shell command or a patch touches.

use std::path::{Component, Path, PathBuf};

/// Maximum number of files reported for one command or patch.
pub(crate) const MAX_FILES: usize = 512;

/// Directories that the paths of a command are resolved against.
#[derive(Debug, Clone)]
pub(crate) struct CommandDirs {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The top of the worktree, for git's `REV:path`.
    pub(crate) top: PathBuf,
    /// The home directory, for `~`.
    pub(crate) home: Option<PathBuf>,
}

/// Returns `path` absolute and without `.` and `..`, by name alone. Devices and the files of
/// `/proc` give `None`, since no skill lies there.
pub(crate) fn absolute(cwd: &Path, path: &str) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    let is_file = normal.is_absolute() && !path.is_empty() && !path.contains('\0');
    (is_file && !normal.starts_with("/dev") && !normal.starts_with("/proc")).then_some(normal)
}

/// Returns the files that a patch in the form of `apply_patch` changes.
pub(crate) fn patched(patch: &str, cwd: &Path) -> Vec<PathBuf> {
    const HEADS: [&str; 4] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let lines = patch.lines().filter_map(|line| {
        let path = HEADS.iter().find_map(|head| line.strip_prefix(head))?;
        absolute(cwd, path.trim())
    });
    lines.take(MAX_FILES).collect()
}
