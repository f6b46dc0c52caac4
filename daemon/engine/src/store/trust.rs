//! Which directories the user trusts, by their canonical paths.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, params};

use super::session::path_of;
use super::{Store, StoreError, now};

impl Store {
    /// Remembers whether the user trusts a directory, or forgets it. The path is the canonical one.
    pub async fn set_trust(&self, dir: &Path, trusted: Option<bool>) -> Result<(), StoreError> {
        let dir = dir.as_os_str().as_bytes().to_vec();
        self.perform(move |connection| {
            match trusted {
                Some(trusted) => connection.execute(
                    "INSERT INTO trust VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET trusted = ?2, at = ?3",
                    params![dir, trusted, now().cast_signed()],
                ),
                None => connection.execute("DELETE FROM trust WHERE dir = ?1", [dir]),
            }
            .map(drop)
        })
        .await
    }

    /// Returns whether the user trusts this very directory; none when nothing was said of it.
    pub async fn trust(&self, dir: &Path) -> Result<Option<bool>, StoreError> {
        let dir = dir.as_os_str().as_bytes().to_vec();
        let query = "SELECT trusted FROM trust WHERE dir = ?1";
        self.perform(move |it| it.query_row(query, [dir], |row| row.get(0)).optional()).await
    }

    /// Returns every directory of which something was said, by path.
    pub async fn trusts(&self) -> Result<Vec<(PathBuf, bool)>, StoreError> {
        self.perform(|connection| {
            let mut query = connection.prepare("SELECT dir, trusted FROM trust ORDER BY dir")?;
            let rows = query.query_map((), |row| Ok((path_of(row, 0)?, row.get(1)?)))?;
            rows.collect()
        })
        .await
    }
}
