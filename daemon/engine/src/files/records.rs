//! What files say, once for each content.
//!
//! Worktrees of one repository hold the same skills, and so does a skill that is copied about: a
//! record is a function of a file's bytes, so all who read the same share one, and it is parsed
//! once. A record lives as long as somebody shows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use skills_agents::skill::{FileFacts, SkillRecord};

/// From how many contents on it is looked for those that nobody shows any more.
const FEW: usize = 256;

/// The records in use, by the hash of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Records(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    by_hash: HashMap<[u8; 32], Weak<SkillRecord>>,
    /// At how many it is swept next.
    sweep_at: usize,
}

impl Records {
    /// Returns the record of a file with these bytes.
    pub(crate) fn of(&self, bytes: &[u8], facts: FileFacts) -> Arc<SkillRecord> {
        let known = self.lock().by_hash.get(&facts.hash).and_then(Weak::upgrade);
        // Of a file that was cut off, as many bytes may be read of one of another size.
        if let Some(record) = known.filter(|it| it.facts == facts) {
            return record;
        }
        let record = Arc::new(SkillRecord::read(bytes, facts));
        let mut table = self.lock();
        table.by_hash.insert(facts.hash, Arc::downgrade(&record));
        if table.by_hash.len() > table.sweep_at.max(FEW) {
            // A forgotten record keeps its room until this lets go of it.
            table.by_hash.retain(|_, it| it.strong_count() > 0);
            table.by_hash.shrink_to_fit();
            table.sweep_at = table.by_hash.len() * 2;
        }
        record
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // One entry is put in at a time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(bytes: &[u8], truncated: bool) -> FileFacts {
        FileFacts { size: bytes.len() as u64, truncated, hash: *blake3::hash(bytes).as_bytes() }
    }

    #[test]
    fn equal_contents_share_a_record_as_long_as_one_is_shown() {
        let records = Records::default();
        let of = |text: &str, cut| records.of(text.as_bytes(), facts(text.as_bytes(), cut));
        let (one, two, cut) = (of("---\nname: a\n---\n", false), of("b", false), of("b", true));
        assert!(Arc::ptr_eq(&one, &of("---\nname: a\n---\n", false)) && !Arc::ptr_eq(&two, &cut));
        drop((one, two, cut));
        for n in 0..FEW * 3 {
            of(&n.to_string(), false);
        }
        assert!(records.lock().by_hash.len() <= FEW + 1, "what nobody shows is let go of");
    }
}
