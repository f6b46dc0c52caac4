//! The store's thread: executes pending jobs in one transaction, and retries changes that the disk
//! rejected.
//!
//! Pending changes are executed again before any new job and in the same transaction, so that
//! changes keep their order and reads see all of them, saved or not. They are retried with every
//! batch and every few seconds otherwise. A file that could not be opened is retried likewise;
//! until then an in-memory database replaces it. Both are tried a last time at exit. The number of
//! pending changes is bounded, and dropped ones are reported.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, params};
use tokio::sync::oneshot;

use super::error::StoreError;
use super::external_writes::{ExternalWrites, Version};
use super::file;
use super::notes::StoreProblems;
use super::place::FileIdentity;
use crate::lock::lock;
use crate::views::view::Health;

/// Maximum number of jobs per commit.
const BATCH: usize = 1024;

/// Interval between retries.
const AGAIN: Duration = Duration::from_secs(2);

/// Delay for counted uses, so that they share a commit.
const LATER: Duration = Duration::from_millis(100);

/// Maximum number of pending changes; beyond it the oldest are dropped and reported. A change
/// usually takes some hundred bytes; a load takes the skill's text.
const MOST_OWED: usize = 4096;

/// A change that can be executed repeatedly.
type StoreChange = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

/// Callback with the result of the commit.
type AfterCommit = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A change that is executed in the current transaction or not at all.
type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> AfterCommit + Send>;

/// A job for the store's thread.
pub(super) enum StoreJob {
    /// A read, answered at once. Returns whether the file turned out to be damaged.
    Ask(Box<dyn FnOnce(&Connection) -> bool + Send>),
    /// A change that is executed now or fails.
    Once(Work),
    /// A change that is executed now or later. The reply comes once it is on disk or pending.
    Keep(StoreChange, oneshot::Sender<()>),
    /// Counts the queued uses, possibly with a delay.
    Uses,
    /// The final save at exit, regardless of the last retry. The reply is the number of pending
    /// changes.
    Last(Box<dyn FnOnce(usize) + Send>),
}

impl StoreJob {
    /// Returns a job that is executed now or fails.
    pub(super) fn once<T: Send + 'static>(
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self::Once(Box::new(move |connection| {
            let result = connection.and_then(|it| Ok(apart(it, work)?));
            Box::new(move |committed| {
                // The caller may have hung up.
                let _ = reply.send(committed.and(result));
            })
        }))
    }
}

/// One use to be counted.
pub(super) struct Use {
    pub(super) path: Vec<u8>,
    pub(super) at: i64,
}

/// Uses not yet passed to the store's thread, in order.
pub(super) type Uses = Mutex<Vec<Use>>;

impl Use {
    fn count(&self, connection: &Connection) -> rusqlite::Result<()> {
        let query = "INSERT INTO usage VALUES (?1, 1, ?2)
                     ON CONFLICT DO UPDATE SET count = count + 1, last = ?2";
        connection.prepare_cached(query)?.execute(params![self.path, self.at]).map(drop)
    }
}

/// Runs until all senders are gone.
pub(super) fn run(
    path: Option<&Path>,
    notes: &Mutex<StoreProblems>,
    elsewhere: &ExternalWrites,
    uses: &Uses,
    waiting: &Receiver<StoreJob>,
) {
    let opened = file::open(path);
    if let Some(unwell) = &opened.unwell {
        tracing::warn!(path = ?unwell.path, "{}", unwell.message);
    }
    lock(notes).opening = opened.unwell;
    let Some(connection) = opened.connection else { return };
    let mut writer = Writer {
        connection,
        place: opened.place,
        is_damaged: false,
        path,
        closed: path.filter(|_| opened.again).map(Path::to_owned),
        stands_in: opened.stands_in,
        tried: Some(Instant::now()),
        notes,
        elsewhere,
        uses,
        version: Version::default(),
        owed: VecDeque::new(),
        n_lost: 0,
    };
    loop {
        let first = if writer.owed.is_empty() {
            match waiting.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        } else {
            match waiting.recv_timeout(AGAIN) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        };
        let next = match first {
            Some(StoreJob::Uses) => waiting.recv_timeout(LATER).ok(),
            Some(_) | None => None,
        };
        writer.batch(first.into_iter().chain(next).chain(waiting.try_iter().take(BATCH)));
    }
    writer.last_try();
}

/// The open file and the pending changes.
struct Writer<'a> {
    connection: Connection,
    /// Path of the connection's file; none for a store in memory.
    place: Option<FileIdentity>,
    /// True if a read has found damage that the check at the start missed.
    is_damaged: bool,
    path: Option<&'a Path>,
    /// Path of a file that could not be opened and is retried.
    closed: Option<PathBuf>,
    /// True if an in-memory database replaces the file, temporarily or permanently.
    stands_in: bool,
    /// Time of the last retry; none to retry at once.
    tried: Option<Instant>,
    notes: &'a Mutex<StoreProblems>,
    elsewhere: &'a ExternalWrites,
    uses: &'a Uses,
    version: Version,
    /// Changes that are not on disk, in order.
    owed: VecDeque<StoreChange>,
    /// Number of dropped changes.
    n_lost: usize,
}

