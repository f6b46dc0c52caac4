//! [`InotifyQueue`]: an inotify queue read asynchronously, without a thread. For the few
//! directories that the daemon, or the files open in an editor, depend on. The engine watches many
//! and has its own reader.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, Event, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

/// Bytes read at once. Events that arrive meanwhile are left for the next call, since a busy writer
/// may never stop.
const BUFFER: usize = 4096;

/// A set of watched directories and files.
pub(crate) struct InotifyQueue(AsyncFd<OwnedFd>);

impl InotifyQueue {
    /// Returns a queue without watches. Must be called within the runtime.
    ///
    /// # Errors
    /// Fails if the user's inotify instances are used up.
    pub(crate) fn new() -> io::Result<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; an `OwnedFd` cannot lie about itself"
        )]
        let queue = AsyncFd::new(queue)?;
        Ok(Self(queue))
    }

    /// Watches a path and returns the watch descriptor that its events carry.
    ///
    /// # Errors
    /// Fails if the path does not exist, cannot be read, or the user's watches are used up.
    pub(crate) fn add(&self, path: &Path, asked: WatchFlags) -> io::Result<i32> {
        Ok(inotify::add_watch(self.0.get_ref(), path, asked)?)
    }

    /// Waits for events and passes as many as fit into the buffer to `hand`.
    ///
    /// # Errors
    /// Fails if the queue cannot be read.
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
