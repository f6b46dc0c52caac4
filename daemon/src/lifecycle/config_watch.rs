//! Word that something happened to what is the daemon's own, without asking for it again and again.
//!
//! The engine's watcher follows what agents read; this follows the directory that the daemon itself
//! stands in, so that a socket which is removed is noticed at once and an idle daemon never wakes a
//! processor, and the files that it goes by. It says only that something happened.

use std::io;
use std::path::Path;

use rustix::fs::inotify::{ReadFlags, WatchFlags};

use crate::lifecycle::inotify_queue::Queue;

/// What makes an entry of a directory another one.
const NAMES: WatchFlags = WatchFlags::DELETE
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::MOVE_SELF);

/// Watches some directories and files.
pub(crate) struct Disturbance(Queue);

impl Disturbance {
    /// Watches the entries of `dir`, and `dir` itself.
    ///
    /// # Errors
    /// The directory is not there, or the user's watchers are used up.
    pub(crate) fn watch(dir: &Path) -> io::Result<Self> {
        let watch = Self::new()?;
        watch.0.add(dir, NAMES)?;
        Ok(watch)
    }

    /// Watches nothing yet.
    ///
    /// # Errors
    /// The user's watchers are used up.
    pub(crate) fn new() -> io::Result<Self> {
        Queue::new().map(Self)
    }

    /// Watches what is written to `file`, links followed, and what comes in its place; where it is
    /// not there yet, what comes in the nearest directory above it that is. What is watched already
    /// stays so.
    pub(crate) fn follow(&self, file: &Path) {
        // What is not there has no writes to hear of, and its directory tells of its coming.
        let _ = self.0.add(file, WatchFlags::MODIFY | WatchFlags::ATTRIB);
        let _ = file.ancestors().skip(1).find(|dir| self.0.add(dir, NAMES).is_ok());
    }

    /// Waits until something has happened since the last time. Returns whether more than writing
    /// has: what is watched may be another one now.
    pub(crate) async fn next(&mut self) -> io::Result<bool> {
        // What happened where does not matter.
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
    async fn a_file_is_followed_from_before_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/f");
        let mut disturbance = Disturbance::new().unwrap();
        let steps: [&dyn Fn(); 4] = [
            &|| std::fs::create_dir(dir.path().join("a")).unwrap(),
            &|| std::fs::write(&file, "1").unwrap(),
            &|| std::fs::write(&file, "2").unwrap(),
            &|| std::fs::remove_file(&file).unwrap(),
        ];
        for step in steps {
            disturbance.follow(&file);
            step();
            timeout(Duration::from_secs(10), disturbance.next()).await.unwrap().unwrap();
        }
        // What happens to others beside it does not matter as long as none comes or goes.
        let beside = dir.path().join("a/log");
        std::fs::write(&beside, "").unwrap();
        disturbance.follow(&file);
        disturbance.next().await.unwrap();
        std::fs::write(&beside, "more").unwrap();
        assert!(timeout(Duration::from_millis(20), disturbance.next()).await.is_err());
    }

    #[tokio::test]
    async fn a_removed_file_is_heard_of_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "").unwrap();
        let mut disturbance = Disturbance::watch(dir.path()).unwrap();
        assert!(timeout(Duration::from_millis(20), disturbance.next()).await.is_err());
        std::fs::remove_file(&file).unwrap();
        timeout(Duration::from_secs(10), disturbance.next()).await.unwrap().unwrap();
        assert!(timeout(Duration::from_millis(20), disturbance.next()).await.is_err());
    }
}
