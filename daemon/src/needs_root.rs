//! What a test says that only root can run.
//!
//! It is left out elsewhere, loudly; where `CI` is set it must run, so that green means tested.

use std::env;
use std::io::{self, Write as _};

/// Says that a test is left out, and fails where none may be.
#[track_caller]
pub(crate) fn left_out(test: &str) {
    assert!(env::var_os("CI").is_none(), "`{test}` needs root, and `CI` is set");
    // Past the harness, which keeps what a passing test prints; it is only a word of warning.
    let _ = writeln!(io::stderr(), "left out, because only root can run it: {test}");
}
