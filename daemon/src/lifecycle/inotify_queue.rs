//! A queue of inotify that is waited for without a thread: for the few directories that the daemon
//! or an editor's open texts stand in. The engine, which follows many, has its own.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, Event, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

/// How much is read at once: what a busy writer adds meanwhile is for the next time, since it may
/// have no end.
const BUFFER: usize = 4096;

/// Directories and files that are watched.
pub(crate) struct Queue(AsyncFd<OwnedFd>);

impl Queue {
    /// Watches nothing yet. Must be called within the runtime.
    ///
    /// # Errors
    /// The user's watchers are used up.
    pub(crate) fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an `OwnedFd` cannot lie about itself"
        )]
        let queue = AsyncFd::new(queue)?;
        Ok(Self(queue))
    }

    /// Watches a path and returns the number that its events have.
    ///
    /// # Errors
    /// There is nothing, it may not be read, or the user's watches are used up.
    pub(crate) fn add(&self, path: &Path, asked: WatchFlags) -> io::Result<i32> {
        Ok(inotify::add_watch(self.0.get_ref(), path, asked)?)
    }

    /// Waits until something has happened, and hands over what there is room for.
    ///
    /// # Errors
    /// The queue cannot be read.
    pub(crate) async fn next(&self, mut hand: impl FnMut(&Event<'_>)) -> io::Result<()> {
        loop {
            let mut ready = self.0.readable().await?;
            let mut buffer = [MaybeUninit::uninit(); BUFFER];
            let mut reader = Reader::new(ready.get_inner(), &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => hand(&event),
                    Err(Errno::INTR) => continue,
                    Err(Errno::AGAIN) => break ready.clear_ready(),
                    Err(error) => return Err(error.into()),
                }
                if reader.is_buffer_empty() {
                    return Ok(());
                }
            }
        }
    }
}
