//! Usage of skills: how often and how recently each was loaded.
//!
//! [`score`] orders skills by use: equal search results, completion, and whose description is cut
//! first in a listing.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skills_platform::lock::lock;

use super::Store;
use super::clock::now;
use super::columns::path_of;
use super::error::StoreError;
use super::writer::{StoreJob, Use};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub count: u64,
    /// Last load, in milliseconds since 1970.
    pub last: u64,
    pub score: f64,
}

/// Time after which a use counts half.
const HALF_LIFE: Duration = Duration::from_hours(7 * 24);

/// Minimum share of its first value that a use keeps.
const FLOOR: f64 = 0.1;

/// Returns the score of a skill that was loaded `count` times, last `age` ago:
/// `count × max(0.5^(age / 7 days), 0.1)`, the formula of Claude Code 2.1.330.
fn score(count: u64, age: Duration) -> f64 {
    let decay = 0.5_f64.powf(age.as_secs_f64() / HALF_LIFE.as_secs_f64());
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) * decay.max(FLOOR)
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
        let now = now();
        self.read(move |connection| {
            let mut query = connection.prepare("SELECT path, count, last FROM usage")?;
            let rows = query.query_map((), |row| {
                let (count, last): (i64, i64) = (row.get(1)?, row.get(2)?);
                let (count, last) = (count.cast_unsigned(), last.cast_unsigned());
                let score = score(count, Duration::from_millis(now.saturating_sub(last)));
                Ok((path_of(row, 0)?, Usage { count, last, score }))
            })?;
            rows.collect()
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_halves_in_a_week_and_keeps_a_tenth() {
        let days = |days: u64| Duration::from_hours(days * 24);
        let cases =
            [(0, 0, 0.0), (4, 0, 4.0), (4, 7, 2.0), (4, 14, 1.0), (4, 365, 0.4), (1, 1, 0.9057)];
        for (count, age, expected) in cases {
            let found = score(count, days(age));
            assert!((found - expected).abs() < 1e-4, "{count} uses {age} days ago: {found}");
        }
        assert!(score(u64::MAX, Duration::MAX).is_finite());
    }
}
