//! [`Store`]: persistent data in one SQLite file, owned by one thread.
//!
//! Callers send jobs and wait. The thread executes all pending jobs in one transaction, commits,
//! and then answers: an answered change survives a kill at any later moment, and many small writes
//! share a commit. If the disk rejects writes (full or read-only), changes of sessions
//! ([`Store::save`]) wait in memory until they can be saved, and [`Store::health`] says so;
//! explicit user decisions ([`Store::perform`]) fail with an error.
//!
//! No table is an index of anything else; losing a table loses only its content.

pub(super) mod clock;
mod columns;
mod error;
mod external_writes;
mod file;
mod file_identity;
pub mod grant;
pub(super) mod hook;
mod problems;
pub(super) mod session;
mod size_limit;
pub mod trust;
pub mod usage;
mod writer;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use skills_platform::lock::lock;
use tokio::sync::oneshot;

use self::error::is_corrupt;
use self::external_writes::ExternalWrites;
use self::problems::StoreProblems;
use self::writer::{PendingUses, StoreJob};
use crate::files::remote_fs_guard::RemoteFsGuard;
use crate::health::Health;
use crate::watch::service::WatchService;
use crate::watch::stamp::Stamp;

pub use self::error::StoreError;

/// Timeout of the final save at exit: the state directory may be on a server that is gone.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Handle to the store; cheap to clone. The first use starts its thread.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// Path of the file; none keeps everything in memory.
    path: Option<PathBuf>,
    fs_guard: RemoteFsGuard,
    jobs: OnceLock<Sender<StoreJob>>,
    problems: Arc<Mutex<StoreProblems>>,
    external_writes: Arc<ExternalWrites>,
    uses: Arc<PendingUses>,
}

/// A change on its way to the disk.
#[must_use = "a caller that is answered before the change is saved may lose it"]
pub(crate) struct PendingWrite<T> {
    answer: oneshot::Receiver<()>,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> PendingWrite<T> {
    /// Waits until the change is on disk or queued for it. Returns the result of the work; none if
    /// it has failed so far.
    pub(crate) async fn saved(self) -> Option<T> {
        if self.answer.await.is_err() {
            tracing::error!("the store has stopped; a change is not saved");
        }
        lock(&self.result).take()
    }
}

impl Store {
    /// Returns the store of this file, which need not exist; without a path nothing outlives the
    /// process. The directory is created on demand with mode 0700. Accesses the disk.
    pub fn new(path: Option<PathBuf>) -> Self {
        let (problems, external_writes, uses) = (Arc::default(), Arc::default(), Arc::default());
        let fs_guard = path.as_deref().map(RemoteFsGuard::of).unwrap_or_default();
        let shared =
            Shared { path, fs_guard, jobs: OnceLock::new(), problems, external_writes, uses };
        Self { shared: Arc::new(shared) }
    }

    /// Opens an existing file now, so that its problems are known. Accesses the disk.
    pub fn open_existing(&self) {
        if self.shared.path.as_ref().is_some_and(|it| it.exists()) {
            self.jobs();
        }
    }

    /// Returns true if the store exists.
    ///
    /// # Errors
    ///
    /// The disk does not answer.
    pub(crate) async fn is_there(&self) -> Result<bool, StoreError> {
        let Some(path) = self.shared.path.clone().filter(|_| self.shared.jobs.get().is_none())
        else {
            return Ok(self.shared.jobs.get().is_some());
        };
        self.shared.fs_guard.query(move || path.exists()).await.ok_or(StoreError::Silent)
    }

    /// Returns the files whose changes reveal writes by other processes.
    pub fn files(&self) -> Vec<PathBuf> {
        self.shared.path.iter().flat_map(|it| [external_writes::log_of(it), it.clone()]).collect()
    }

    /// Returns a counter that changes after another process has written, up to `now`.
    pub async fn writes_elsewhere(&self, watch: &WatchService, now: Stamp) -> u64 {
        let known = &self.shared.external_writes;
        if lock(&known.stamp).holds(now) {
            return known.count();
        }
        let Some(path) = self.shared.path.clone() else { return 0 };
        let fs_guard = &self.shared.fs_guard;
        let stamp = if fs_guard.is_remote() {
            Stamp::default()
        } else {
            external_writes::watch(watch, &path)
        };
        let found =
            fs_guard.query(move || external_writes::version(&path)).await.unwrap_or_default();
        // A file that is gone existed when its thread started.
        let was_there = found.exists() || self.shared.jobs.get().is_some();
        if was_there && found != *lock(&known.seen) {
            // Any job makes the thread record the file's state.
            let looked = self.perform(|_| Ok(())).await;
            if let Err(error) = looked {
                tracing::debug!(%error, "cannot check for writes by other processes");
            }
        } else {
            *lock(&known.stamp) = stamp;
        }
        known.count()
    }

    pub fn health(&self) -> Vec<Health> {
        let problems = lock(&self.shared.problems);
        problems.opening.iter().chain(&problems.writing).chain(&problems.using).cloned().collect()
    }

    pub(crate) fn report_damage(&self, message: String, hint: &'static str) {
        let path = self.shared.path.as_ref().map(|it| it.as_os_str().to_owned());
        lock(&self.shared.problems).report(Health { code: "store", message, hint, path });
    }

