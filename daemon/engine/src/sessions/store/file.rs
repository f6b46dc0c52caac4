//! The database file: opening, schema upgrades, and setting damaged files aside.
//!
//! A file that SQLite cannot read is renamed with a timestamp and a new one is created, so that
//! damage does not stop the daemon and the data stays recoverable. A file of a newer skillsd is
//! left unchanged.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use time::UtcDateTime;

use super::clock::now;
use super::file_identity::FileIdentity;
use crate::health::Health;

/// Schema version. A change of the tables takes the next number and a migration step.
const VERSION: i64 = 3;

/// Timeout for another daemon of the same user to release the file.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Number of looks at an empty file before it counts as truncated, and the pause between them.
const EMPTY_LOOKS: u32 = 20;
const EMPTY_PAUSE: Duration = Duration::from_millis(25);

const TABLES: &str = "
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    cwd BLOB NOT NULL,
    profile TEXT NOT NULL,
    environment BLOB NOT NULL,
    additional BLOB NOT NULL,
    auto INTEGER NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL
) STRICT;
CREATE INDEX session_used ON session (used);
CREATE TABLE discovered (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    dir BLOB NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (session, dir)
) STRICT, WITHOUT ROWID;
CREATE TABLE activated (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    path BLOB NOT NULL,
    pattern TEXT NOT NULL,
    file BLOB NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE announced (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    agent TEXT NOT NULL,
    path BLOB NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (session, agent, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE invoked (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    agent TEXT NOT NULL,
    path BLOB NOT NULL,
    turn INTEGER NOT NULL,
    name TEXT NOT NULL,
    args TEXT,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, agent, path)
) STRICT;
CREATE TABLE granted (
    number INTEGER PRIMARY KEY,
    worktree BLOB NOT NULL,
    session TEXT,
    permission TEXT NOT NULL,
    pattern TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX granted_once
    ON granted (worktree, IFNULL(session, ''), permission, pattern);
CREATE TABLE usage (
    path BLOB PRIMARY KEY,
    count INTEGER NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE trust (
    dir BLOB PRIMARY KEY,
    trusted INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Tables added by version 2: trusted file contents, and hooks of sessions.
const SECOND: &str = "
CREATE TABLE trusted_content (
    path BLOB PRIMARY KEY,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE hook (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    path BLOB NOT NULL,
    name TEXT NOT NULL,
    plugin BLOB,
    place BLOB,
    event TEXT NOT NULL,
    matcher TEXT NOT NULL,
    handler TEXT NOT NULL,
    once INTEGER NOT NULL
) STRICT;
CREATE INDEX hook_session ON hook (session);
";

/// Column added by version 3: the list of skills that an agent knows, as JSON.
const THIRD: &str = "ALTER TABLE session ADD COLUMN known_list TEXT;";

pub(super) struct OpenedFile {
    /// None if even an in-memory database fails.
    pub(super) connection: Option<Connection>,
    /// Identity of the open file; none for a store in memory.
    pub(super) identity: Option<FileIdentity>,
    pub(super) health: Option<Health>,
    /// True if a later attempt may succeed.
    pub(super) may_retry: bool,
    /// True if an in-memory database replaces the file.
    pub(super) is_in_memory: bool,
}

/// Reasons why a file is not used.
pub(super) enum Refusal {
    /// Not a readable database.
    Damaged(String),
    /// Written by a newer version.
    Newer(i64),
    /// Any other error.
    Failed(String),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Opens the file, or an in-memory database in its place.
pub(super) fn open(path: Option<&Path>) -> OpenedFile {
    let Some(path) = path else { return in_memory(None) };
    let health = |message: String, hint| Health {
        code: "store",
        message,
        hint,
        path: Some(path.as_os_str().to_owned()),
    };
    match open_file(path) {
        Ok(file) => opened_file(file, None),
        Err(Refusal::Damaged(why)) => {
            let aside = set_aside(path);
            match aside.and_then(|aside| Ok((aside, open_file(path)?))) {
                Ok((aside, file)) => {
                    let message = format!(
                        "the session store was damaged ({why}) and is set aside as `{}`; sessions start empty",
                        aside.display()
                    );
                    let hint = "Delete the damaged file if you do not need it.";
                    opened_file(file, Some(health(message, hint)))
                }
                Err(refusal) => in_memory(Some(health(
                    format!(
                        "the session store is damaged ({why}) and cannot be set aside ({}); changes of sessions are not saved",
                        refusal.reason()
                    ),
                    "Move the file away and run `skillsd stop`; the next command starts a new daemon.",
                ))),
            }
        }
        Err(refusal @ Refusal::Newer(_)) => in_memory(Some(health(
            format!("changes of sessions are not saved: {}", refusal.reason()),
            "Update skillsd, or move the file away; then run `skillsd stop`.",
        ))),
        Err(refusal) => {
            let message = format!("changes of sessions are not saved yet: {}", refusal.reason());
            let hint = "Free disk space, or make the state directory usable. Until then, changes are lost if skillsd exits.";
            OpenedFile { may_retry: true, ..in_memory(Some(health(message, hint))) }
        }
    }
}

impl Refusal {
    fn reason(&self) -> String {
        match self {
            Self::Damaged(why) | Self::Failed(why) => why.clone(),
            Self::Newer(version) => {
                format!("a newer skillsd wrote the file (version {version}, not {VERSION})")
            }
        }
    }
}

fn opened(connection: Connection, health: Option<Health>) -> OpenedFile {
    let connection = Some(connection);
    OpenedFile { connection, identity: None, health, may_retry: false, is_in_memory: false }
}

fn opened_file(
    (connection, identity): (Connection, FileIdentity),
    health: Option<Health>,
) -> OpenedFile {
    OpenedFile { identity: Some(identity), ..opened(connection, health) }
}

fn in_memory(health: Option<Health>) -> OpenedFile {
    let is_in_memory = health.is_some();
    let connection = Connection::open_in_memory().map_err(Refusal::from).and_then(|connection| {
        prepare(&connection)?;
        Ok(connection)
    });
    match connection {
        Ok(connection) => OpenedFile { is_in_memory, ..opened(connection, health) },
        Err(refusal) => {
            tracing::error!(error = refusal.reason(), "failed to open even a store in memory");
            OpenedFile { connection: None, identity: None, health, may_retry: false, is_in_memory }
        }
    }
}

pub(super) fn open_file(path: &Path) -> Result<(Connection, FileIdentity), Refusal> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        if fs::metadata(directory)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
        }
    }
    // SQLite creates its other files with the mode of this one.
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let (file, is_new) = match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (options.open(path)?, false),
        made => (made?, true),
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    if !is_new && stays_empty(&file)? {
        return Err(Refusal::Damaged("it has 0 bytes".to_owned()));
    }
    let opened = connect(path, file);
    if is_new && opened.is_err() && fs::metadata(path).is_ok_and(|it| it.len() == 0) {
        // The next attempt would take it for a truncated one.
        let _ = fs::remove_file(path);
    }
    opened
}

/// Returns whether a file remains empty. Another process writes to the file that it has just
/// created.
fn stays_empty(file: &fs::File) -> io::Result<bool> {
    for _ in 0..EMPTY_LOOKS {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > 0 {
            return Ok(false);
        }
        thread::sleep(EMPTY_PAUSE);
    }
    Ok(true)
}

fn connect(path: &Path, file: fs::File) -> Result<(Connection, FileIdentity), Refusal> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(TIMEOUT)?;
    // A kill at any moment keeps all commits; only a power failure may lose some.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let sound: String = connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if sound != "ok" {
        return Err(Refusal::Damaged(sound));
    }
    prepare(&connection)?;
    // At close time another file may be at this path; its log is not ours.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let identity = FileIdentity::new(path, file)?;
    if let Some(why) = identity.lost() {
        return Err(Refusal::Failed(why));
    }
    Ok((connection, identity))
}

fn prepare(connection: &Connection) -> Result<(), Refusal> {
    // Half a megabyte; sessions are read once and cached by callers.
    connection.pragma_update(None, "cache_size", -512)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let version: i64 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    let steps: &[&str] = match version {
        0 => &[TABLES, SECOND, THIRD],
        1 => &[SECOND, THIRD],
        2 => &[THIRD],
        VERSION => &[],
        newer => {
            connection.execute_batch("ROLLBACK")?;
            return Err(Refusal::Newer(newer));
        }
    };
    for step in steps {
        connection.execute_batch(step)?;
    }
    if !steps.is_empty() {
        connection.pragma_update(None, "user_version", VERSION)?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// Renames the file and SQLite's files beside it.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, Refusal> {
    let with = |suffix: &str| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let aside = format!(".damaged-{}", date(now() / 1000));
    for suffix in ["-wal", "-shm"] {
        match fs::rename(with(suffix), with(&format!("{aside}{suffix}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    fs::rename(path, with(&aside))?;
    Ok(with(&aside))
}

/// Returns a time as `2026-11-21T13-45-00`, in UTC.
fn date(seconds: u64) -> String {
    let at = UtcDateTime::from_unix_timestamp(seconds.cast_signed());
    // A clock that is wrong by millennia must not keep the file from being renamed.
    let at = at.unwrap_or(UtcDateTime::UNIX_EPOCH);
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second) = at.as_hms();
    format!("{year:04}-{:02}-{day:02}T{hour:02}-{minute:02}-{second:02}", u8::from(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_file_is_set_aside_and_a_missing_one_is_not_reported() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sessions.db");
        assert!(open(Some(&path)).health.is_none());
        fs::write(&path, "").expect("truncated");
        let said = open(Some(&path)).health.expect("it is reported");
        assert!(said.message.contains("was damaged (it has 0 bytes) and is set aside"), "{said:?}");
        assert!(open(Some(&path)).health.is_none());
    }

    #[test]
    fn file_of_an_older_version_is_upgraded_with_its_sessions() {
        for (version, tables) in [(1, TABLES.to_owned()), (2, [TABLES, SECOND].concat())] {
            let connection = Connection::open_in_memory().expect("memory");
            connection.execute_batch(&tables).expect("tables");
            let session = "INSERT INTO session (id, cwd, profile, environment, additional, auto, created, used)
                           VALUES ('s', x'2f', 'codex', x'', x'', 0, 1, 2)";
            connection.execute_batch(session).expect("a session");
            connection.pragma_update(None, "user_version", version).expect("a version");
            assert!(prepare(&connection).is_ok(), "{version}");
            let found = super::super::session::load(&connection, "s").expect("readable");
            let found = found.expect("the session is kept");
            assert_eq!((&*found.profile, found.known_list), ("codex", None));
            let upgraded: i64 =
                connection.query_row("PRAGMA user_version", (), |row| row.get(0)).expect("one");
            assert_eq!(upgraded, VERSION);
            assert!(prepare(&connection).is_ok());
        }
    }

    #[test]
    fn date_matches_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00-00-00");
        assert_eq!(date(951_782_400), "2000-02-29T00-00-00");
        assert_eq!(date(1_795_268_700), "2026-11-21T13-45-00");
    }
}
