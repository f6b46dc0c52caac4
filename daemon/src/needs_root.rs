//! Reports tests that only root can run.
//!
//! Elsewhere they are skipped with a warning; if `CI` is set they must run.

use std::env;
use std::io::{self, Write as _};

/// Reports a skipped test, and panics if `CI` is set.
#[track_caller]
pub(crate) fn left_out(test: &str) {
    assert!(env::var_os("CI").is_none(), "`{test}` needs root, and `CI` is set");
    // Bypasses the test harness, which captures the output of passing tests.
    let _ = writeln!(io::stderr(), "skipped, needs root: {test}");
}
