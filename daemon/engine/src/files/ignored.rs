//! What git ignores in a worktree, and which line says so.

mod global;
mod patterns;
mod rules;

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, Glob};

pub(crate) use patterns::{Links, patterns};
pub(crate) use rules::{Options, walk};

/// What git ignores in one worktree: the files are read as they are met.
pub(crate) struct Git {
    top: PathBuf,
    /// For the whole worktree, the weakest first.
    exclude: Vec<Gitignore>,
    /// By directory.
    files: Vec<(PathBuf, Gitignore)>,
    /// What was found out about directories.
    known: Vec<(PathBuf, bool)>,
}

/// A line of a file of patterns.
pub(crate) struct Line {
    pub(crate) file: PathBuf,
    /// From 1.
    pub(crate) number: u32,
    pub(crate) pattern: String,
}

impl Git {
    pub(crate) fn new(top: &Path, repository: Option<&Path>) -> Self {
        let global = global::excludes_file();
        let own = repository.map(|it| it.join("info/exclude"));
        let exclude =
            global.into_iter().chain(own).filter_map(|it| patterns(top, &it, Links::Followed));
        let exclude = exclude.collect();
        Self { top: top.to_owned(), exclude, files: Vec::new(), known: Vec::new() }
    }

    /// Returns whether git ignores a directory below the top, or one above it.
    pub(crate) fn ignores(&mut self, dir: &Path) -> bool {
        if dir == self.top || !dir.starts_with(&self.top) {
            return false;
        }
        if let Some((_, known)) = self.known.iter().find(|(it, _)| it == dir) {
            return *known;
        }
        let Some(above) = dir.parent().map(Path::to_owned) else { return false };
        let ignored = self.ignores(&above) || self.names(dir, &above).is_some();
        self.known.push((dir.to_owned(), ignored));
        ignored
    }

    /// Returns the line that makes git ignore a directory below the top, and the directory that it
    /// is about: that one, or one above it.
    pub(crate) fn why(&mut self, dir: &Path) -> Option<(PathBuf, Line)> {
        if dir == self.top || !dir.starts_with(&self.top) {
            return None;
        }
        let above = dir.parent()?;
        self.why(above).or_else(|| {
            let glob = self.names(dir, above)?;
            let file = glob.from()?.to_owned();
            let number = number_of(&file, glob.original());
            let pattern = glob.original().to_owned();
            Some((dir.to_owned(), Line { file, number, pattern }))
        })
    }

    /// Returns the pattern by which a directory itself is ignored, by the files from the one beside
    /// it upwards.
    fn names(&mut self, dir: &Path, above: &Path) -> Option<Glob> {
        for level in above.ancestors().take_while(|it| it.starts_with(&self.top)) {
            if !self.files.iter().any(|(it, _)| it == level) {
                let file = patterns(level, &level.join(".gitignore"), Links::Refused);
                self.files.push((level.to_owned(), file.unwrap_or_else(Gitignore::empty)));
            }
            let file = self.files.iter().find(|(it, _)| it == level);
            match file.map_or(Match::None, |(_, it)| it.matched(dir, true)) {
                Match::Ignore(glob) => return Some(glob.clone()),
                Match::Whitelist(_) => return None,
                Match::None => {}
            }
        }
        let decided = self.exclude.iter().rev().map(|it| it.matched(dir, true));
        match decided.into_iter().find(|it| !it.is_none()) {
            Some(Match::Ignore(glob)) => Some(glob.clone()),
            Some(Match::Whitelist(_) | Match::None) | None => None,
        }
    }
}

/// Returns the number of the line that says so, from 1; the last one counts.
fn number_of(file: &Path, pattern: &str) -> u32 {
    let text = patterns::text(file, Links::Followed).unwrap_or_default();
    let found = text.lines().enumerate().filter(|(_, line)| line.trim_end() == pattern).last();
    found.map_or(1, |(index, _)| u32::try_from(index + 1).unwrap_or(u32::MAX))
}
