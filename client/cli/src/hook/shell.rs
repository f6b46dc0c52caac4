//! Analysis of a shell command: the files that it names.
//!
//! Agents use their shell as much as their own file tools. [`grammar`] parses the text as bash,
//! with quoting, pipelines, here-documents and nested commands; `commands.json` describes the
//! operands of some four hundred commands. Paths come from the text and are made absolute; only
//! [`wildcards`] reads the disk. For an unknown variable or a glob, the directory before it is used
//! as well. The analysis never fails: a command that it does not understand touches no files.

mod commands;
mod grammar;
mod touched;
mod walk;
mod wildcards;
mod word;

#[cfg(feature = "invariants")]
use std::path::Path;
use std::path::PathBuf;

pub(crate) use touched::{CommandDirs, MAX_FILES, absolute, patched};

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

#[cfg(test)]
mod tests;
