//! Analysis of a shell command: the files that it names.
//!
//! Agents use their shell as much as their own file tools. [`grammar`] parses the text as bash;
//! [`walk`] follows the directories and variables through it, and takes each word of a command as a
//! path if [`lookup`] finds something there. The operands and options of programs are not known, so
//! a pattern or a revision counts only if a file has its name. The analysis never fails: a command
//! that it does not understand touches no files.

mod grammar;
mod lookup;
mod walk;
mod word;

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

/// Returns the files that `command` touches, each once, in order of occurrence.
pub(crate) fn files(command: &str, dirs: &CommandDirs) -> Vec<PathBuf> {
    let mut walk = walk::Walk::new(dirs);
    walk.text(command);
    walk.files
}

/// Returns the paths that `command` touches, for the fuzz target and the replay of its seeds.
#[cfg(feature = "invariants")]
pub fn shell_files(command: &str, cwd: &Path, top: &Path, home: &Path) -> Vec<PathBuf> {
    let home = Some(home.to_owned());
    let dirs = CommandDirs { cwd: cwd.to_owned(), top: top.to_owned(), home };
    files(command, &dirs)
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

#[cfg(test)]
mod tests;