impl Writer<'_> {
    /// Executes pending changes and jobs in one transaction, and answers.
    fn batch(&mut self, jobs: impl Iterator<Item = StoreJob>) {
        self.open_again();
        self.open_anew();
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        let mut transaction = Transaction {
            connection: &self.connection,
            trouble: begun.err().map(StoreError::from),
            changes: VecDeque::new(),
        };
        // The in-memory database already contains them.
        let is_done = self.closed.is_some();
        for change in std::mem::take(&mut self.owed) {
            if is_done {
                transaction.changes.push_back(change);
            } else {
                transaction.make(change);
            }
        }
        let mut answers: Vec<AfterCommit> = Vec::new();
        let mut ends = Vec::new();
        for job in jobs {
            match job {
                StoreJob::Ask(ask) => self.is_damaged |= ask(&self.connection),
                // An acknowledged change must be there after a restart.
                StoreJob::Once(work) if self.stands_in => {
                    let why = "the file cannot be opened";
                    answers.push(work(Err(StoreError::Failed(why.to_owned()))));
                }
                StoreJob::Once(work) => {
                    answers.push(work(transaction.usable()));
                    // SQLite may have rolled everything back on a full disk.
                    let _ = transaction.usable();
                }
                StoreJob::Keep(change, reply) => {
                    transaction.make(change);
                    // The caller may have hung up.
                    answers.push(Box::new(move |_| _ = reply.send(())));
                }
                StoreJob::Uses => {
                    for it in std::mem::take(&mut *lock(self.uses)) {
                        transaction.make(Box::new(move |connection| it.count(connection)));
                    }
                }
                StoreJob::Last(reply) => ends.push(reply),
            }
        }
        let Transaction { trouble, changes, .. } = transaction;
        let ended = match trouble {
            None => self.connection.execute_batch("COMMIT").map_err(StoreError::from),
            Some(trouble) => Err(trouble),
        };
        // An acknowledged change must be in the file that the next start opens.
        let ended = ended.and_then(|()| match self.place.as_ref().and_then(FileIdentity::lost) {
            None => Ok(()),
            Some(why) => Err(StoreError::Failed(why)),
        });
        if let Err(StoreError::Damaged(_)) = &ended {
            self.is_damaged = true;
        }
        if ended.is_err() {
            // SQLite may have rolled back by itself.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if ended.is_err() || is_done {
            self.owe(changes);
        }
        self.say(ended.as_ref().err());
        self.elsewhere.note(self.path, &self.connection, &mut self.version);
        for answer in answers {
            answer(ended.clone());
        }
        if !ends.is_empty() {
            let n_owed = self.last_try();
            if self.place.as_ref().is_some_and(|it| it.lost().is_none()) {
                // Merges the log into the file; on failure the changes stay in the log.
                let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            }
            for tell in ends {
                tell(n_owed);
            }
        }
    }

    /// Keeps changes to be retried, up to the maximum.
    fn owe(&mut self, changes: VecDeque<StoreChange>) {
        self.owed = changes;
        let n_over = self.owed.len().saturating_sub(MOST_OWED);
        if n_over > 0 {
            self.owed.drain(..n_over);
            self.n_lost += n_over;
            tracing::error!(
                count = n_over,
                in_all = self.n_lost,
                "too many unsaved changes of sessions; dropped the oldest"
            );
        }
    }

    /// Reports pending and dropped changes in the store's health.
    fn say(&mut self, trouble: Option<&StoreError>) {
        let unwell = match trouble {
            Some(error) => {
                tracing::warn!(%error, owed = self.owed.len(), "failed to save changes of sessions");
                let message = format!("changes of sessions are not saved yet: {error}");
                Some(self.unwell(message))
            }
            // The failure to open is reported by the retry.
            None if self.closed.is_some() && self.n_lost > 0 => Some(self.unwell(
                "changes of sessions are not saved until the store can be opened".to_owned(),
            )),
            None => None,
        };
        if unwell.is_none() && self.n_lost > 0 {
            tracing::warn!(
                lost = self.n_lost,
                "changes of sessions are saved again, except the dropped ones"
            );
            self.n_lost = 0;
        }
        lock(self.notes).writing = unwell;
    }

    fn unwell(&self, mut message: String) -> Health {
        if self.n_lost > 0 {
            let _ = write!(message, "; the oldest {} changes are lost", self.n_lost);
        }
        Health {
            code: "store",
            message,
            hint: "Free disk space, or give yourself write permission to the state directory. Until then changes are lost if skillsd exits.",
            path: self.path.map(|it| it.as_os_str().to_owned()),
        }
    }

    /// Retries pending changes at the end. Returns the number still pending.
    fn last_try(&mut self) -> usize {
        if !self.owed.is_empty() {
            self.tried = None;
            self.batch(std::iter::empty());
        }
        let count = self.owed.len();
        if count > 0 {
            tracing::error!(count, "changes of sessions could not be saved and are lost");
        }
        count
    }

    /// Opens the file at the path again if it was replaced, or if the open one is damaged and set
    /// aside.
    fn open_anew(&mut self) {
        let lost = self.place.as_ref().and_then(FileIdentity::lost);
        let is_lost = lost.is_some();
        let (Some(path), Some(why)) = (self.path, lost.or_else(|| self.damage())) else { return };
        let is_damaged = std::mem::take(&mut self.is_damaged) && !is_lost;
        tracing::warn!(?path, why, "reopening the store");
        // A removed log is still open here; its content belongs into the file.
        if !is_damaged && self.place.as_ref().is_some_and(FileIdentity::has_file) {
            let checkpoint = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            if let Err(error) = checkpoint {
                tracing::warn!(%error, "cannot save the content of the database log");
            }
        }
        let Ok(memory) = Connection::open_in_memory() else { return };
        // Connection first: closing any descriptor of the file releases its locks.
        self.connection = memory;
        self.place = None;
        let mut hint = "skillsd now uses the file at this path. Repeat trust and permissions that are missing in it.";
        let mut message = format!("{why}; its content may be lost");
        if is_damaged {
            match file::set_aside(path) {
                Ok(aside) => {
                    message = format!("{why}; it is set aside as `{}`", aside.display());
                    hint =
                        "Sessions, trust and permissions start empty; grant again what you need.";
                }
                Err(_) => message = format!("{why}, and cannot be set aside"),
            }
        }
        let opened = file::open(self.path);
        self.closed = self.path.filter(|_| opened.again).map(Path::to_owned);
        self.tried = Some(Instant::now());
        self.stands_in = opened.stands_in;
        self.place = opened.place;
        // Cached reads of the former file are invalid.
        self.version = Version::default();
        if let Some(connection) = opened.connection {
            self.connection = connection;
        }
        let path = Some(path.as_os_str().to_owned());
        let mut notes = lock(self.notes);
        notes.opening = opened.unwell;
        notes.tell(Health { code: "store", message, hint, path });
    }

    fn damage(&self) -> Option<String> {
        let shown = self.path?.display();
        let is_file = self.is_damaged && self.place.is_some();
        is_file.then(|| format!("`{shown}` is damaged"))
    }

    /// Retries opening the file at intervals.
    fn open_again(&mut self) {
        let is_due = self.tried.is_none_or(|it| it.elapsed() >= AGAIN);
        let Some(path) = self.closed.take_if(|_| is_due) else { return };
        self.tried = Some(Instant::now());
        match file::open_file(&path) {
            Ok((connection, place)) => {
                tracing::info!(?path, "changes of sessions are saved again");
                self.connection = connection;
                self.place = Some(place);
                self.version = Version::default();
                self.stands_in = false;
                lock(self.notes).opening = None;
            }
            // The failure has been reported.
            Err(_) => self.closed = Some(path),
        }
    }
}

