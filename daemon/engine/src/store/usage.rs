//! How often each skill was used, which decides whose description is cut first.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::session::path_of;
use super::{Store, StoreError, now};

/// How a skill was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How often it was loaded.
    pub count: u64,
    /// When last, in milliseconds since 1970.
    pub last: u64,
}

impl Store {
    /// Counts one more use of the skill of this SKILL.md. Nobody waits for that.
    pub fn count_use(&self, path: &Path) {
        let path = path.as_os_str().as_bytes().to_vec();
        let query = "INSERT INTO usage VALUES (?1, 1, ?2)
                     ON CONFLICT DO UPDATE SET count = count + 1, last = ?2";
        let at = now().cast_signed();
        self.leave(move |it| it.execute(query, params![path, at]).map(drop));
    }

    /// Returns how often each skill was used, by its SKILL.md.
    pub async fn usage(&self) -> Result<BTreeMap<PathBuf, Usage>, StoreError> {
        if !self.is_there() {
            // Nothing is made for a question.
            return Ok(BTreeMap::new());
        }
        self.ask(|connection| {
            let mut query = connection.prepare("SELECT path, count, last FROM usage")?;
            let rows = query.query_map((), |row| {
                let (count, last): (i64, i64) = (row.get(1)?, row.get(2)?);
                let usage = Usage { count: count.cast_unsigned(), last: last.cast_unsigned() };
                Ok((path_of(row, 0)?, usage))
            })?;
            rows.collect()
        })
        .await
    }
}
