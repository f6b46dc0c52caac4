//! The thread that owns the file: it does what waits in one transaction, and owes to the disk what
//! that did not take.
//!
//! What is owed is done again before anything new and in the same transaction, so that changes
//! are always made in their order and whoever asks sees them all, on disk or not. It is tried
//! again with all that comes, and every few seconds where nothing does. A file that could not be
//! opened is tried again like that as well; until then memory stands in for it. Both are tried a
//! last time when skillsd ends. Of what is owed there is a bound, and what is lost to it is said.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::external_writes::{Elsewhere, Version};
use super::place::Place;
use super::usage::Uses;
use super::{Notes, StoreError, file, lock};
use crate::views::view::Health;

/// How many pieces of work share a commit at most.
const BATCH: usize = 1024;

/// How often what could not be saved is tried again at least.
const AGAIN: Duration = Duration::from_secs(2);

/// How long uses that are counted wait for more of them, which share their commit.
const LATER: Duration = Duration::from_millis(100);

/// How many changes wait for the disk at most; of more the oldest are lost, which is said. Mostly
/// each is some hundred bytes, and one in which a skill was loaded its text.
const MOST_OWED: usize = 4096;

/// A change that can be made again.
type Change = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

/// What is said once it is known whether a change is on disk.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A change that is made in the transaction that there is, or not at all.
type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Answer + Send>;

/// A piece of work.
pub(super) enum Job {
    /// Asks something, and is answered at once. Returns whether the file turned out to be damaged.
    Ask(Box<dyn FnOnce(&Connection) -> bool + Send>),
    /// Changes something, if there is a transaction for it to be made in.
    Once(Work),
    /// Changes something now or later. Whoever waits is told when it is on disk or is owed.
    Keep(Change, oneshot::Sender<()>),
    /// Counts the uses that wait. Nobody waits for that, and it may be done a little later.
    Uses,
    /// Skillsd ends: what is owed is tried a last time, however short ago it was before. Whoever
    /// waits is told how much is owed then.
    Last(Box<dyn FnOnce(usize) + Send>),
}

impl Job {
    /// Returns a change that is made now or not at all.
    pub(super) fn once<T: Send + 'static>(
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self::Once(Box::new(move |connection| {
            let result = connection.and_then(|it| Ok(apart(it, work)?));
            Box::new(move |committed| {
                // Whoever asked may be gone.
                let _ = reply.send(committed.and(result));
            })
        }))
    }
}

/// Works until nobody can ask any more.
pub(super) fn run(
    path: Option<&Path>,
    notes: &Mutex<Notes>,
    elsewhere: &Elsewhere,
    uses: &Uses,
    waiting: &Receiver<Job>,
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
            Some(Job::Uses) => waiting.recv_timeout(LATER).ok(),
            Some(_) | None => None,
        };
        writer.batch(first.into_iter().chain(next).chain(waiting.try_iter().take(BATCH)));
    }
    writer.last_try();
}

/// The file, and what it is owed.
struct Writer<'a> {
    connection: Connection,
    /// Path of the connection's file; none for a store in memory.
    place: Option<Place>,
    /// True if reading has found damage that the check at the start missed.
    is_damaged: bool,
    path: Option<&'a Path>,
    /// The file that could not be opened, where memory stands in for it.
    closed: Option<PathBuf>,
    /// Whether memory stands in for the file, for now or for good.
    stands_in: bool,
    /// When that file was last tried; none where it is to be tried whenever that was.
    tried: Option<Instant>,
    notes: &'a Mutex<Notes>,
    elsewhere: &'a Elsewhere,
    uses: &'a Uses,
    version: Version,
    /// What is not on disk, in its order.
    owed: VecDeque<Change>,
    /// How many changes there was no room for.
    n_lost: usize,
}

