//! Names and order of the log files of a daemon that a client started.
//!
//! The daemon writes them and `skillsd logs` reads them; both use this module. A daemon in the
//! foreground or under systemd logs to standard error and has no log files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Beginning of a log file's name, before the date.
pub const PREFIX: &str = "skillsd";

/// Extension of a log file's name.
pub const SUFFIX: &str = "log";

/// Returns the log files of a directory, oldest first.
pub fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_log) {
            files.push(path);
        }
    }
    // The date in the name is year-month-day, so the order of names is the order of time.
    files.sort();
    Ok(files)
}

fn is_log(name: &str) -> bool {
    let day = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    day.is_some_and(|day| day.len() > 2 && day.starts_with('.') && day.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lists_only_logs_oldest_first() {
        let top = tempfile::TempDir::new().expect("made");
        for name in ["skillsd.2026-11-02.log", "skillsd.2025-12-31.log", "skillsd.log", "x.log"] {
            fs::write(top.path().join(name), "").expect("written");
        }
        let files = files(top.path()).expect("there");
        let names: Vec<_> = files.iter().filter_map(|it| it.file_name()?.to_str()).collect();
        assert_eq!(names, ["skillsd.2025-12-31.log", "skillsd.2026-11-02.log"]);
    }
}
