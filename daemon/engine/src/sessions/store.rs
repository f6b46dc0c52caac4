//! What outlives the daemon: one SQLite file, and one thread that owns it.
//!
//! Whoever wants something written hands in a piece of work and waits. The thread takes all that
//! waits, does it in one transaction, commits, and only then answers: an answer means that a kill
//! at any later moment loses nothing of it, and many small writes share one commit. What the disk
//! does not take (it is full, or may not be written) stops nobody: what a conversation has done
//! ([`Store::keep`]) waits in memory until it can be saved, and [`Store::health`] says so as long
//! as it does; what only the user can say ([`Store::perform`]) is answered with an error.
//!
//! What is in it is the index of nothing: every table can be lost, and costs what it says.

mod external_writes;
mod file;
mod grant;
mod hook;
mod place;
mod session;
mod trust;
mod usage;
mod writer;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::external_writes::Elsewhere;
use self::usage::Uses;
use self::writer::Job;
use crate::files::remote_fs_guard::RemoteFsGuard;
use crate::views::view::Health;

pub(crate) use hook::finish as finish_hook;

pub use grant::Grant;
pub use trust::{Content, Said};
pub use usage::Usage;

pub(crate) use session::{
    ByAgent, Part, automatic, drop_agent, drop_expired, drop_session, invoked, load, save,
    set_aside, summaries,
};

/// How long skillsd waits for its last words to be saved, at its end: a state directory may be on a
/// server that is gone.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Why something could not be kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite could not do it.
    #[error("{0}")]
    Failed(String),
    /// The file's content cannot be read.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The thread has ended.
    #[error("the store has ended")]
    Ended,
    /// The disk that it is on has not answered in time.
    #[error("the disk that it is on does not answer")]
    Silent,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange};
        use rusqlite::Error::{InvalidColumnType, Utf8Error};
        let is_row = matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        );
        if is_row || is_corrupt(&error) {
            return Self::Damaged(error.to_string());
        }
        Self::Failed(error.to_string())
    }
}

/// Returns whether the file itself is damaged, and not only what a row says.
fn is_corrupt(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// A handle to what is kept; cheap to clone. Its thread starts with the first use.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the file is; none keeps everything in memory.
    path: Option<PathBuf>,
    reach: RemoteFsGuard,
    jobs: OnceLock<Sender<Job>>,
    notes: Arc<Mutex<Notes>>,
    elsewhere: Arc<Elsewhere>,
    uses: Arc<Uses>,
}

/// A change on its way to the disk.
#[must_use = "whoever is answered before it is kept may lose it"]
pub(crate) struct HandedIn<T> {
    answer: oneshot::Receiver<()>,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> HandedIn<T> {
    /// Waits until it is on disk or is owed to it. Returns what the work has; none where it has
    /// failed so far.
    pub(crate) async fn kept(self) -> Option<T> {
        if self.answer.await.is_err() {
            tracing::error!("the store has ended, and what is done is not saved");
        }
        lock(&self.result).take()
    }
}

/// What is not well.
#[derive(Default)]
struct Notes {
    /// About the file as it was opened; stays.
    opening: Option<Health>,
    /// About what could not be saved; goes when nothing waits for it any more.
    writing: Option<Health>,
    /// Data lost or found damaged while the store was in use; stays.
    using: VecDeque<Health>,
}

/// Reports of lost or damaged data that are kept; the latest replace older ones.
const MOST_TOLD: usize = 16;

impl Notes {
    /// Reports lost or damaged data, each once.
    fn tell(&mut self, unwell: Health) {
        tracing::warn!(path = ?unwell.path, "{}", unwell.message);
        self.using.retain(|it| it.message != unwell.message);
        if self.using.len() == MOST_TOLD {
            self.using.pop_front();
        }
        self.using.push_back(unwell);
    }
}

impl Store {
    /// Returns the store of this file, which need not be there; without one nothing outlives this
    /// process. The directory is made when it is needed, for its owner alone. Looks at the disk.
    pub fn new(path: Option<PathBuf>) -> Self {
        let (notes, elsewhere, uses) = (Arc::default(), Arc::default(), Arc::default());
        let reach = path.as_deref().map(RemoteFsGuard::of).unwrap_or_default();
        let shared = Shared { path, reach, jobs: OnceLock::new(), notes, elsewhere, uses };
        Self { shared: Arc::new(shared) }
    }

    /// Opens the file now if there is one, so that what is wrong with it is known. Looks at the disk.
    pub fn look(&self) {
        if self.shared.path.as_ref().is_some_and(|it| it.exists()) {
            self.jobs();
        }
    }

    /// Whether anything is kept already.
    ///
    /// # Errors
    /// The disk does not tell.
    pub(crate) async fn is_there(&self) -> Result<bool, StoreError> {
        let Some(path) = self.shared.path.clone().filter(|_| self.shared.jobs.get().is_none())
        else {
            return Ok(self.shared.jobs.get().is_some());
        };
        self.shared.reach.look(move || path.exists()).await.ok_or(StoreError::Silent)
    }

    /// Returns the files by whose change it shows that another process has written.
    pub fn files(&self) -> Vec<PathBuf> {
        self.shared.path.iter().flat_map(|it| [external_writes::log_of(it), it.clone()]).collect()
    }

    /// Returns what is not well.
    pub fn health(&self) -> Vec<Health> {
        let notes = lock(&self.shared.notes);
        notes.opening.iter().chain(&notes.writing).chain(&notes.using).cloned().collect()
    }

