//! Tests of the documentation: each command in it is run, and each link in it resolves.
//!
//! The commands of a document run from its top in one shell, in a new home with a checkout at
//! `~/skillsd`. The output shown below a command is compared with the real output; `…` matches
//! anything. A block that cannot be run here says so in a comment above it: `<!-- run by FILE -->`
//! if another file runs the same command, `<!-- run with PROGRAM -->` if it needs an optional
//! program, `<!-- not run: REASON -->` if nothing runs it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that meets the unexpected fails, and says what it has left out"
)]

mod blocks;
mod book;
mod follow;
mod messages;
mod pictures;

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns every document for readers, by its path from the top.
fn documents() -> Vec<String> {
    let mut found = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    for dir in ["docs", "editors", "systemd", "packaging", "client", "daemon"] {
        gather(&top().join(dir), &mut found);
    }
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

fn gather(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            if !["node_modules", "src", "target", "skills"].iter().any(|it| path.ends_with(it)) {
                gather(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path.strip_prefix(top()).unwrap().to_str().unwrap().to_owned());
        }
    }
}
