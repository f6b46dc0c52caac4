//! Detection of writes by other processes, such as `skillsd trust --no-daemon`.
//!
//! A check costs one `stat`, and none if the watch service has no events; on remote disks it runs
//! with a timeout ([`RemoteFsGuard`](crate::files::remote_fs_guard::RemoteFsGuard)). After each
//! commit the store's thread records the file's metadata and SQLite's data version; only different
//! metadata causes another query.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use skills_platform::lock::lock;

use crate::watch::service::WatchService;
use crate::watch::stamp::{FileVersion, Stamp};

/// Record of other processes' writes.
#[derive(Debug, Default)]
pub(super) struct ExternalWrites {
    pub(super) seen: Mutex<FileVersion>,
    /// Stamp of the last `stat` with the recorded version.
    pub(super) stamp: Mutex<Stamp>,
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
        let version_of_file = path.map(version).unwrap_or_default();
        let version = connection.query_row("PRAGMA data_version", (), |row| row.get(0)).ok();
        if last.0 != version {
            last.0 = version;
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        *lock(&self.seen) = version_of_file;
    }
}

/// Returns the path of SQLite's write-ahead log.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Watches the database and its log.
pub(super) fn watch(service: &WatchService, path: &Path) -> Stamp {
    let log = log_of(path);
    match (path.parent(), path.file_name(), log.file_name()) {
        (Some(dir), Some(file), Some(log)) => service.watch(dir, &[file, log]),
        _ => Stamp::default(),
    }
}

/// Returns the version of the log, or else of the database.
pub(super) fn version(path: &Path) -> FileVersion {
    let log = FileVersion::of(&log_of(path));
    if log.exists() { log } else { FileVersion::of(path) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::store::Store;
    use crate::sessions::store::trust::TrustChange;

    async fn elsewhere(store: &Store) -> u64 {
        store.writes_elsewhere(&WatchService::default(), Stamp::default()).await
    }

    #[tokio::test]
    async fn external_writes_are_counted_and_own_writes_are_not() {
        let top = tempfile::TempDir::new().expect("made");
        let path = top.path().join("sessions.db");
        let [ours, theirs] = [(); 2].map(|()| Store::new(Some(path.clone())));
        let dir = Path::new("/w");
        let trust = || TrustChange::Trust(Vec::new());
        assert_eq!(elsewhere(&ours).await, 0, "there is nothing yet");
        theirs.set_trust(dir, trust()).await.expect("kept");
        let first = elsewhere(&ours).await;
        assert_ne!(first, 0);
        assert_eq!(elsewhere(&ours).await, first, "nothing since");
        ours.set_trust(dir, TrustChange::Distrust).await.expect("kept");
        assert_eq!(elsewhere(&ours).await, first, "it was this process");
        for change in [TrustChange::Remove, trust()] {
            let before = elsewhere(&ours).await;
            theirs.set_trust(dir, change).await.expect("kept");
            assert_ne!(elsewhere(&ours).await, before);
        }
        let decisions = ours.trust_decisions().await.expect("read").decisions;
        assert_eq!(decisions, [(dir.to_owned(), true)]);
    }
}
