//! [`FileWatch`]: proves that files have not changed since their last `stat`, for the few files
//! that every call checks and that rarely change.
//!
//! Checking a file costs a system call with a path to walk; checking the queue costs one call for
//! all files. Files whose changes may go unreported are never proved unchanged: links on the way,
//! files with several names, directories that cannot be watched, file systems with other writers.
//! Writes through a memory map are not reported; neither configuration editors nor SQLite's log use
//! them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, RealDisk};
use crate::watch::backend::{ArmError, WatchScope};
use crate::watch::stamp::Stamp;
use crate::watch::subscription::{FileArms, Subscription};

/// Maximum number of directories; beyond it all are dropped together.
const MAX_WATCHED_DIRS: usize = 256;

/// A directory with watched files.
struct Watched {
    /// Number of replacements when it was armed.
    replacements: u64,
    /// Names in it that matter.
    names: Vec<OsString>,
    /// True if every change on the way to it is reported.
    is_reported: bool,
}

/// Watches on files and the directories above them.
pub(crate) struct FileWatch {
    arms: Arc<FileArms>,
    subscription: Subscription,
    dirs: HashMap<PathBuf, Watched>,
}

impl FileWatch {
    pub(crate) fn new(arms: &Arc<FileArms>) -> Self {
        let subscription = Subscription::new(arms, 0);
        Self { arms: Arc::clone(arms), subscription, dirs: HashMap::new() }
    }

    /// Returns the stamp of the changes reported so far.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.subscription.counts().0)
    }

    /// Watches these names in a directory and every directory above it. Returns true if every
    /// change there is reported.
    pub(crate) fn covers(&mut self, dir: &Path, names: &[&OsStr]) -> bool {
        if self.dirs.len() >= MAX_WATCHED_DIRS {
            self.dirs.clear();
            // Counts are never reused.
            let count = self.subscription.counts().0 + 1;
            self.subscription = Subscription::new(&self.arms, count);
        }
        let replacements = self.subscription.counts().1;
        let before = self.dirs.remove(dir).filter(|it| it.replacements == replacements);
        let is_known =
            |it: &Watched| names.iter().all(|name| it.names.iter().any(|known| known == name));
        let watched = match before {
            Some(it) if is_known(&it) => it,
            before => {
                // Keeps the names that other callers requested.
                let mut all = before.map(|it| it.names).unwrap_or_default();
                all.extend(names.iter().map(|it| (*it).to_owned()));
                let is_reported = self.arm(dir, names);
                Watched { replacements, names: all, is_reported }
            }
        };
        let is_reported = watched.is_reported;
        self.dirs.insert(dir.to_owned(), watched);
        is_reported
            && names.iter().all(|name| match fs::symlink_metadata(dir.join(name)) {
                Ok(found) => found.is_file() && found.nlink() == 1,
                Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            })
    }

    /// Watches each directory on the way, the topmost first, so that a replacement meanwhile is
    /// reported. Returns true if every change there is reported.
    fn arm(&mut self, dir: &Path, names: &[&OsStr]) -> bool {
        let mut at = PathBuf::new();
        for part in dir.components() {
            if !matches!(part, Component::RootDir | Component::Normal(_)) {
                return false;
            }
            at.push(part);
            self.subscription.route(at.as_os_str());
            match self.subscription.arm(&at, WatchScope::Names) {
                Ok(()) => {}
                // The parent's watch reports its creation.
                Err(ArmError::Missing) => return !exists(&at),
                Err(ArmError::Limit | ArmError::Io(_)) => return false,
            }
            if RealDisk.partly_watched_fs(&at).is_some() {
                return false;
            }
        }
        names.iter().all(|name| {
            let file = dir.join(name);
            self.subscription.route(file.as_os_str());
            match self.subscription.arm(&file, WatchScope::File) {
                Ok(()) => true,
                Err(ArmError::Missing) => !exists(&file),
                Err(ArmError::Limit | ArmError::Io(_)) => false,
            }
        })
    }
}

/// Returns true unless nothing is at a path; a link that leads nowhere exists.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).map_or_else(|it| it.kind() != std::io::ErrorKind::NotFound, |_| true)
}
