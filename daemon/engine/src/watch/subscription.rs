//! [`Subscription`]: waits for changes of chosen files and directories.
//!
//! An event means only that something may have changed. After a change that may have replaced a
//! watched path, the caller subscribes to its paths again. Paths are resolved before they are
//! watched: a replaced link on the way to a file is not reported.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Mutex};

use skills_platform::lock::lock;

use crate::watch::backend::{ArmError, Subscriber, WatchBackend, WatchScope};
use crate::watch::routes::{Changes, Routes, Subject};

/// Watches of all subscriptions over one backend.
pub(crate) struct FileArms {
    backend: Arc<dyn WatchBackend>,
    routes: Routes,
    /// Number of subscriptions of each watched path. Locked while a watch is set or removed.
    armed: Mutex<HashMap<OsString, usize>>,
}

impl FileArms {
    pub(crate) fn new(backend: Arc<dyn WatchBackend>, routes: Routes) -> Self {
        Self { backend, routes, armed: Mutex::default() }
    }
}

/// A set of watched files and directories; they are unwatched when it is dropped.
pub struct Subscription {
    arms: Arc<FileArms>,
    changes: Arc<Changes>,
    armed: BTreeSet<OsString>,
    /// Counts when changes were last reported.
    seen: (u64, u64),
}

impl Subscription {
    /// Returns a subscription without paths, which counts changes from `count` on.
    pub(crate) fn new(arms: &Arc<FileArms>, count: u64) -> Self {
        let changes = Arc::new(Changes::starting_at(count));
        let seen = changes.counts();
        Self { arms: Arc::clone(arms), changes, armed: BTreeSet::new(), seen }
    }

    /// Watches a file for writes and replacement; if it is missing, its nearest existing parent
    /// directory for its creation. Follows links and blocks on the disk.
    pub fn watch_file(&mut self, file: &Path) {
        if let Ok(real) = file.canonicalize() {
            // Fails if it has gone meanwhile, which the directory reports.
            let _ = self.arm(&real, WatchScope::File);
            self.watch_entry(&real, WatchScope::Names);
        }
        self.watch_entry(file, WatchScope::Names);
    }

    /// Watches an entry of a directory, or its nearest existing parent. Follows links to the
    /// directory and blocks on the disk.
    pub fn watch_entry(&mut self, path: &Path, scope: WatchScope) {
        let mut below = path;
        while let (Some(dir), Some(name)) = (below.parent(), below.file_name()) {
            if let Ok(real) = dir.canonicalize() {
                // The directory's own events tell that it was moved or removed.
                self.route(real.as_os_str());
                self.route(real.join(name).as_os_str());
                if self.arm(&real, scope).is_ok() {
                    return;
                }
            }
            below = dir;
        }
    }

    /// Watches all entries of a directory. Follows links to it and blocks on the disk. Returns
    /// false if it is no directory or is not watched.
    pub fn watch_entries(&mut self, dir: &Path, scope: WatchScope) -> bool {
        let Ok(real) = dir.canonicalize() else { return false };
        self.arms.routes.add(real.as_os_str(), Subject::Entries, &self.changes);
        self.arm(&real, scope).is_ok()
    }

    /// Waits for a change since the last call. Returns true if there was anything but a plain
    /// write: a watched path may now be a different file.
    pub async fn changed(&mut self) -> bool {
        loop {
            let seen = std::mem::replace(&mut self.seen, self.changes.counts());
            if seen.0 != self.seen.0 {
                return seen.1 != self.seen.1;
            }
            self.changes.notified().await;
        }
    }

    /// Reports events at a path, once a directory that contains it is watched.
    pub(crate) fn route(&self, path: &OsStr) {
        self.arms.routes.add(path, Subject::Path, &self.changes);
    }

    /// Watches a physical path, again if it was watched before.
    pub(crate) fn arm(&mut self, path: &Path, scope: WatchScope) -> Result<(), ArmError> {
        let mut armed = lock(&self.arms.armed);
        self.arms.backend.arm(path, scope, Subscriber::Files)?;
        if self.armed.insert(path.into()) {
            *armed.entry(path.into()).or_default() += 1;
        }
        Ok(())
    }

    /// Returns the number of changes, and how many of them may have replaced a path.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.changes.counts()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.arms.routes.remove(&self.changes);
        let mut armed = lock(&self.arms.armed);
        for path in &self.armed {
            let Some(count) = armed.get_mut(path) else { continue };
            *count -= 1;
            if *count == 0 {
                armed.remove(path);
                self.arms.backend.disarm(path.as_ref(), Subscriber::Files);
            }
        }
    }
}