    /// Reads from the file. The result includes changes that are not saved yet.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = StoreJob::Read(Box::new(move |connection| {
            let result = work(connection);
            let is_damaged = result.as_ref().is_err_and(is_corrupt);
            // The caller may have hung up.
            let _ = reply.send(result);
            is_damaged
        }));
        self.jobs().send(job).map_err(|_| StoreError::Ended)?;
        Ok(answer.await.map_err(|_| StoreError::Ended)??)
    }

    /// Changes the file, or fails. Returns once the change is on disk.
    pub(crate) async fn perform<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.jobs().send(StoreJob::once(work, reply)).map_err(|_| StoreError::Ended)?;
        answer.await.map_err(|_| StoreError::Ended)?
    }

    /// Changes the file as soon as possible. Returns once the change is on disk or
    /// [`Store::health`] reports it as pending; none if the work itself has failed so far.
    pub(crate) async fn save<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Option<T> {
        self.queue(work).saved().await
    }

    /// Like [`Store::save`], but leaves the waiting to the caller. The change is in order when this
    /// returns: call it under the lock that orders changes, and wait without the lock.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> PendingWrite<T> {
        let result = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&result);
        let (reply, answer) = oneshot::channel();
        let change = Box::new(move |connection: &Connection| {
            *lock(&slot) = Some(work(connection)?);
            Ok(())
        });
        // A store that has ended drops it, and with it `reply`.
        let _ = self.jobs().send(StoreJob::Retried(change, reply));
        PendingWrite { answer, result }
    }

    /// Like [`Store::save`], without waiting.
    pub(crate) fn save_in_background(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) {
        // The reply is unused, and a store that has ended has reported it.
        let (reply, _) = oneshot::channel();
        let _ = self.jobs().send(StoreJob::Retried(Box::new(work), reply));
    }

    /// Tries a last time to save pending changes, with a timeout. Returns the number of changes
    /// lost if the process ends now; none on a timeout. Both are logged.
    pub async fn finish(&self) -> Option<usize> {
        let store = self.clone();
        let (reply, answer) = oneshot::channel();
        // Calls that wait for a dead disk may have taken every thread of the runtime's pool.
        let work = move || {
            let _ = reply.send(store.finish_blocking());
        };
        thread::Builder::new().name("store-exit".into()).spawn(work).ok()?;
        answer.await.ok()?
    }

    /// Like [`Store::finish`], outside of a runtime.
    pub fn finish_blocking(&self) -> Option<usize> {
        // Nothing was ever saved.
        let Some(jobs) = self.shared.jobs.get() else { return Some(0) };
        let (reply, answer) = mpsc::channel();
        // Drops `reply` if the thread has ended.
        let _ = jobs.send(StoreJob::Exit(reply));
        match answer.recv_timeout(EXIT_TIMEOUT) {
            Ok(n_pending) => Some(n_pending),
            Err(RecvTimeoutError::Disconnected) => Some(0),
            Err(RecvTimeoutError::Timeout) => {
                tracing::warn!("the disk does not answer; unsaved changes may be lost");
                None
            }
        }
    }

    fn jobs(&self) -> &Sender<StoreJob> {
        self.shared.jobs.get_or_init(|| {
            let (jobs, waiting) = mpsc::channel();
            let path = self.shared.path.clone();
            let problems = Arc::clone(&self.shared.problems);
            let thread = thread::Builder::new().name("store".into());
            let external_writes = Arc::clone(&self.shared.external_writes);
            let uses = Arc::clone(&self.shared.uses);
            let work =
                move || writer::run(path.as_deref(), &problems, &external_writes, &uses, &waiting);
            let started = thread.spawn(work);
            if let Err(error) = started {
                // Later callers get an error that the session store has stopped.
                tracing::error!(%error, "cannot start the store's thread");
            }
            jobs
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// More changes than the store keeps for a failing disk.
    const MANY: u64 = 5000;

    #[tokio::test]
    async fn dropped_changes_are_reported_and_the_rest_is_saved_at_exit() {
        let top = tempfile::tempdir().unwrap();
        // A file at the path of its directory.
        let dir = top.path().join("state");
        fs::write(&dir, "").unwrap();
        let path = dir.join("sessions.db");
        let store = Store::new(Some(path.clone()));
        let told = || -> Vec<_> { store.health().into_iter().map(|it| it.message).collect() };
        let use_of = |number: u64| format!("/w/{number}/SKILL.md");
        store.count_use(Path::new("/w/SKILL.md"));
        store.usage().await.unwrap();
        assert_eq!(told().len(), 1, "{:?}", told());
        for number in 0..MANY {
            store.count_use(Path::new(&use_of(number)));
        }
        assert_eq!(store.usage().await.unwrap().len() as u64, MANY + 1, "memory knows them all");
        assert_eq!(store.finish().await, Some(4096), "nothing has changed");
        let n_dropped = MANY + 1 - 4096;
        let expected = format!("the oldest {n_dropped} changes are lost");
        assert!(told().iter().any(|it| it.contains(&expected)), "{:?}", told());
        fs::remove_file(&dir).unwrap();
        // Retried at once, regardless of the last attempt.
        assert_eq!(store.finish().await, Some(0));
        assert!(told().is_empty(), "{:?}", told());
        let kept = Store::new(Some(path)).usage().await.unwrap();
        assert_eq!(kept.len(), 4096);
        assert!(kept.contains_key(Path::new(&use_of(MANY - 1))), "the newest are kept");
    }

    #[tokio::test]
    async fn store_that_never_saved_finishes_without_waiting_for_its_thread() {
        let top = tempfile::tempdir().unwrap();
        let store = Store::new(Some(top.path().join("sessions.db")));
        // None stands for a timeout.
        assert_eq!(store.finish().await, Some(0));
        assert_eq!(store.finish_blocking(), Some(0));
    }
}
