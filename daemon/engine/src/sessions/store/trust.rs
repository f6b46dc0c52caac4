//! Which directories the user trusts, by their canonical paths, and which files as they were then.
//!
//! Trust is for a directory. What runs is bound to more: to the content that a SKILL.md and the
//! scripts beside it had when the user gave trust, or agreed to them since.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use rusqlite::{Connection, OptionalExtension, params};

use super::session::path_of;
use super::{Store, StoreError, now};
use crate::cancel::Cancel;
use crate::files::disk::{self, ReadError, content_hash, content_hash_of};

/// How many entries of a directory are looked at for skills. What lies beyond is not known, and
/// asks before it runs.
const MOST: usize = 1_000_000;

/// A file and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its canonical path.
    pub path: PathBuf,
    /// The hash of the whole of it.
    pub hash: [u8; 32],
}

/// What was said about directories at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Which reading of this process it is: of two the one with the greater number is newer.
    pub nth: u64,
    /// The directories, and whether they are trusted.
    pub said: Vec<(PathBuf, bool)>,
}

impl Content {
    /// How large a file may be that is trusted, in bytes. What is larger asks before it runs, and
    /// costs nobody the reading of it.
    pub const LARGEST: u64 = 256 * 1024 * 1024;

    /// Reads the whole of a file: what is trusted has no part that nobody has seen. Blocks on the
    /// disk.
    ///
    /// # Errors
    /// It cannot be read, is not a regular file, or is larger than anybody writes.
    pub fn read(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let file = disk::open(&path).map_err(|error| match error {
            ReadError::Io(error) => error,
            ReadError::NotRegular(_) | ReadError::Outside(_) | ReadError::Changing => {
                io::Error::other("it is not a regular file")
            }
        })?;
        // What grows while it is read would have no end.
        let size = file.metadata()?.len();
        if size > Self::LARGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Self { hash: content_hash_of(file.take(size))?, path })
    }

    /// Returns what was read of a file before: `hash` is that of the whole of it. Blocks on the
    /// disk for the canonical path.
    ///
    /// # Errors
    /// The file is gone.
    pub fn known(path: &Path, hash: [u8; 32]) -> io::Result<Self> {
        Ok(Self { path: fs::canonicalize(path)?, hash })
    }

    /// Returns commands of a file as a call has filled them in. They stand for themselves: what the
    /// file holds is trusted apart from them. Blocks on the disk for the canonical path.
    ///
    /// # Errors
    /// The file is gone.
    pub fn filled(path: &Path, commands: &[u8]) -> io::Result<Self> {
        let hash = content_hash(commands);
        let mut path = fs::canonicalize(path)?.into_os_string();
        // No path of a file has such a part.
        path.push("\0");
        path.push(OsStr::from_bytes(&hash));
        Ok(Self { path: path.into(), hash })
    }

    /// Returns the files of skills and commands in a directory, as they are found: by whichever
    /// links lead to them. Ends early once `cancel` is set. Blocks on the disk.
    pub fn skills_below(dir: &Path, cancel: &Cancel) -> Vec<PathBuf> {
        let walk = WalkBuilder::new(dir)
            .standard_filters(false)
            .filter_entry(|it| it.file_name() != ".git")
            .build();
        let mut found = Vec::new();
        for entry in walk.flatten().take(MOST).take_while(|_| !cancel.is_cancelled()) {
            let path = entry.path();
            let is_link = entry.path_is_symlink();
            let skill = match path.file_name().and_then(|it| it.to_str()) {
                Some("SKILL.md") => path.to_owned(),
                Some(_) if path.extension().is_some_and(|it| it == "md") && in_commands(path) => {
                    path.to_owned()
                }
                // A directory of a skill may be a link; what is deeper in it is not followed.
                Some(_) if is_link => path.join("SKILL.md"),
                Some(_) | None => continue,
            };
            found.push(skill);
        }
        found
    }
}

fn in_commands(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str() == "commands")
}

impl Store {
    /// Remembers whether the user trusts a directory, or forgets it. The path is the canonical one.
    /// With trust go the files in it as they are: `contents`.
    pub async fn set_trust(
        &self,
        dir: &Path,
        trusted: Option<bool>,
        contents: Vec<Content>,
    ) -> Result<(), StoreError> {
        let dir = dir.as_os_str().as_bytes().to_vec();
        self.perform(move |connection| {
            let below = [&dir[..], b"/"].concat();
            let query = "DELETE FROM trusted_content WHERE substr(path, 1, length(?1)) = ?1";
            connection.execute(query, [below])?;
            match trusted {
                Some(trusted) => connection.execute(
                    "INSERT INTO trust VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET trusted = ?2, at = ?3",
                    params![dir, trusted, now().cast_signed()],
                )?,
                None => connection.execute("DELETE FROM trust WHERE dir = ?1", [&dir])?,
            };
            insert(connection, &contents)
        })
        .await
    }

    /// Returns whether the user trusts this very directory; none when nothing was said of it.
    pub async fn trust(&self, dir: &Path) -> Result<Option<bool>, StoreError> {
        let dir = dir.as_os_str().as_bytes().to_vec();
        let query = "SELECT trusted FROM trust WHERE dir = ?1";
        self.ask(move |it| it.query_row(query, [dir], |row| row.get(0)).optional()).await
    }

    /// Reads every directory of which something was said, by path. Where nothing is kept yet the
    /// file is not made for it.
    pub async fn trusts(&self) -> Result<Said, StoreError> {
        if !self.is_there().await? {
            return Ok(Said::default());
        }
        let elsewhere = Arc::clone(&self.shared.elsewhere);
        self.ask(move |connection| {
            let nth = elsewhere.next_reading();
            let mut query = connection.prepare("SELECT dir, trusted FROM trust ORDER BY dir")?;
            let rows = query.query_map((), |row| Ok((path_of(row, 0)?, row.get(1)?)))?;
            Ok(Said { nth, said: rows.collect::<Result<_, _>>()? })
        })
        .await
    }

    /// Trusts files as they are.
    pub async fn trust_content(&self, contents: Vec<Content>) {
        self.keep(move |connection| insert(connection, &contents)).await;
    }

    /// Returns whether a file is as the user has trusted it.
    pub async fn is_trusted_content(&self, content: Content) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM trusted_content WHERE path = ?1 AND hash = ?2";
        let path = content.path.as_os_str().as_bytes().to_vec();
        let found = self
            .ask(move |it| it.query_row(query, params![path, content.hash], |_| Ok(())).optional());
        Ok(found.await?.is_some())
    }
}

fn insert(connection: &Connection, contents: &[Content]) -> rusqlite::Result<()> {
    let query = "INSERT OR REPLACE INTO trusted_content VALUES (?1, ?2)";
    let mut query = connection.prepare_cached(query)?;
    for Content { path, hash } in contents {
        query.execute(params![path.as_os_str().as_bytes(), hash])?;
    }
    Ok(())
}
