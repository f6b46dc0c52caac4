//! The store's thread: executes pending jobs in one transaction, and retries changes that the disk
//! rejected.
//!
//! Pending changes are executed again before any new job and in the same transaction, so that
//! changes keep their order and reads see all of them, saved or not. They are retried with every
//! batch and every few seconds otherwise. A file that could not be opened is retried likewise;
//! until then an in-memory database replaces it. Both are retried a last time at exit. The number
//! of pending changes is bounded, and dropped ones are reported.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, params};
use skills_platform::lock::lock;
use tokio::sync::oneshot;

use super::error::StoreError;
use super::external_writes::{ExternalWrites, Version};
use super::file;
use super::file_identity::FileIdentity;
use super::problems::StoreProblems;
use crate::health::Health;

/// Maximum number of jobs per commit.
const MAX_JOBS: usize = 1024;

/// Interval between retries.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Delay for counted uses, so that they share a commit.
const USES_DELAY: Duration = Duration::from_millis(100);

/// Maximum number of pending changes; beyond it the oldest are dropped and reported. A change
/// usually takes some hundred bytes; a load takes the skill's text.
const MAX_PENDING: usize = 4096;

/// A change that can be executed repeatedly.
type StoreChange = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

/// Callback with the result of the commit.
type AfterCommit = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A change that is executed in the current transaction or not at all.
type OnceChange = Box<dyn FnOnce(Result<&Connection, StoreError>) -> AfterCommit + Send>;

pub(super) enum StoreJob {
    /// A read, answered at once. Returns whether the file turned out to be damaged.
    Read(Box<dyn FnOnce(&Connection) -> bool + Send>),
    /// A change that is executed now or fails.
    Once(OnceChange),
    /// A change that is executed now or later. The reply comes once it is on disk or pending.
    Retried(StoreChange, oneshot::Sender<()>),
    /// Counts the queued uses, possibly with a delay.
    Uses,
    /// The final save at exit, regardless of the last retry. The reply is the number of pending
    /// changes.
    Exit(mpsc::Sender<usize>),
}

impl StoreJob {
    pub(super) fn once<T: Send + 'static>(
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self::Once(Box::new(move |connection| {
            let result = connection.and_then(|it| Ok(in_savepoint(it, work)?));
            Box::new(move |committed| {
                // The caller may have hung up.
                let _ = reply.send(committed.and(result));
            })
        }))
    }
}

pub(super) struct Use {
    pub(super) path: Vec<u8>,
    pub(super) at: i64,
}

/// Uses not yet passed to the store's thread, in order.
pub(super) type PendingUses = Mutex<Vec<Use>>;

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
    problems: &Mutex<StoreProblems>,
    external_writes: &ExternalWrites,
    uses: &PendingUses,
    waiting: &Receiver<StoreJob>,
) {
    let opened = file::open(path);
    if let Some(health) = &opened.health {
        tracing::warn!(path = ?health.path, "{}", health.message);
    }
    lock(problems).opening = opened.health;
    let Some(connection) = opened.connection else { return };
    let mut writer = Writer {
        connection,
        identity: opened.identity,
        is_damaged: false,
        path,
        unopened: path.filter(|_| opened.may_retry).map(Path::to_owned),
        is_in_memory: opened.is_in_memory,
        last_retry: Some(Instant::now()),
        problems,
        external_writes,
        uses,
        version: Version::default(),
        pending: VecDeque::new(),
        n_dropped: 0,
    };
    loop {
        let first = if writer.pending.is_empty() {
            match waiting.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        } else {
            match waiting.recv_timeout(RETRY_INTERVAL) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        };
        let next = match first {
            Some(StoreJob::Uses) => waiting.recv_timeout(USES_DELAY).ok(),
            Some(_) | None => None,
        };
        writer.batch(first.into_iter().chain(next).chain(waiting.try_iter().take(MAX_JOBS)));
    }
    writer.save_at_exit();
}

/// The open file and the pending changes.
struct Writer<'a> {
    connection: Connection,
    /// Path of the connection's file; none for a store in memory.
    identity: Option<FileIdentity>,
    /// True if a read has found damage that the check at the start missed.
    is_damaged: bool,
    path: Option<&'a Path>,
    /// Path of a file that could not be opened and is retried.
    unopened: Option<PathBuf>,
    /// True if an in-memory database replaces the file, temporarily or permanently.
    is_in_memory: bool,
    /// None to retry at once.
    last_retry: Option<Instant>,
    problems: &'a Mutex<StoreProblems>,
    external_writes: &'a ExternalWrites,
    uses: &'a PendingUses,
    version: Version,
    /// Changes that are not on disk, in order.
    pending: VecDeque<StoreChange>,
    n_dropped: usize,
}

