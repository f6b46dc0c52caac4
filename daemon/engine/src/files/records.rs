//! [`Records`]: parsed skill records, shared by content hash.
//!
//! Worktrees of one repository contain the same skills, and skills are often copied. A record is a
//! function of a file's bytes, so equal files share one record, which is parsed once and dropped
//! with its last user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use skills_agents::skill::{FileFacts, SkillRecord};
use skills_platform::lock::lock;

/// Number of entries below which the table is never swept.
const MIN_SWEPT_ENTRIES: usize = 256;

/// Records in use, by content hash.
#[derive(Debug, Default)]
pub(crate) struct Records(Mutex<RecordTable>);

#[derive(Debug, Default)]
struct RecordTable {
    by_hash: HashMap<[u8; 32], Weak<SkillRecord>>,
    /// Number of entries that triggers the next sweep.
    sweep_at: usize,
}

impl Records {
    pub(crate) fn of(&self, bytes: &[u8], facts: FileFacts) -> Arc<SkillRecord> {
        let known = lock(&self.0).by_hash.get(&facts.hash).and_then(Weak::upgrade);
        // Two truncated files of different sizes may have equal leading bytes.
        if let Some(record) = known.filter(|it| it.facts == facts) {
            return record;
        }
        let record = Arc::new(SkillRecord::read(bytes, facts));
        let mut table = lock(&self.0);
        table.by_hash.insert(facts.hash, Arc::downgrade(&record));
        if table.by_hash.len() > table.sweep_at.max(MIN_SWEPT_ENTRIES) {
            // A dropped record's allocation lives as long as a weak reference to it.
            table.by_hash.retain(|_, it| it.strong_count() > 0);
            table.by_hash.shrink_to_fit();
            table.sweep_at = table.by_hash.len() * 2;
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(bytes: &[u8], truncated: bool) -> FileFacts {
        FileFacts { size: bytes.len() as u64, truncated, hash: *blake3::hash(bytes).as_bytes() }
    }

    #[test]
    fn equal_contents_share_a_record_while_in_use() {
        let records = Records::default();
        let of = |text: &str, cut| records.of(text.as_bytes(), facts(text.as_bytes(), cut));
        let (one, two, cut) = (of("---\nname: a\n---\n", false), of("b", false), of("b", true));
        assert!(Arc::ptr_eq(&one, &of("---\nname: a\n---\n", false)) && !Arc::ptr_eq(&two, &cut));
        drop((one, two, cut));
        for n in 0..MIN_SWEPT_ENTRIES * 3 {
            of(&n.to_string(), false);
        }
        assert!(
            lock(&records.0).by_hash.len() <= MIN_SWEPT_ENTRIES + 1,
            "what nobody shows is let go of"
        );
    }
}
