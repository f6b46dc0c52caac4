//! What a touched path leads to: where it is, seen from the working directory, and which skill
//! directories lie between.
//!
//! A path is taken as it was named and as it is without links, so that neither a working directory
//! that is reached by a link nor a link within it hides anything. It need not be there. From the
//! directory it is in, the way goes up and ends below the working directory; at each level the
//! agent's own places are looked for, and nothing is listed. What git ignores is left out.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use skills_core::path::AbsPath;

use crate::ignored::Git;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// The working directory.
    pub cwd: AbsPath,
    /// The top of the git worktree, where git has a say.
    pub worktree: Option<AbsPath>,
    /// The directory of its repository: what is excluded there is ignored.
    pub repository: Option<AbsPath>,
    /// The skill directories that are looked for at each level.
    pub relative: Vec<PathBuf>,
    /// Those that were found before: they are not asked of git again.
    pub known: Vec<AbsPath>,
    /// The paths that were touched.
    pub touched: Vec<AbsPath>,
}

/// What touched paths lead to.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Skill directories on the way to them, each once.
    pub roots: Vec<AbsPath>,
    /// Which path was touched, and where it is, seen from the working directory. One that is
    /// elsewhere is not among them.
    pub places: Vec<(AbsPath, PathBuf)>,
    /// Skill directories on the way that git ignores.
    pub ignored: Vec<AbsPath>,
}

/// Finds out what touched paths lead to. Reads the disk.
pub fn discover(search: &Search) -> Found {
    let mut found = Found::default();
    let mut met = HashSet::new();
    let mut git = search.worktree.as_deref().map(|top| Git::new(top, search.repository.as_deref()));
    let cwd = real(&search.cwd).map(|(path, _)| path);
    for path in &search.touched {
        let (real, is_dir) = real_of_nearest(path);
        let as_named = path.strip_prefix(&search.cwd).ok();
        let as_is = cwd.as_ref().and_then(|cwd| real.strip_prefix(cwd).ok());
        let mut before = None;
        for relative in [as_named, as_is].into_iter().flatten() {
            if relative.as_os_str().is_empty() || before == Some(relative) {
                continue;
            }
            before = Some(relative);
            found.places.push((path.clone(), relative.to_owned()));
            let below = if is_dir { relative } else { relative.parent().unwrap_or(relative) };
            climb(search, below, &mut met, git.as_mut(), &mut found);
        }
    }
    found
}

/// Looks for skill directories from a place below the working directory up to it.
fn climb(
    search: &Search,
    below: &Path,
    met: &mut HashSet<PathBuf>,
    mut git: Option<&mut Git>,
    found: &mut Found,
) {
    if search.relative.is_empty() || below.components().any(|it| it.as_os_str() == ".git") {
        return;
    }
    for level in below.ancestors().filter(|it| !it.as_os_str().is_empty()) {
        if !met.insert(level.to_owned()) {
            // And so all above it.
            return;
        }
        let dir = search.cwd.child(level);
        for relative in &search.relative {
            let root = dir.child(relative);
            if !fs::metadata(&root).is_ok_and(|it| it.is_dir()) {
                continue;
            }
            let ignores = |git: &mut Git| git.ignores(&dir);
            if !search.known.contains(&root) && git.as_deref_mut().is_some_and(ignores) {
                found.ignored.push(root);
            } else {
                found.roots.push(root);
            }
        }
    }
}

/// Returns the path without links and whether a directory is there; of one that is not there, that
/// of the nearest directory above it and the rest as it was named.
fn real_of_nearest(path: &AbsPath) -> (PathBuf, bool) {
    for (index, above) in path.ancestors().enumerate() {
        if let Some((real, is_dir)) = real(&above) {
            let rest = path.strip_prefix(&above).unwrap_or(Path::new(""));
            return if index == 0 { (real, is_dir) } else { (real.join(rest), false) };
        }
    }
    (path.to_path_buf(), false)
}

/// Returns the path without links and whether a directory is there; none when nothing is.
fn real(path: &Path) -> Option<(PathBuf, bool)> {
    let fd = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let is_dir = FileType::from_raw_mode(fstat(&fd).ok()?.st_mode) == FileType::Directory;
    // One question, where following each link by hand takes one for each level.
    let real = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    Some((real.or_else(|_: io::Error| fs::canonicalize(path)).ok()?, is_dir))
}