impl Writer<'_> {
    /// Executes pending changes and jobs in one transaction, and answers.
    fn batch(&mut self, jobs: impl Iterator<Item = StoreJob>) {
        self.retry_open();
        self.reopen_if_lost();
        // The in-memory database already contains the pending changes.
        let is_executed = self.unopened.is_some();
        let Executed { failure, changes, callbacks, exits } = self.execute(jobs, is_executed);
        let result = self.commit(failure);
        if result.is_err() || is_executed {
            self.keep_pending(changes);
        }
        self.report(result.as_ref().err());
        self.external_writes.note(self.path, &self.connection, &mut self.version);
        for callback in callbacks {
            callback(result.clone());
        }
        if !exits.is_empty() {
            self.exit(exits);
        }
    }

    /// Begins a transaction, and executes pending changes and jobs in it. With `is_executed`,
    /// pending changes are only kept for the retry.
    fn execute(&mut self, jobs: impl Iterator<Item = StoreJob>, is_executed: bool) -> Executed {
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        let mut transaction = Transaction {
            connection: &self.connection,
            failure: begun.err().map(StoreError::from),
            changes: VecDeque::new(),
        };
        for change in std::mem::take(&mut self.pending) {
            if is_executed {
                transaction.changes.push_back(change);
            } else {
                transaction.execute(change);
            }
        }
        let mut callbacks: Vec<AfterCommit> = Vec::new();
        let mut exits = Vec::new();
        for job in jobs {
            match job {
                StoreJob::Read(read) => self.is_damaged |= read(&self.connection),
                // An acknowledged change must be there after a restart.
                StoreJob::Once(work) if self.is_in_memory => {
                    let opening = lock(self.problems).opening.clone();
                    let why = opening
                        .map_or_else(|| "the file cannot be opened".to_owned(), |it| it.message);
                    callbacks.push(work(Err(StoreError::Failed(why))));
                }
                StoreJob::Once(work) => {
                    callbacks.push(work(transaction.connection()));
                    // SQLite may have rolled everything back on a full disk.
                    let _ = transaction.connection();
                }
                StoreJob::Retried(change, reply) => {
                    transaction.execute(change);
                    // The caller may have hung up.
                    callbacks.push(Box::new(move |_| _ = reply.send(())));
                }
                StoreJob::Uses => {
                    for it in std::mem::take(&mut *lock(self.uses)) {
                        transaction.execute(Box::new(move |connection| it.count(connection)));
                    }
                }
                StoreJob::Exit(reply) => exits.push(reply),
            }
        }
        let Transaction { failure, changes, .. } = transaction;
        Executed { failure, changes, callbacks, exits }
    }

    /// Ends the transaction: commits it, or rolls it back after a failure.
    fn commit(&mut self, failure: Option<StoreError>) -> Result<(), StoreError> {
        let committed = match failure {
            None => self.connection.execute_batch("COMMIT").map_err(StoreError::from),
            Some(failure) => Err(failure),
        };
        // An acknowledged change must be in the file that the next start opens.
        let lost = || self.identity.as_ref().and_then(FileIdentity::lost);
        let result =
            committed.and_then(|()| lost().map_or(Ok(()), |why| Err(StoreError::Failed(why))));
        self.is_damaged |= matches!(result, Err(StoreError::Damaged(_)));
        if result.is_err() {
            // SQLite may have rolled back by itself.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        result
    }

    /// Saves pending changes a last time, and replies with the number still pending.
    fn exit(&mut self, replies: Vec<mpsc::Sender<usize>>) {
        let n_pending = self.save_at_exit();
        if self.identity.as_ref().is_some_and(|it| it.lost().is_none()) {
            // Merges the log into the file; on failure the changes stay in the log.
            let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
        for reply in replies {
            // The caller may have hung up.
            let _ = reply.send(n_pending);
        }
    }

    /// Keeps changes to be retried, up to the maximum.
    fn keep_pending(&mut self, changes: VecDeque<StoreChange>) {
        self.pending = changes;
        let n_over = self.pending.len().saturating_sub(MAX_PENDING);
        if n_over > 0 {
            self.pending.drain(..n_over);
            self.n_dropped += n_over;
            tracing::error!(
                count = n_over,
                in_all = self.n_dropped,
                "too many unsaved changes of sessions; dropped the oldest"
            );
        }
    }

    /// Reports pending and dropped changes in the store's health.
    fn report(&mut self, failure: Option<&StoreError>) {
        let health = match failure {
            Some(error) => {
                tracing::warn!(%error, pending = self.pending.len(), "failed to save changes of sessions");
                let message = format!("changes of sessions are not saved yet: {error}");
                Some(self.health(message))
            }
            // The failure to open is reported by the retry.
            None if self.unopened.is_some() && self.n_dropped > 0 => Some(self.health(
                "changes of sessions are not saved until the store can be opened".to_owned(),
            )),
            None => None,
        };
        if health.is_none() && self.n_dropped > 0 {
            tracing::warn!(
                lost = self.n_dropped,
                "changes of sessions are saved again, except the dropped ones"
            );
            self.n_dropped = 0;
        }
        lock(self.problems).writing = health;
    }

    fn health(&self, mut message: String) -> Health {
        if self.n_dropped > 0 {
            let _ = write!(message, "; the oldest {} changes are lost", self.n_dropped);
        }
        Health {
            code: "store",
            message,
            hint: "Free disk space, or give yourself write permission to the state directory. Until then changes are lost if skillsd exits.",
            path: self.path.map(|it| it.as_os_str().to_owned()),
        }
    }

    /// Retries pending changes at the end. Returns the number still pending.
    fn save_at_exit(&mut self) -> usize {
        if !self.pending.is_empty() {
            self.last_retry = None;
            self.batch(std::iter::empty());
        }
        let count = self.pending.len();
        if count > 0 {
            tracing::error!(count, "changes of sessions could not be saved and are lost");
        }
        count
    }

    /// Opens the file at the path again if it was replaced, or if the open one is damaged and set
    /// aside.
    fn reopen_if_lost(&mut self) {
        let lost = self.identity.as_ref().and_then(FileIdentity::lost);
        let is_lost = lost.is_some();
        let (Some(path), Some(why)) = (self.path, lost.or_else(|| self.damage())) else { return };
        let is_damaged = std::mem::take(&mut self.is_damaged) && !is_lost;
        tracing::warn!(?path, why, "reopening the store");
        // A removed log is still open here; its content belongs into the file.
        if !is_damaged && self.identity.as_ref().is_some_and(FileIdentity::has_file) {
            let checkpoint = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            if let Err(error) = checkpoint {
                tracing::warn!(%error, "cannot save the content of the database log");
            }
        }
        let Ok(memory) = Connection::open_in_memory() else { return };
        // Connection first: closing any descriptor of the file releases its locks.
        self.connection = memory;
        self.identity = None;
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
        self.unopened = self.path.filter(|_| opened.may_retry).map(Path::to_owned);
        self.last_retry = Some(Instant::now());
        self.is_in_memory = opened.is_in_memory;
        self.identity = opened.identity;
        // Cached reads of the former file are invalid.
        self.version = Version::default();
        if let Some(connection) = opened.connection {
            self.connection = connection;
        }
        let path = Some(path.as_os_str().to_owned());
        let mut problems = lock(self.problems);
        problems.opening = opened.health;
        problems.report(Health { code: "store", message, hint, path });
    }

    fn damage(&self) -> Option<String> {
        let shown = self.path?.display();
        let is_file = self.is_damaged && self.identity.is_some();
        is_file.then(|| format!("`{shown}` is damaged"))
    }

    /// Retries opening the file at intervals.
    fn retry_open(&mut self) {
        let is_due = self.last_retry.is_none_or(|it| it.elapsed() >= RETRY_INTERVAL);
        let Some(path) = self.unopened.take_if(|_| is_due) else { return };
        self.last_retry = Some(Instant::now());
        match file::open_file(&path) {
            Ok((connection, identity)) => {
                tracing::info!(?path, "changes of sessions are saved again");
                self.connection = connection;
                self.identity = Some(identity);
                self.version = Version::default();
                self.is_in_memory = false;
                lock(self.problems).opening = None;
            }
            // The failure has been reported.
            Err(_) => self.unopened = Some(path),
        }
    }
}

/// Results of a transaction before its end.
struct Executed {
    /// Reason why it will fail.
    failure: Option<StoreError>,
    /// Changes for a retry.
    changes: VecDeque<StoreChange>,
    callbacks: Vec<AfterCommit>,
    exits: Vec<mpsc::Sender<usize>>,
}

/// One transaction, and its changes for a retry if it fails.
struct Transaction<'a> {
    connection: &'a Connection,
    /// Reason why it will fail.
    failure: Option<StoreError>,
    changes: VecDeque<StoreChange>,
}

impl Transaction<'_> {
    /// Executes a change unless the transaction has already failed.
    fn execute(&mut self, change: StoreChange) {
        if self.connection().is_ok() {
            match in_savepoint(self.connection, &change) {
                Err(error) if is_caused_by_data(&error) => {
                    // A retry would fail the same way.
                    tracing::error!(%error, "dropped a change that the database rejects");
                    return;
                }
                Err(error) => self.failure = Some(error.into()),
                Ok(()) => {}
            }
        }
        self.changes.push_back(change);
    }

    /// Returns the connection unless the transaction has failed.
    fn connection(&mut self) -> Result<&Connection, StoreError> {
        if self.failure.is_none() && self.connection.is_autocommit() {
            self.failure = Some(StoreError::Failed("the disk is full".to_owned()));
        }
        match &self.failure {
            None => Ok(self.connection),
            Some(failure) => Err(failure.clone()),
        }
    }
}

/// Runs `work` in a savepoint, so that its failure undoes nothing else.
fn in_savepoint<T>(
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
fn is_caused_by_data(error: &rusqlite::Error) -> bool {
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
