//! The documents do what they say: each command in them is run, and each link in them leads somewhere.
//!
//! A document is followed from its top in one shell, in a fresh home with a checkout at `~/skillsd`.
//! What a block shows beneath a command is held against what comes out; `…` stands for anything. A
//! block that cannot be run here says so in a comment above it: `<!-- run by FILE -->` where another
//! file has the very command, `<!-- run with PROGRAM -->` where it wants one that may not be there,
//! `<!-- not run: REASON -->` where none can.

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

/// Returns every document that speaks to a reader, by its path from the top.
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
