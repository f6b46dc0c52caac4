//! Word that something happened in one directory, without asking for it again and again.
//!
//! The engine's watcher follows what agents read; this follows the one directory that the
//! daemon itself stands in, so that a socket which is removed is noticed at once and an idle
//! daemon never wakes a processor. It says only that something happened.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use tokio::io::unix::AsyncFd;

/// Watches one directory.
pub(crate) struct Disturbance(AsyncFd<OwnedFd>);

impl Disturbance {
    /// Watches the entries of `dir`, and `dir` itself.
    ///
    /// # Errors
    /// The directory is not there, or the user's watchers are used up.
    pub(crate) fn watch(dir: &Path) -> io::Result<Self> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let flags = WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::CREATE
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF;
        inotify::add_watch(&fd, dir, flags)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an `OwnedFd` cannot lie about itself"
        )]
        let fd = AsyncFd::new(fd)?;
        Ok(Self(fd))
    }

    /// Waits until something has happened since the last time.
    pub(crate) async fn next(&mut self) -> io::Result<()> {
        let mut ready = self.0.readable_mut().await?;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(ready.get_inner(), &mut buffer);
        // What happened does not matter; all of it is taken.
        while reader.next().is_ok() {}
        ready.clear_ready();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

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
