//! [`WatchBackend`]: the system's way of watching directories.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::watch::hints::HintQueue;

/// Watches directories for two subscribers and puts their events into a [`HintQueue`].
pub trait WatchBackend: Send + Sync {
    /// Watches the directory (or file, for [`WatchScope::File`]) at `path` with at least this
    /// scope. A second call renews the watch.
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError>;

    /// Stops watching `path` for a subscriber.
    fn disarm(&self, path: &Path, by: Subscriber);

    /// Sends a cookie: `ticket` enters the queue behind the events of all earlier changes, during
    /// the call or later.
    fn cookie(&self, ticket: u64) -> io::Result<()>;

    /// Puts pending events into the queue. Returns true if the queue then has the events of all
    /// changes finished before the call; false if that is not known without a cookie. Does not
    /// block.
    fn drain(&self) -> bool;
}

/// Starts a backend that fills a queue.
pub type StartWatch = Box<dyn FnOnce(HintQueue) -> io::Result<Arc<dyn WatchBackend>> + Send>;

/// Receiver of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscriber {
    /// The directory index; gets hints.
    Index,
    /// The subscriptions of single files and directories.
    Files,
}

/// Events that a path is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchScope {
    /// Entries added, removed, replaced or changed in attributes. Enough if no file in it is read;
    /// repeated writes to a file there cause no events.
    Names,
    /// Also the closing of files that were open for writing.
    Saves,
    /// Also writes to its files.
    Everything,
    /// Writes to a file, and its removal.
    File,
}

#[derive(Debug)]
pub enum ArmError {
    Missing,
    Limit,
    Io(io::Error),
}

/// Returns the user's limit on inotify watches, if the system reports it.
pub(crate) fn watch_limit() -> Option<u64> {
    let path = Path::new("/proc/sys/fs/inotify/max_user_watches");
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}
