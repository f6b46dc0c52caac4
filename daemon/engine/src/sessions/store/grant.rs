//! Permanent permissions that the user granted with `always`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::{Row, params};

use super::Store;
use super::clock::now;
use super::columns::text_of;
use super::error::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Session that it applies to; none for the whole worktree.
    pub session: Option<String>,
    /// Kind of permission, for example `skill`.
    pub permission: String,
    /// Permitted pattern.
    pub pattern: String,
}

impl Store {
    /// Saves permissions for a worktree. Existing ones stay.
    pub async fn grant(&self, worktree: &Path, grants: Vec<Grant>) {
        let worktree = worktree.as_os_str().as_bytes().to_vec();
        let at = now().cast_signed();
        self.save(move |connection| {
            for Grant { session, permission, pattern } in &grants {
                connection.execute(
                    "INSERT OR IGNORE INTO granted (worktree, session, permission, pattern, at)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![worktree, session, permission, pattern, at],
                )?;
            }
            Ok(())
        })
        .await;
    }

    /// Returns whether the permission existed.
    pub async fn revoke(&self, worktree: &Path, grant: Grant) -> Result<bool, StoreError> {
        let worktree = worktree.as_os_str().as_bytes().to_vec();
        let query = "DELETE FROM granted WHERE worktree = ?1 AND session IS ?2
                     AND permission = ?3 AND pattern = ?4";
        self.perform(move |connection| {
            let Grant { session, permission, pattern } = grant;
            Ok(connection.execute(query, params![worktree, session, permission, pattern])? > 0)
        })
        .await
    }

    /// Returns the permissions of a worktree and of this session, in the order of granting. A row
    /// that cannot be decoded allows nothing, and health reports it.
    pub async fn grants(
        &self,
        worktree: &Path,
        session: Option<&str>,
    ) -> Result<Vec<Grant>, StoreError> {
        let shown = worktree.display().to_string();
        let worktree = worktree.as_os_str().as_bytes().to_vec();
        let session = session.map(str::to_owned);
        let read = self.read(move |connection| {
            let mut query = connection.prepare(
                "SELECT session, permission, pattern FROM granted
                 WHERE worktree = ?1 AND (session IS NULL OR session = ?2) ORDER BY number",
            )?;
            let mut rows = query.query(params![worktree, session])?;
            let (mut grants, mut damaged) = (Vec::new(), Vec::new());
            while let Some(row) = rows.next()? {
                match grant_of(row) {
                    Ok(grant) => grants.push(grant),
                    Err(error) => damaged.push((text_of(row, 2)?, error.to_string())),
                }
            }
            Ok((grants, damaged))
        });
        let (grants, damaged) = read.await?;
        for (pattern, error) in damaged {
            let message = format!("failed to read the grant of `{pattern}` in `{shown}`: {error}");
            self.report_damage(message, "Allow it again when skillsd asks.");
        }
        Ok(grants)
    }
}

fn grant_of(row: &Row<'_>) -> rusqlite::Result<Grant> {
    let (session, permission, pattern) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(Grant { session, permission, pattern })
}
