//! What a touched path leads to: where it is, seen from the working directory, and which skill
//! directories lie between.
//!
//! A path is taken as it was named and as it is without links, so that neither a working directory
//! that is reached by a link nor a link within it hides anything. It need not be there. From the
//! directory it is in, the way goes up and ends below the working directory; at each level the
//! agent's own places are looked for, and nothing is listed. What git ignores is left out.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use skills_core::path::AbsPath;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Search {
    /// The working directory.
    pub cwd: AbsPath,
    /// The top of the git worktree, where git has a say.
    pub worktree: Option<AbsPath>,
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
    let mut git = search.worktree.as_deref().map(Git::new);
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

/// What git ignores in one worktree: the files are read as they are met.
struct Git {
    top: PathBuf,
    /// For the whole worktree, the weakest first.
    exclude: Vec<Gitignore>,
    /// By directory.
    files: Vec<(PathBuf, Gitignore)>,
    /// What was found out about directories.
    known: Vec<(PathBuf, bool)>,
}

impl Git {
    fn new(top: &Path) -> Self {
        let global = gitconfig_excludes_path();
        let own = common_directory(top).map(|it| it.join("info/exclude"));
        let exclude = global.into_iter().chain(own).filter_map(|it| gitignore(top, &it)).collect();
        Self { top: top.to_owned(), exclude, files: Vec::new(), known: Vec::new() }
    }

    /// Returns whether git ignores a directory below the top, or one above it.
    fn ignores(&mut self, dir: &Path) -> bool {
        if dir == self.top || !dir.starts_with(&self.top) {
            return false;
        }
        if let Some((_, known)) = self.known.iter().find(|(it, _)| it == dir) {
            return *known;
        }
        let Some(above) = dir.parent().map(Path::to_owned) else { return false };
        let ignored = self.ignores(&above) || self.names(dir, &above);
        self.known.push((dir.to_owned(), ignored));
        ignored
    }

    /// Returns whether a directory itself is named, by the files from the one beside it upwards.
    fn names(&mut self, dir: &Path, above: &Path) -> bool {
        for level in above.ancestors().take_while(|it| it.starts_with(&self.top)) {
            if !self.files.iter().any(|(it, _)| it == level) {
                let file = gitignore(level, &level.join(".gitignore"));
                self.files.push((level.to_owned(), file.unwrap_or_else(Gitignore::empty)));
            }
            let file = self.files.iter().find(|(it, _)| it == level);
            match file.map_or(Match::None, |(_, it)| it.matched(dir, true)) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        let decided = self.exclude.iter().rev().map(|it| it.matched(dir, true));
        decided.into_iter().find(|it| !it.is_none()).is_some_and(|it| it.is_ignore())
    }
}

fn gitignore(base: &Path, file: &Path) -> Option<Gitignore> {
    // A pipe of that name must not be waited for.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(base);
    // Lines that are no patterns are passed over, as git does.
    if let Some(error) = builder.add(file) {
        tracing::debug!(%error, "git's patterns");
    }
    builder.build().ok()
}

/// Returns the directory of a worktree's repository, which linked ones share.
fn common_directory(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let own = line(&git, "gitdir:").map(|it| top.join(it))?;
    Some(line(&own.join("commondir"), "").map_or_else(|| own.clone(), |it| own.join(it)))
}

/// Returns what a small file says behind `head`.
fn line(file: &Path, head: &str) -> Option<PathBuf> {
    fs::metadata(file).ok().filter(|it| it.is_file() && it.len() < 64 * 1024)?;
    let text = fs::read(file).ok()?;
    let text = text.strip_prefix(head.as_bytes())?.trim_ascii();
    Some(PathBuf::from(OsStr::from_bytes(text)))
}
