//! Usage counts of skills, which decide whose description is cut first.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Store;
use super::clock::now;
use super::columns::path_of;
use super::error::StoreError;
use super::writer::{StoreJob, Use};
use crate::lock::lock;

/// Usage of a skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of loads.
    pub count: u64,
    /// Time of the last load, in milliseconds since 1970.
    pub last: u64,
}

impl Store {
    /// Counts one use of the skill with this SKILL.md. Does not wait; uses close in time share a
    /// commit, and later reads include them.
    pub fn count_use(&self, path: &Path) {
        let path = path.as_os_str().as_bytes().to_vec();
        let at = now().cast_signed();
        let mut uses = lock(&self.shared.uses);
        uses.push(Use { path, at });
        if uses.len() == 1 && self.jobs().send(StoreJob::Uses).is_err() {
            tracing::error!("the store has stopped; uses of skills are not counted");
        }
    }

    /// Returns the usage of each skill, by its SKILL.md.
    pub async fn usage(&self) -> Result<BTreeMap<PathBuf, Usage>, StoreError> {
        if !self.is_there().await? {
            // A read creates no file.
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
