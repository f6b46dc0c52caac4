//! Programs that run a skill's scripts and commands: the search path, and interpreters from shebang
//! lines.
//!
//! Files in a worktree change without approval, so no program is taken from one. Paths are compared
//! by their target, which is resolved once, so later changes of a link have no effect.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use skills_engine::Health;

/// Used if no directory of the daemon's `PATH` is allowed.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Maximum length of a first line in bytes, which is the kernel's.
const MAX_LINE: usize = 255;

/// Directories from which no program is run: worktrees, and the skill's own directory.
#[derive(Debug)]
pub(crate) struct UntrustedDirs {
    directories: Vec<PathBuf>,
    home: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct SearchPath {
    /// Value of `PATH`. Never empty, because an empty one means the working directory.
    pub(crate) path: OsString,
    /// Existing directories of the daemon's `PATH` that are left out.
    pub(crate) left_out: Vec<PathBuf>,
}

impl SearchPath {
    /// Reports the directories that are left out.
    pub(crate) fn health(&self) -> impl Iterator<Item = Health> {
        self.left_out.iter().map(|dir| Health {
            code: "path-entry",
            message: "programs in a directory of `PATH` are not run: it is in a worktree"
                .to_owned(),
            hint: "Install the programs outside worktrees, or below a hidden directory of your home directory.",
            path: Some(dir.clone().into_os_string()),
        })
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Interpreter {
    /// Its canonical path.
    pub(crate) program: PathBuf,
    /// Its path as written, which some programs use as `argv[0]`.
    pub(crate) name: OsString,
    pub(crate) argument: Option<OsString>,
}

/// Reason why no interpreter is taken from a first line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InterpreterError {
    #[error("names a program in a worktree")]
    Unchecked,
    #[error("has a variable, quote or backslash in its argument")]
    Expanded,
    #[error("is longer than {MAX_LINE} bytes")]
    TooLong,
    #[error("ends with a carriage return")]
    CarriageReturn,
    #[error(transparent)]
    Io(io::Error),
}

impl UntrustedDirs {
    /// Combines the directories of one call with all git worktrees. Leaves out directories that
    /// contain the home directory. Blocks on the disk.
    pub(crate) fn new(directories: &[PathBuf], home: Option<&Path>) -> Self {
        let home = home.and_then(|it| fs::canonicalize(it).ok());
        let real = directories.iter().filter_map(|it| fs::canonicalize(it).ok());
        let all = directories.iter().cloned().chain(real);
        let holds_home = |it: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(it));
        Self { directories: all.filter(|it| !holds_home(it)).collect(), home }
    }

    /// Returns the daemon's `PATH` with canonical paths and without these directories.
    pub(crate) fn search_path(&self) -> SearchPath {
        let path = env::var_os("PATH").unwrap_or_default();
        let (mut kept, mut left_out): (Vec<PathBuf>, Vec<_>) = Default::default();
        for dir in env::split_paths(&path).filter(|it| it.is_absolute()) {
            let Ok(real) = fs::canonicalize(&dir) else { continue };
            let can_be_said = !real.as_os_str().as_bytes().contains(&b':');
            if self.leads_here(&dir, &real) {
                left_out.push(dir);
            } else if can_be_said && !kept.contains(&real) {
                kept.push(real);
            }
        }
        let joined = env::join_paths(kept).unwrap_or_default();
        let path = if joined.is_empty() { DEFAULT_PATH.into() } else { joined };
        SearchPath { path, left_out }
    }

    /// Parses a script's first line, without its line end. The script runs in `cwd`.
    pub(crate) fn interpreter(
        &self,
        line: &[u8],
        cwd: &Path,
    ) -> Result<Option<Interpreter>, InterpreterError> {
        let Some(line) = line.strip_prefix(b"#!") else { return Ok(None) };
        // Linux takes it for a part of the name or the argument.
        if line.ends_with(b"\r") {
            return Err(InterpreterError::CarriageReturn);
        }
        let line = line.trim_ascii();
        let end = line.iter().position(|it| b" \t\0".contains(it)).unwrap_or(line.len());
        let (name, argument) = line.split_at(end);
        let argument = argument.trim_ascii();
        if name.is_empty() {
            return Ok(None);
        }
        // `env -S` expands variables, and removes quotes and backslashes.
        if argument.windows(2).any(|it| it == b"${")
            || argument.iter().any(|it| b"'\"\\".contains(it))
        {
            return Err(InterpreterError::Expanded);
        }
        if line.len() > MAX_LINE {
            return Err(InterpreterError::TooLong);
        }
        let name = OsStr::from_bytes(name);
        let written = cwd.join(name);
        let program = fs::canonicalize(&written).map_err(InterpreterError::Io)?;
        if self.is_named(argument, cwd) || self.leads_here(&written, &program) {
            return Err(InterpreterError::Unchecked);
        }
        let argument = (!argument.is_empty()).then(|| OsString::from_vec(argument.to_vec()));
        Ok(Some(Interpreter { program, name: name.to_owned(), argument }))
    }