/// One transaction, and its changes for a retry if it fails.
struct Transaction<'a> {
    connection: &'a Connection,
    /// Reason why it will fail.
    trouble: Option<StoreError>,
    changes: VecDeque<StoreChange>,
}

impl Transaction<'_> {
    /// Executes a change unless the transaction has already failed.
    fn make(&mut self, change: StoreChange) {
        if self.usable().is_ok() {
            match apart(self.connection, &change) {
                Err(error) if is_ours(&error) => {
                    // A retry would fail the same way.
                    tracing::error!(%error, "dropped a change that the database rejects");
                    return;
                }
                Err(error) => self.trouble = Some(error.into()),
                Ok(()) => {}
            }
        }
        self.changes.push_back(change);
    }

    /// Returns the connection unless the transaction has failed.
    fn usable(&mut self) -> Result<&Connection, StoreError> {
        if self.trouble.is_none() && self.connection.is_autocommit() {
            self.trouble = Some(StoreError::Failed("the disk is full".to_owned()));
        }
        match &self.trouble {
            None => Ok(self.connection),
            Some(trouble) => Err(trouble.clone()),
        }
    }
}

/// Runs `work` in a savepoint, so that its failure undoes nothing else.
fn apart<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("SAVEPOINT one")?;
    let result = work(connection);
    if result.is_err() {
        // Fails if the whole transaction was rolled back, which includes this savepoint.
        let _ = connection.execute_batch("ROLLBACK TO one; RELEASE one");
        return result;
    }
    connection.execute_batch("RELEASE one")?;
    result
}

/// Returns true if an error is caused by the written data, not by the file or disk.
fn is_ours(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        None => true,
        Some(code) => matches!(
            code,
            ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::ApiMisuse
                | ErrorCode::ParameterOutOfRange
                | ErrorCode::TooBig
        ),
    }
}
