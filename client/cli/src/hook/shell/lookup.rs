//! Questions to the disk about the words of one command, within a budget.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::word::Word;

/// Maximum number of paths, directories and directory entries that are read for one command.
const LOOKUPS: usize = 4096;

/// Maximum length of a pattern, in bytes: the system's limit on paths.
const MAX_PATH: usize = 4096;

/// Reader of the disk for one command; it finds nothing once the budget is used up.
#[derive(Debug)]
pub(super) struct Lookup {
    left: usize,
}

impl Default for Lookup {
    fn default() -> Self {
        Self { left: LOOKUPS }
    }
}

impl Lookup {
    pub(super) fn exists(&mut self, path: &Path) -> bool {
        self.spend() && path.symlink_metadata().is_ok()
    }

    pub(super) fn is_dir(&mut self, path: &Path) -> bool {
        self.spend() && path.is_dir()
    }

    fn spend(&mut self) -> bool {
        let has_left = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_left
    }

    /// Returns the paths that `word` matches in byte order; none without wildcards. `dir` is the
    /// directory before the first wildcard; a pattern does not lead up from it.
    pub(super) fn matches(&mut self, dir: &Path, word: &Word) -> Vec<PathBuf> {
        if self.left == 0 || word.glob().is_none() || word.start().len() > MAX_PATH {
            return Vec::new();
        }
        let mut found = vec![dir.to_owned()];
        for part in word.components().into_iter().skip_while(|it| it.glob().is_none()) {
            let Some(glob) = part.glob() else {
                let name = part.start();
                if name == ".." {
                    return Vec::new();
                }
                for path in &mut found {
                    path.push(&name);
                }
                continue;
            };
            let mut glob = GlobBuilder::new(&glob);
            // An invalid pattern is a name, which the directory before it stands for.
            let glob = glob.literal_separator(true).empty_alternates(true).build();
            let Ok(glob) = glob else { return Vec::new() };
            let matcher = glob.compile_matcher();
            let takes_hidden = part.start().starts_with('.');
            let entries = |dir: &PathBuf| self.entries(dir, &matcher, takes_hidden);
            found = found.iter().flat_map(entries).collect();
        }
        found.retain(|it| it.symlink_metadata().is_ok());
        found
    }

    /// Returns the entries of a directory with a matching name; hidden ones only for a pattern that
    /// begins with a dot.
    fn entries(&mut self, dir: &Path, matcher: &GlobMatcher, takes_hidden: bool) -> Vec<PathBuf> {
        self.spend();
        // Matches no files if it cannot be read, as in a shell.
        let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.take(self.left).filter_map(Result::ok) {
            self.spend();
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if (takes_hidden || !is_hidden) && matcher.is_match(&name) {
                found.push(dir.join(name));
            }
        }
        found.sort();
        found
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::touched::absolute;
    use super::*;

    fn matches(lookup: &mut Lookup, top: &TempDir, pattern: &str) -> Vec<PathBuf> {
        let word = word(pattern);
        let dir = absolute(top.path(), &word.path().expect("known")).expect("a path");
        lookup.matches(&dir, &word)
    }

    fn word(text: &str) -> Word {
        let mut word = Word::default();
        word.push_bare(text);
        word
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        let top = TempDir::new().expect("made");
        for file in ["a.rs", "b.rs", ".c.rs", "sub/x.rs", "sub/y.txt", "other/x.rs", "a*.rs"] {
            let path = top.path().join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, "").expect("written");
        }
        let check = |pattern: &str, expected: &[&str]| {
            let paths = matches(&mut Lookup::default(), &top, pattern);
            let shown = paths.iter().map(|it| it.strip_prefix(top.path()).expect("below"));
            let shown: Vec<_> = shown.map(|it| it.to_str().expect("text")).collect();
            assert_eq!(shown, expected, "{pattern}");
        };
        check("*.rs", &["a*.rs", "a.rs", "b.rs"]);
        check(".*.rs", &[".c.rs"]);
        check("*/x.rs", &["other/x.rs", "sub/x.rs"]);
        check("sub/*", &["sub/x.rs", "sub/y.txt"]);
        check("[ab].rs", &["a.rs", "b.rs"]);
        check("[!a].rs", &["b.rs"]);
        check("a\\**", &["a*.rs"]);
        check("sub/../*.rs", &["a*.rs", "a.rs", "b.rs"]);
        check("*/../*.rs", &[]);
        check("{other,sub}/x.{rs,}", &["other/x.rs", "sub/x.rs"]);
        check("a.rs", &[]);
        check("none/*", &[]);
        check("[", &[]);
    }

    #[test]
    fn large_directory_is_read_up_to_the_budget() {
        let top = TempDir::new().expect("made");
        for nth in 0..20 {
            fs::write(top.path().join(nth.to_string()), "").expect("written");
        }
        let mut lookup = Lookup { left: 13 };
        assert_eq!(matches(&mut lookup, &top, "*").len(), 12);
        assert_eq!(matches(&mut lookup, &top, "*").len(), 0);
        let mut lookup = Lookup { left: 3 };
        for _ in 0..3 {
            assert!(matches(&mut lookup, &top, "none/*").is_empty());
        }
        assert!(matches(&mut lookup, &top, "*").is_empty());
    }
}