impl Writer<'_> {
    /// Does what is owed and what waits in one transaction, and answers.
    fn batch(&mut self, jobs: impl Iterator<Item = Job>) {
        self.open_again();
        self.open_anew();
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        let mut transaction = Transaction {
            connection: &self.connection,
            trouble: begun.err().map(StoreError::from),
            changes: VecDeque::new(),
        };
        // Memory has them already.
        let is_done = self.closed.is_some();
        for change in std::mem::take(&mut self.owed) {
            if is_done {
                transaction.changes.push_back(change);
            } else {
                transaction.make(change);
            }
        }
        let mut answers: Vec<Answer> = Vec::new();
        let mut ends = Vec::new();
        for job in jobs {
            match job {
                Job::Ask(ask) => self.is_damaged |= ask(&self.connection),
                // Whoever is told that it happened must find it after a restart.
                Job::Once(work) if self.stands_in => {
                    let why = "the file cannot be opened";
                    answers.push(work(Err(StoreError::Failed(why.to_owned()))));
                }
                Job::Once(work) => {
                    answers.push(work(transaction.usable()));
                    // A disk that is full in the middle of a change may have undone all.
                    let _ = transaction.usable();
                }
                Job::Keep(change, reply) => {
                    transaction.make(change);
                    // Whoever waits may be gone.
                    answers.push(Box::new(move |_| _ = reply.send(())));
                }
                Job::Uses => {
                    for it in std::mem::take(&mut *lock(self.uses)) {
                        transaction.make(Box::new(move |connection| it.count(connection)));
                    }
                }
                Job::Last(reply) => ends.push(reply),
            }
        }
        let Transaction { trouble, changes, .. } = transaction;
        let ended = match trouble {
            None => self.connection.execute_batch("COMMIT").map_err(StoreError::from),
            Some(trouble) => Err(trouble),
        };
        // An acknowledged change is in the file that the next start opens.
        let ended = ended.and_then(|()| match self.place.as_ref().and_then(Place::lost) {
            None => Ok(()),
            Some(why) => Err(StoreError::Failed(why)),
        });
        if let Err(StoreError::Damaged(_)) = &ended {
            self.is_damaged = true;
        }
        if ended.is_err() {
            // It may have undone everything by itself.
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
                // Makes the file whole without its log; a failure leaves the changes in the log.
                let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            }
            for tell in ends {
                tell(n_owed);
            }
        }
    }

    /// Keeps changes for the disk, as many as there is room for.
    fn owe(&mut self, changes: VecDeque<Change>) {
        self.owed = changes;
        let n_over = self.owed.len().saturating_sub(MOST_OWED);
        if n_over > 0 {
            self.owed.drain(..n_over);
            self.n_lost += n_over;
            tracing::error!(
                count = n_over,
                in_all = self.n_lost,
                "what sessions have done waits for the disk, and the oldest of it is lost"
            );
        }
    }

    /// Says in the store's health what waits and what is lost.
    fn say(&mut self, trouble: Option<&StoreError>) {
        let unwell = match trouble {
            Some(error) => {
                tracing::warn!(%error, owed = self.owed.len(), "what sessions have done could not be saved");
                let message = format!("what sessions have done could not be saved yet: {error}");
                Some(self.unwell(message))
            }
            // That the file cannot be opened is said where it was tried.
            None if self.closed.is_some() && self.n_lost > 0 => {
                Some(self.unwell("what sessions do waits for the file to be opened".to_owned()))
            }
            None => None,
        };
        if unwell.is_none() && self.n_lost > 0 {
            tracing::warn!(
                lost = self.n_lost,
                "what sessions do is saved again, but for what is lost"
            );
            self.n_lost = 0;
        }
        lock(self.notes).writing = unwell;
    }

    fn unwell(&self, mut message: String) -> Health {
        if self.n_lost > 0 {
            let _ =
                write!(message, ", and of what waited the oldest {} changes are lost", self.n_lost);
        }
        Health {
            code: "store",
            message,
            hint: "Make room on the disk, or give yourself write permission to the state directory; it is saved as soon as that is possible, and lost if skillsd ends before.",
            path: self.path.map(|it| it.as_os_str().to_owned()),
        }
    }

    /// Tries once more to save what is owed, at the end. Returns how much is owed then.
    fn last_try(&mut self) -> usize {
        if !self.owed.is_empty() {
            self.tried = None;
            self.batch(std::iter::empty());
        }
        let count = self.owed.len();
        if count > 0 {
            tracing::error!(count, "what sessions have done could not be saved, and is lost");
        }
        count
    }

    /// Opens the file at the path again if it was replaced, or if the open one is damaged and is set
    /// aside.
    fn open_anew(&mut self) {
        let lost = self.place.as_ref().and_then(Place::lost);
        let is_lost = lost.is_some();
        let (Some(path), Some(why)) = (self.path, lost.or_else(|| self.damage())) else { return };
        let is_damaged = std::mem::take(&mut self.is_damaged) && !is_lost;
        tracing::warn!(?path, why, "the store is opened anew");
        // A removed log is still open here; its content belongs into the file.
        if !is_damaged && self.place.as_ref().is_some_and(Place::has_file) {
            let checkpoint = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            if let Err(error) = checkpoint {
                tracing::warn!(%error, "what was in the log is lost");
            }
        }
        let Ok(memory) = Connection::open_in_memory() else { return };
        // First the connection: its locks go with any descriptor of the file.
        self.connection = memory;
        self.place = None;
        let mut hint = "What the file at this path says counts from now on; say again what you had trusted or allowed since.";
        let mut message = format!("{why}; what it held may be lost");
        if is_damaged {
            match file::set_aside(path) {
                Ok(aside) => {
                    message = format!("{why}; it is set aside as `{}`", aside.display());
                    hint = "Sessions and what you had trusted or allowed begin anew.";
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

    /// Opens the file that could not be opened, now and then.
    fn open_again(&mut self) {
        let is_due = self.tried.is_none_or(|it| it.elapsed() >= AGAIN);
        let Some(path) = self.closed.take_if(|_| is_due) else { return };
        self.tried = Some(Instant::now());
        match file::open_file(&path) {
            Ok((connection, place)) => {
                tracing::info!(?path, "what sessions do is saved again");
                self.connection = connection;
                self.place = Some(place);
                self.version = Version::default();
                self.stands_in = false;
                lock(self.notes).opening = None;
            }
            // It has been said.
            Err(_) => self.closed = Some(path),
        }
    }
}

/// One transaction, and what is to be done again when it does not come to its end.
struct Transaction<'a> {
    connection: &'a Connection,
    /// Why it will not.
    trouble: Option<StoreError>,
    changes: VecDeque<Change>,
}

impl Transaction<'_> {
    /// Makes a change, unless it is clear already that it would be undone.
    fn make(&mut self, change: Change) {
        if self.usable().is_ok() {
            match apart(self.connection, &change) {
                Err(error) if is_ours(&error) => {
                    // Nor would it be any better the next time.
                    tracing::error!(%error, "a change does not fit, and is left out");
                    return;
                }
                Err(error) => self.trouble = Some(error.into()),
                Ok(()) => {}
            }
        }
        self.changes.push_back(change);
    }

    /// Returns where changes are made, as long as they are not undone all the same.
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

/// Does one piece of work such that its failure undoes nothing else.
fn apart<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("SAVEPOINT one")?;
    let result = work(connection);
    if result.is_err() {
        // What has undone the whole transaction has undone this.
        let _ = connection.execute_batch("ROLLBACK TO one; RELEASE one");
        return result;
    }
    connection.execute_batch("RELEASE one")?;
    result
}

/// Whether an error is about what was to be written, not about where.
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
