//! What outlives the daemon: one SQLite file, and one thread that owns it.
//!
//! Whoever wants something written hands in a piece of work and waits. The thread takes all that
//! waits, does it in one transaction, commits, and only then answers: an answer means that a kill
//! at any later moment loses nothing of it, and many small writes share one commit. What cannot be
//! kept (a full disk, a file that may not be written) is told, by the answer and by
//! [`Store::health`], and stops nobody.
//!
//! What is in it is the index of nothing: every table can be lost, and costs what it says.

mod elsewhere;
mod file;
mod grant;
mod hook;
mod session;
mod trust;
mod usage;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::view::Health;

use elsewhere::{Elsewhere, Version};

pub(crate) use hook::finish as finish_hook;

pub use grant::Grant;
pub use trust::{Content, Said};
pub use usage::Usage;

pub(crate) use session::{
    ByAgent, Part, drop_agent, drop_expired, drop_session, invoked, load, save, summaries,
};

/// How many pieces of work share a commit at most.
const BATCH: usize = 1024;

/// Why something could not be kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite could not do it.
    #[error("{0}")]
    Failed(String),
    /// The thread has ended.
    #[error("the store has ended")]
    Ended,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// What is said once it is known whether the work is on disk.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Work on the file; its answer waits for the commit.
type Job = Box<dyn FnOnce(&Connection) -> Answer + Send>;

/// A handle to what is kept; cheap to clone. Its thread starts with the first use.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where the file is; none keeps everything in memory.
    path: Option<PathBuf>,
    jobs: OnceLock<Sender<Job>>,
    notes: Arc<Mutex<Notes>>,
    elsewhere: Arc<Elsewhere>,
}

/// What is not well.
#[derive(Default)]
struct Notes {
    /// About the file as it was opened; stays.
    opening: Option<Health>,
    /// About the last commit; goes with the next good one.
    writing: Option<Health>,
}

impl Store {
    /// Returns the store of this file, which need not be there; without one nothing outlives this
    /// process. The directory is made when it is needed, for its owner alone.
    pub fn new(path: Option<PathBuf>) -> Self {
        let (notes, elsewhere) = (Arc::default(), Arc::default());
        let shared = Shared { path, jobs: OnceLock::new(), notes, elsewhere };
        Self { shared: Arc::new(shared) }
    }

    /// Opens the file now if there is one, so that what is wrong with it is known.
    pub fn look(&self) {
        if self.is_there() {
            self.jobs();
        }
    }

    /// Whether anything is kept already, or would be kept in memory alone.
    fn is_there(&self) -> bool {
        self.shared.jobs.get().is_some() || self.shared.path.as_ref().is_some_and(|it| it.exists())
    }

    /// Returns what is not well.
    pub fn health(&self) -> Vec<Health> {
        let notes = lock(&self.shared.notes);
        notes.opening.iter().chain(&notes.writing).cloned().collect()
    }

    /// Does something with the file. The answer comes when it is on disk.
    pub(crate) async fn perform<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = apart(connection, work);
            Box::new(move |committed| {
                // Whoever asked may be gone.
                let _ = reply.send(committed.and(result));
            })
        });
        self.jobs().send(job).map_err(|_| StoreError::Ended)?;
        answer.await.map_err(|_| StoreError::Ended)?
    }

    /// Does something with the file that nobody waits for.
    pub(crate) fn forward(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) {
        let job: Job = Box::new(move |connection| {
            let result = apart(connection, work);
            Box::new(move |committed| {
                if let Err(error) = committed.and(result) {
                    tracing::debug!(%error, "not saved");
                }
            })
        });
        // A store that has ended has said so.
        let _ = self.jobs().send(job);
    }

    fn jobs(&self) -> &Sender<Job> {
        self.shared.jobs.get_or_init(|| {
            let (jobs, waiting) = mpsc::channel();
            let path = self.shared.path.clone();
            let notes = Arc::clone(&self.shared.notes);
            let thread = thread::Builder::new().name("store".into());
            let elsewhere = Arc::clone(&self.shared.elsewhere);
            let work = move || run(path.as_deref(), &notes, &elsewhere, &waiting);
            let started = thread.spawn(work);
            if let Err(error) = started {
                // Whoever asks is told that the store has ended.
                tracing::error!(%error, "the store's thread cannot be started");
            }
            jobs
        })
    }
}

/// Does one piece of work such that its failure undoes nothing else.
fn apart<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    connection.execute_batch("SAVEPOINT one")?;
    let result = work(connection);
    if result.is_err() {
        connection.execute_batch("ROLLBACK TO one")?;
    }
    connection.execute_batch("RELEASE one")?;
    Ok(result?)
}

fn run(path: Option<&Path>, notes: &Mutex<Notes>, elsewhere: &Elsewhere, waiting: &Receiver<Job>) {
    let opened = file::open(path);
    if let Some(unwell) = &opened.unwell {
        tracing::warn!(path = ?unwell.path, "{}", unwell.message);
    }
    lock(notes).opening = opened.unwell;
    let Some(connection) = opened.connection else { return };
    let mut version = Version::default();
    while let Ok(first) = waiting.recv() {
        let jobs = std::iter::once(first).chain(waiting.try_iter().take(BATCH));
        let (answers, committed) = batch(&connection, jobs);
        let writing = committed.as_ref().err().map(|error| {
            tracing::warn!(%error, "what sessions have done could not be saved");
            Health {
                code: "store",
                message: format!("what sessions have done could not be saved: {error}"),
                hint: "Make room on the disk, or give yourself write permission to the state directory.",
                path: path.map(|it| it.as_os_str().to_owned()),
            }
        });
        lock(notes).writing = writing;
        elsewhere.note(path, &connection, &mut version);
        for answer in answers {
            answer(committed.clone());
        }
    }
}

/// Does work in one transaction.
fn batch(
    connection: &Connection,
    jobs: impl Iterator<Item = Job>,
) -> (Vec<Answer>, Result<(), StoreError>) {
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    let answers = jobs.map(|job| job(connection)).collect();
    let ended = begun.and_then(|()| connection.execute_batch("COMMIT"));
    if ended.is_err() {
        // It may have undone everything by itself.
        let _ = connection.execute_batch("ROLLBACK");
    }
    (answers, ended.map_err(StoreError::from))
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