    /// Tells that part of the file cannot be read.
    pub(crate) fn tell_damage(&self, message: String, hint: &'static str) {
        let path = self.shared.path.as_ref().map(|it| it.as_os_str().to_owned());
        lock(&self.shared.notes).tell(Health { code: "store", message, hint, path });
    }

    /// Asks the file something. What waits to be saved is in the answer.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Job::Ask(Box::new(move |connection| {
            let result = work(connection);
            let is_damaged = result.as_ref().is_err_and(is_corrupt);
            // Whoever asked may be gone.
            let _ = reply.send(result);
            is_damaged
        }));
        self.jobs().send(job).map_err(|_| StoreError::Ended)?;
        Ok(answer.await.map_err(|_| StoreError::Ended)??)
    }

    /// Changes the file, or fails. The answer comes when it is on disk.
    pub(crate) async fn perform<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.jobs().send(Job::once(work, reply)).map_err(|_| StoreError::Ended)?;
        answer.await.map_err(|_| StoreError::Ended)?
    }

    /// Changes the file as soon as that can be done. The answer comes when it is on disk, or when
    /// [`Store::health`] says that it is not yet; it is none where the work itself has failed so
    /// far.
    pub(crate) async fn keep<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Option<T> {
        self.hand_in(work).kept().await
    }

    /// As [`Store::keep`], with the waiting left to the caller: the change has its place among all
    /// others when this returns, so that whoever has ordered changes by a lock hands them in under
    /// that lock, and waits without it.
    pub(crate) fn hand_in<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> HandedIn<T> {
        let result = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&result);
        let (reply, answer) = oneshot::channel();
        let change = Box::new(move |connection: &Connection| {
            *lock(&slot) = Some(work(connection)?);
            Ok(())
        });
        // A store that has ended drops it, and with it `reply`.
        let _ = self.jobs().send(Job::Keep(change, reply));
        HandedIn { answer, result }
    }

    /// As [`Store::keep`], without waiting.
    pub(crate) fn leave(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) {
        // Nobody hears the answer, and a store that has ended has said so.
        let (reply, _) = oneshot::channel();
        let _ = self.jobs().send(Job::Keep(Box::new(work), reply));
    }

    /// Tries a last time to save what could not be, and waits a short time for that. Returns how many
    /// changes are lost if this process ends now; none where nobody knows by then. The log says both.
    pub async fn finish(&self) -> Option<usize> {
        let (reply, answer) = oneshot::channel();
        // Whoever waits may be gone.
        self.try_last(move |it| {
            let _ = reply.send(it);
        });
        match timeout(LAST_WORD, answer).await {
            Ok(answer) => Some(answer.unwrap_or(0)),
            Err(_) => unanswered(),
        }
    }

    /// As [`Store::finish`], where no runtime is.
    pub fn finish_blocking(&self) -> Option<usize> {
        let (reply, answer) = mpsc::channel();
        // As above.
        self.try_last(move |it| {
            let _ = reply.send(it);
        });
        match answer.recv_timeout(LAST_WORD) {
            Ok(n_owed) => Some(n_owed),
            Err(RecvTimeoutError::Disconnected) => Some(0),
            Err(RecvTimeoutError::Timeout) => unanswered(),
        }
    }

    /// What tells is dropped where nothing is owed: by a thread that was never needed or has ended.
    fn try_last(&self, tell: impl FnOnce(usize) + Send + 'static) {
        if let Some(jobs) = self.shared.jobs.get() {
            let _ = jobs.send(Job::Last(Box::new(tell)));
        }
    }

    fn jobs(&self) -> &Sender<Job> {
        self.shared.jobs.get_or_init(|| {
            let (jobs, waiting) = mpsc::channel();
            let path = self.shared.path.clone();
            let notes = Arc::clone(&self.shared.notes);
            let thread = thread::Builder::new().name("store".into());
            let elsewhere = Arc::clone(&self.shared.elsewhere);
            let uses = Arc::clone(&self.shared.uses);
            let work = move || writer::run(path.as_deref(), &notes, &elsewhere, &uses, &waiting);
            let started = thread.spawn(work);
            if let Err(error) = started {
                // Whoever asks is told that the store has ended.
                tracing::error!(%error, "the store's thread cannot be started");
            }
            jobs
        })
    }
}

fn unanswered() -> Option<usize> {
    tracing::warn!("the disk does not answer, and what is not saved yet may be lost");
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half done under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns a duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// More than the store keeps for a disk that takes nothing.
    const MANY: u64 = 5000;

    #[tokio::test]
    async fn what_there_is_no_room_for_is_told_and_the_rest_is_saved_at_the_end() {
        let top = tempfile::tempdir().unwrap();
        // A file where its directory is to be.
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
        let n_lost = MANY + 1 - 4096;
        let expected = format!("the oldest {n_lost} changes are lost");
        assert!(told().iter().any(|it| it.contains(&expected)), "{:?}", told());
        fs::remove_file(&dir).unwrap();
        // At once, however short ago that was tried.
        assert_eq!(store.finish().await, Some(0));
        assert!(told().is_empty(), "{:?}", told());
        let kept = Store::new(Some(path)).usage().await.unwrap();
        assert_eq!(kept.len(), 4096);
        assert!(kept.contains_key(Path::new(&use_of(MANY - 1))), "the newest are kept");
    }
}