    /// Returns whether any part of an argument is a path into one of these directories. Programs
    /// split arguments in their own ways, for example `-S/bin/sh` or `PATH=/bin:/usr/bin`.
    fn is_named(&self, argument: &[u8], cwd: &Path) -> bool {
        let is_end = |it: usize| argument.get(it).is_none_or(|it| b" \t\r\x0b\x0c=:,".contains(it));
        (0..=argument.len()).filter(|it| is_end(*it)).any(|end| {
            let parts = (0..end).map(|start| &argument[start..end]);
            parts.filter(|it| it.contains(&b'/')).any(|it| {
                let part = Path::new(OsStr::from_bytes(it));
                let real = fs::canonicalize(cwd.join(part)).unwrap_or_default();
                // The script's own directory is a checked copy.
                let is_own = part.is_relative() && real.starts_with(cwd);
                !is_own && self.leads_here(part, &real)
            })
        })
    }

    /// Returns whether a path, as written or resolved, is in one of these directories.
    fn leads_here(&self, written: &Path, real: &Path) -> bool {
        [written, real].iter().any(|path| {
            self.directories.iter().any(|it| path.starts_with(it)) || self.is_in_worktree(path)
        })
    }

    /// Returns whether a path is in a git worktree. Worktrees of root do not count, nor those that
    /// contain the home directory or are in a hidden directory of it: package and version managers
    /// are installed that way.
    fn is_in_worktree(&self, path: &Path) -> bool {
        let counts_root = rustix::process::geteuid().is_root();
        let has_git = |it: &&Path| {
            let git = fs::symlink_metadata(it.join(".git"));
            git.is_ok_and(|it| counts_root || it.uid() != 0)
        };
        let top = path.ancestors().find(has_git);
        let (Some(top), Some(home)) = (top, &self.home) else { return top.is_some() };
        let below_home = path.strip_prefix(home).map(Path::as_os_str).unwrap_or_default();
        !home.starts_with(top) && !below_home.as_bytes().starts_with(b".")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    fn home() -> (TempDir, PathBuf) {
        let top = TempDir::new().unwrap();
        let home = fs::canonicalize(top.path()).unwrap();
        for dir in ["w/.git", "w/bin", "other/.git", "other/bin", ".nvm/.git", ".nvm/bin", "bin"] {
            fs::create_dir_all(home.join(dir)).unwrap();
            let _ = fs::write(home.join(dir).join("program"), "");
        }
        (top, home)
    }

    fn taken(home: &Path, line: &str) -> Result<Option<Interpreter>, InterpreterError> {
        UntrustedDirs::new(&[home.join("w")], Some(home)).interpreter(line.as_bytes(), home)
    }

    #[test]
    fn interpreter_is_resolved_and_its_argument_is_one() {
        let (_top, home) = home();
        symlink(home.join("bin/program"), home.join("bin/link")).unwrap();
        let line = format!("#! \t{}/bin/link -a  b \t", home.display());
        let expected = Interpreter {
            program: home.join("bin/program"),
            name: home.join("bin/link").into(),
            argument: Some("-a  b".into()),
        };
        assert_eq!(taken(&home, &line).unwrap(), Some(expected));
        assert_eq!(taken(&home, "echo").unwrap(), None);
        assert_eq!(taken(&home, "#!").unwrap(), None);
    }

    #[test]
    fn line_with_a_carriage_return_is_refused() {
        let (_top, home) = home();
        let line = |end: &str| format!("#!{}/bin/program{end}", home.display());
        assert!(taken(&home, &line("")).is_ok());
        for end in ["\r", " -a\r", " \r"] {
            assert!(matches!(taken(&home, &line(end)), Err(InterpreterError::CarriageReturn)));
        }
    }

    #[test]
    fn line_longer_than_the_kernels_limit_is_refused() {
        let (_top, home) = home();
        let line = |n: usize| format!("#!{} {}", home.join("bin/program").display(), "x".repeat(n));
        assert!(taken(&home, &line(10)).is_ok());
        assert!(matches!(taken(&home, &line(255)), Err(InterpreterError::TooLong)));
    }

    #[test]
    fn version_managers_in_hidden_directories_of_the_home_are_used() {
        let (_top, home) = home();
        for (program, is_used) in
            [(".nvm/bin/program", true), ("other/bin/program", false), ("w/bin/program", false)]
        {
            let taken = taken(&home, &format!("#!{}", home.join(program).display()));
            assert_eq!(taken.is_ok(), is_used, "{program}: {taken:?}");
        }
    }

    #[test]
    fn directories_that_hold_the_home_directory_leave_its_programs_alone() {
        let (_top, home) = home();
        fs::create_dir(home.join(".git")).unwrap();
        let line = format!("#!{}/bin/program", home.display());
        for dir in [Path::new("/"), &home] {
            let unchecked = UntrustedDirs::new(&[dir.to_owned()], Some(&home));
            assert!(unchecked.interpreter(line.as_bytes(), &home).is_ok());
            assert!(!unchecked.search_path().path.is_empty());
        }
    }
}
