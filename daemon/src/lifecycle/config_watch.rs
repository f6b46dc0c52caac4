//! [`ConfigWatch`]: inotify watches on the daemon's own files, in place of polling.
//!
//! The engine's watcher follows what agents read; this one follows the socket's directory, the
//! configuration and the store. A removed socket is noticed at once and an idle daemon never wakes
//! the CPU. It reports that something changed, not what.

use std::io;
use std::path::Path;

use rustix::fs::inotify::{ReadFlags, WatchFlags};

use crate::lifecycle::inotify_queue::InotifyQueue;

/// Events that add, remove or replace a directory entry.
const NAMES: WatchFlags = WatchFlags::DELETE
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF);

/// Watches a set of directories and files.
pub(crate) struct ConfigWatch(InotifyQueue);

impl ConfigWatch {
    /// Watches the entries of `dir`, and `dir` itself.
    ///
    /// # Errors
    /// Fails if the directory does not exist or the user's inotify instances are used up.
    pub(crate) fn watch(dir: &Path) -> io::Result<Self> {
        let watch = Self::new()?;
        watch.0.add(dir, NAMES)?;
        Ok(watch)
    }

    /// Returns a watcher without watches.
    ///
    /// # Errors
    /// Fails if the user's inotify instances are used up.
    pub(crate) fn new() -> io::Result<Self> {
        InotifyQueue::new().map(Self)
    }

    /// Watches writes to `file` (following links) and its replacement. If it does not exist,
    /// watches the nearest existing parent directory for its creation. Existing watches are kept.
    pub(crate) fn follow(&self, file: &Path) {
        // A missing file cannot be watched; the watch on its directory reports its creation.
        let _ = self.0.add(file, WatchFlags::MODIFY | WatchFlags::ATTRIB);
        let _ = file.ancestors().skip(1).find(|dir| self.0.add(dir, NAMES).is_ok());
    }

    /// Waits for an event since the last call. Returns true if there was anything but a plain
    /// write: a watched path may now be a different file.
    pub(crate) async fn next(&mut self) -> io::Result<bool> {
        let mut is_more = false;
        self.0.next(|event| is_more |= event.events() != ReadFlags::MODIFY).await?;
        Ok(is_more)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_missing_file_is_reported_when_created_written_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/f");
        let mut watch = ConfigWatch::new().unwrap();
        let steps: [&dyn Fn(); 4] = [
            &|| std::fs::create_dir(dir.path().join("a")).unwrap(),
            &|| std::fs::write(&file, "1").unwrap(),
            &|| std::fs::write(&file, "2").unwrap(),
            &|| std::fs::remove_file(&file).unwrap(),
        ];
        for step in steps {
            watch.follow(&file);
            step();
            timeout(Duration::from_secs(10), watch.next()).await.unwrap().unwrap();
        }
        // Writes to a sibling are ignored unless a directory entry changes.
        let beside = dir.path().join("a/log");
        std::fs::write(&beside, "").unwrap();
        watch.follow(&file);
        watch.next().await.unwrap();
        std::fs::write(&beside, "more").unwrap();
        assert!(timeout(Duration::from_millis(20), watch.next()).await.is_err());
    }

    #[tokio::test]
    async fn a_removed_file_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "").unwrap();
        let mut watch = ConfigWatch::watch(dir.path()).unwrap();
        assert!(timeout(Duration::from_millis(20), watch.next()).await.is_err());
        std::fs::remove_file(&file).unwrap();
        timeout(Duration::from_secs(10), watch.next()).await.unwrap().unwrap();
        assert!(timeout(Duration::from_millis(20), watch.next()).await.is_err());
    }
}
