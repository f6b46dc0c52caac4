//! Trusted directories by canonical path, and trusted file contents.
//!
//! Trust applies to a directory. Execution is bound to content: the SKILL.md and scripts must be as
//! they were when the user granted trust, or approved later.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use skills_agents::profile::WalkBudget;

use super::Store;
use super::clock::now;
use super::columns::{abs_path_of, text_of};
use super::error::StoreError;
use crate::cancel::Cancel;
use crate::disk::content_hash;

/// Maximum number of directory entries searched for skills. Skills beyond it are not recorded and
/// need approval before they run.
const MAX_SEARCHED_ENTRIES: usize = 200_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Canonical path of the file.
    pub path: PathBuf,
    /// Hash of the whole file.
    pub hash: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustChange {
    /// Trusts it, with these contents of its files.
    Trust(Vec<Content>),
    /// Distrusts it.
    Distrust,
    /// Removes the decision.
    Remove,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTrust {
    /// Sequence number of the read in this process; higher is newer.
    pub nth: u64,
    /// Directories, with true for trusted and false for distrusted.
    pub decisions: Vec<(PathBuf, bool)>,
}

impl Content {
    /// Maximum size of a trusted file, in bytes. Larger files need approval before they run and are
    /// not read.
    pub const LARGEST: u64 = 256 * 1024 * 1024;

    /// Returns the content for a known hash of the whole file. Blocks on the disk for the canonical
    /// path.
    ///
    /// # Errors
    ///
    /// The file does not exist.
    pub fn from_hash(path: &Path, hash: [u8; 32]) -> io::Result<Self> {
        Ok(Self { path: fs::canonicalize(path)?, hash })
    }

    /// Returns a file's commands with a call's arguments filled in, as a content of their own:
    /// trust of the file does not cover them. Blocks on the disk for the canonical path.
    ///
    /// # Errors
    ///
    /// The file does not exist.
    pub fn from_commands(path: &Path, commands: &[u8]) -> io::Result<Self> {
        let hash = content_hash(commands);
        let mut path = fs::canonicalize(path)?.into_os_string();
        // No file path contains a NUL byte.
        path.push("\0");
        path.push(OsStr::from_bytes(&hash));
        Ok(Self { path: path.into(), hash })
    }

    /// Returns the files of skills and commands in a directory, by the paths found. Searches level
    /// by level, as deep as a search root, so that a huge directory does not hide those near the
    /// top. Ends early once `cancel` is set. Blocks on the disk.
    pub fn skills_below(dir: &Path, cancel: &Cancel) -> Vec<PathBuf> {
        let (mut found, mut n_left) = (Vec::new(), MAX_SEARCHED_ENTRIES);
        let mut level = vec![dir.to_owned()];
        // The directory itself may be below one of this name.
        let in_commands = |path: &Path| {
            let below = path.strip_prefix(dir).unwrap_or(path);
            below.components().any(|it| it.as_os_str() == "commands")
        };
        for _ in 0..=WalkBudget::DEFAULT.depth {
            let mut below = Vec::new();
            for dir in level.iter().take_while(|_| !cancel.is_cancelled()) {
                for entry in fs::read_dir(dir).into_iter().flatten().flatten().take(n_left) {
                    n_left -= 1;
                    let (path, name, kind) =
                        (entry.path(), entry.file_name(), entry.file_type().ok());
                    let is_command =
                        || path.extension().is_some_and(|it| it == "md") && in_commands(&path);
                    if name == ".git" {
                        continue;
                    }
                    if name == "SKILL.md" || is_command() {
                        found.push(path.clone());
                    } else if kind.is_some_and(|it| it.is_symlink()) {
                        // A skill's directory may be a link; links deeper in it are not followed.
                        found.push(path.join("SKILL.md"));
                    }
                    if kind.is_some_and(|it| it.is_dir()) {
                        below.push(path);
                    }
                }
            }
            level = below;
        }
        found
    }
}

impl Store {
    /// Sets or removes the trust decision for a directory, given by its canonical path.
    pub async fn set_trust(&self, dir: &Path, change: TrustChange) -> Result<(), StoreError> {
        let dir = dir.as_os_str().as_bytes().to_vec();
        self.perform(move |connection| {
            let below = [&dir[..], b"/"].concat();
            let query = "DELETE FROM trusted_content WHERE substr(path, 1, length(?1)) = ?1";
            connection.execute(query, [below])?;
            let (trusted, contents) = match change {
                TrustChange::Trust(contents) => (Some(true), contents),
                TrustChange::Distrust => (Some(false), Vec::new()),
                TrustChange::Remove => (None, Vec::new()),
            };
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

    /// Reads all decisions, by path. Creates no file. A row that cannot be decoded trusts nothing,
    /// and health reports it.
    pub async fn trust_decisions(&self) -> Result<StoredTrust, StoreError> {
        if !self.is_there().await? {
            return Ok(StoredTrust::default());
        }
        let external_writes = Arc::clone(&self.shared.external_writes);
        let read = self.read(move |connection| {
            let nth = external_writes.next_reading();
            let mut query = connection.prepare("SELECT dir, trusted FROM trust ORDER BY dir")?;
            let mut rows = query.query(())?;
            let (mut decisions, mut damaged) = (Vec::new(), Vec::new());
            while let Some(row) = rows.next()? {
                let (dir, trusted) = (abs_path_of(row, 0), row.get(1));
                if let Some(error) = dir.as_ref().err().or(trusted.as_ref().err()) {
                    damaged.push((text_of(row, 0)?, error.to_string()));
                }
                decisions.extend(dir.map(|it| (it.into_path_buf(), trusted.unwrap_or(false))));
            }
            Ok((StoredTrust { nth, decisions }, damaged))
        });
        let (decisions, damaged) = read.await?;
        for (dir, error) in damaged {
            let message = format!("failed to read the trust decision on `{dir}`: {error}");
            self.report_damage(message, "Run `skillsd trust` again in that directory.");
        }
        Ok(decisions)
    }

    pub async fn trust_content(&self, contents: Vec<Content>) {
        self.save(move |connection| insert(connection, &contents)).await;
    }

    pub async fn is_trusted_content(&self, content: Content) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM trusted_content WHERE path = ?1 AND hash = ?2";
        let path = content.path.as_os_str().as_bytes().to_vec();
        let found = self.read(move |it| {
            it.query_row(query, params![path, content.hash], |_| Ok(())).optional()
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_below_the_directory_and_not_above_it() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("commands/w");
        let [readme, command, skill] =
            ["docs/x.md", ".claude/commands/a/b.md", "s/SKILL.md"].map(|it| dir.join(it));
        for path in [&readme, &command, &skill] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut found = Content::skills_below(&dir, &Cancel::default());
        found.sort();
        assert_eq!(found, [command, skill]);
    }
}
