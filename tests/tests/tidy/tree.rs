//! The files of this repository, as text.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file: its path from the top, with `/`, and its text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }
}

/// Returns the top of the repository.
pub(crate) fn top() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("this package lies in the repository").to_path_buf()
}

/// Returns every text file of the repository that git does not ignore, sorted by path.
pub(crate) fn sources() -> Vec<Source> {
    let top = top();
    let walk = ignore::WalkBuilder::new(&top)
        .hidden(false)
        // Works without a `.git` directory too.
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build();
    let files = walk.map(|entry| entry.expect("our own tree can be read").into_path());
    let files = files.filter(|path| path.is_file());
    files
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let path = path.strip_prefix(&top).expect("the walk started at the top");
            Some(Source { path: path.to_str().expect("our names are UTF-8").to_owned(), text })
        })
        .collect()
}

/// Returns the Rust files among [`sources`].
pub(crate) fn rust_sources() -> Vec<Source> {
    let is_rust =
        |source: &Source| Path::new(&source.path).extension().is_some_and(|it| it == "rs");
    sources().into_iter().filter(is_rust).collect()
}

/// Returns the text of a file that must exist.
#[track_caller]
pub(crate) fn text_of(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|cause| panic!("`{path}`: {cause}"))
}

/// Asserts that there are no findings, and prints them, one per line.
#[track_caller]
pub(crate) fn none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
