//! Expansion of a command's wildcards against the disk, within a budget.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::touched::absolute;

/// Maximum number of directory entries that are read for one command.
const ENTRIES: usize = 4096;

/// Maximum length of a pattern, in bytes: the system's limit on paths.
const MAX_PATTERN: usize = 4096;

/// Expands the patterns of one command.
#[derive(Debug)]
pub(super) struct Expansion {
    /// Number of directory entries that may still be read.
    entries_left: usize,
}

impl Default for Expansion {
    fn default() -> Self {
        Self { entries_left: ENTRIES }
    }
}

impl Expansion {
    /// Returns the paths that match an absolute pattern, in byte order. A backslash stands before
    /// each literal special character of the pattern.
    pub(super) fn paths(&mut self, pattern: &str) -> Vec<PathBuf> {
        if pattern.len() > MAX_PATTERN {
            return Vec::new();
        }
        let mut found = vec![PathBuf::from("/")];
        for part in pattern.split('/').filter(|it| !it.is_empty()) {
            if found.is_empty() {
                return found;
            }
            if let Some(name) = literal(part) {
                for path in &mut found {
                    path.push(&name);
                }
                continue;
            }
            let Some(matcher) = matcher(part) else { return Vec::new() };
            let takes_hidden = part.starts_with(['.', '\\']);
            let matching = |dir: &PathBuf| self.matching(dir, &matcher, takes_hidden);
            found = found.iter().flat_map(matching).collect();
        }
        found.retain(|it| it.symlink_metadata().is_ok());
        found.iter().filter_map(|it| absolute(Path::new("/"), it.to_str()?)).collect()
    }

    /// Returns the entries of a directory with a matching name; hidden ones only for a pattern that
    /// begins with a dot.
    fn matching(&mut self, dir: &Path, matcher: &GlobMatcher, takes_hidden: bool) -> Vec<PathBuf> {
        // Matches no files if it cannot be read, as in a shell.
        let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
        let mut found = Vec::new();
        for entry in entries.take(self.entries_left).filter_map(Result::ok) {
            self.entries_left = self.entries_left.saturating_sub(1);
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

/// Returns a path as a pattern that matches it alone.
pub(super) fn escaped(path: &Path) -> Option<String> {
    let mut pattern = String::new();
    for c in path.to_str()?.chars() {
        if "\\*?[]{}!^-".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    Some(pattern)
}

fn matcher(part: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(part).literal_separator(true).backslash_escape(true).build();
    // An invalid pattern is a name, which the directory before it stands for.
    glob.ok().map(|it| it.compile_matcher())
}

/// Returns the name that a part without wildcards stands for.
fn literal(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.extend(chars.next()),
            '*' | '?' | '[' => return None,
            c => name.push(c),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let top = TempDir::new().expect("made");
        for file in ["a.rs", "b.rs", ".c.rs", "sub/x.rs", "sub/y.txt", "other/x.rs", "a*.rs"] {
            let path = top.path().join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, "").expect("written");
        }
        let check = |pattern: &str, expected: &[&str]| {
            let paths = Expansion::default().paths(&format!("{}/{pattern}", top.path().display()));
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
        check("none/*", &[]);
        check("[", &[]);
    }

    #[test]
    fn large_directory_is_read_up_to_the_budget() {
        let top = TempDir::new().expect("made");
        for nth in 0..20 {
            fs::write(top.path().join(nth.to_string()), "").expect("written");
        }
        let mut expansion = Expansion { entries_left: 12 };
        let pattern = format!("{}/*", top.path().display());
        assert_eq!(expansion.paths(&pattern).len(), 12);
        assert_eq!(expansion.paths(&pattern).len(), 0);
    }
}
