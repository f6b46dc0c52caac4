//! Detection of writes by other processes, such as `skillsd trust --no-daemon`.
//!
//! A check costs one `stat`, and none if the stat cache has no events; on remote disks it runs with
//! a timeout ([`RemoteFsGuard`](crate::files::remote_fs_guard::RemoteFsGuard)). After each commit
//! the store's thread records the file's metadata and SQLite's data version; only different
//! metadata causes another query.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use crate::lock::lock;
use crate::watch::stat_cache::{StatCache, Validity};

/// Metadata that reveals a change: inode, size and mtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64, u64, i64, i64);

/// Record of other processes' writes.
#[derive(Debug, Default)]
pub(super) struct ExternalWrites {
    pub(super) seen: Mutex<Option<Stamp>>,
    /// Validity of the last `stat` with the recorded metadata.
    pub(super) validity: Mutex<Validity>,
    count: AtomicU64,
    readings: AtomicU64,
}

/// SQLite's data version at the last commit.
#[derive(Debug, Default)]
pub(super) struct Version(Option<i64>);

impl ExternalWrites {
    /// Returns a number that orders reads; called by the store's thread.
    pub(super) fn next_reading(&self) -> u64 {
        self.readings.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns a counter that changes after another process has written.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Records the state after a commit of this process.
    pub(super) fn note(&self, path: Option<&Path>, connection: &Connection, last: &mut Version) {
        // Metadata first: a write between the two changes the metadata seen by the next check.
        let stamp = path.and_then(stamp);
        let version = connection.query_row("PRAGMA data_version", (), |row| row.get(0)).ok();
        if last.0 != version {
            last.0 = version;
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        *lock(&self.seen) = stamp;
    }
}

/// Returns the path of SQLite's write-ahead log.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

pub(super) fn watch(path: &Path) -> Validity {
    let log = log_of(path);
    match (path.parent(), path.file_name(), log.file_name()) {
        (Some(dir), Some(file), Some(log)) => StatCache::shared().watch(dir, &[file, log]),
        _ => Validity::default(),
    }
}

pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(log_of(path)).or_else(|_| fs::metadata(path)).ok()?;
    Some(Stamp(found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::store::Store;
    use crate::watch::stat_cache::Generation;

    #[tokio::test]
    async fn external_writes_are_counted_and_own_writes_are_not() {
        let top = tempfile::TempDir::new().expect("made");
        let path = top.path().join("sessions.db");
        let [ours, theirs] = [(); 2].map(|()| Store::new(Some(path.clone())));
        let dir = Path::new("/w");
        assert_eq!(ours.writes_elsewhere(Generation::default()).await, 0, "there is nothing yet");
        theirs.set_trust(dir, Some(true), Vec::new()).await.expect("kept");
        let first = ours.writes_elsewhere(Generation::default()).await;
        assert_ne!(first, 0);
        assert_eq!(ours.writes_elsewhere(Generation::default()).await, first, "nothing since");
        ours.set_trust(dir, Some(false), Vec::new()).await.expect("kept");
        assert_eq!(
            ours.writes_elsewhere(Generation::default()).await,
            first,
            "it was this process"
        );
        for trusted in [None, Some(true)] {
            let before = ours.writes_elsewhere(Generation::default()).await;
            theirs.set_trust(dir, trusted, Vec::new()).await.expect("kept");
            assert_ne!(ours.writes_elsewhere(Generation::default()).await, before);
        }
        assert_eq!(ours.trust(dir).await.expect("read"), Some(true));
    }
}
