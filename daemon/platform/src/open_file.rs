//! Canonical paths of open files.
//!
//! Linux names an open file in `/proc`. The portable implementation resolves the path by which the
//! file was opened, and checks that it still leads to the same file.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, fstat, stat, statat};

use crate::is_portable;

/// Attempts while the path of a file changes.
const TRIES: usize = 16;

/// Returns the canonical path of a file that was opened by the path `opened_as`.
///
/// # Errors
/// The file has been removed or keeps being replaced, or the system refuses.
pub fn path_of(file: impl AsFd, opened_as: &Path) -> io::Result<PathBuf> {
    let file = file.as_fd();
    if !is_portable() {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        if link.is_ok() {
            return link;
        }
    }
    let ours = fstat(file)?;
    for _ in 0..TRIES {
        let path = opened_as.canonicalize()?;
        let found = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW)?;
        if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino) {
            return Ok(path);
        }
    }
    Err(io::Error::other("its path leads to another file meanwhile"))
}

/// Returns the canonical form of a path, and whether it is a directory; none if nothing exists
/// there.
pub fn resolve(path: &Path) -> Option<(PathBuf, bool)> {
    #[cfg(target_os = "linux")]
    if !is_portable() {
        use rustix::fs::{Mode, OFlags, openat};

        // One system call, where resolving link by link takes one per level.
        let opened = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let is_dir = FileType::from_raw_mode(fstat(&opened).ok()?.st_mode) == FileType::Directory;
        return Some((path_of(&opened, path).ok()?, is_dir));
    }
    let is_dir = FileType::from_raw_mode(stat(path).ok()?.st_mode) == FileType::Directory;
    Some((path.canonicalize().ok()?, is_dir))
}
