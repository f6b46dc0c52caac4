//! [`ResponseCache`]: serialised answers and look-up tables of one view.
//!
//! The server serialises the answers; this module only keeps their text.
//! A view is immutable, so each entry is built at most once, on first use, and dropped with the
//! view.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;
use serde_json::value::RawValue;
use skills_discovery::discover::{Candidate, Resolution, SkillState};
use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

use crate::files::skill_file::SKILL_FILE;
use crate::views::search::{Document, SearchError, SearchIndex};
use crate::views::snapshot_index::{SnapshotIndex, ViewParts};

/// Maximum number of cached snapshot indexes per first profile; editors share few selections.
const MAX_SNAPSHOT_INDEXES: usize = 4;

/// Cached answers of one view. Numbers are candidate indexes.
#[derive(Debug, Default)]
pub struct ResponseCache {
    /// `None` if the whole list does not fit into one answer.
    default_list: OnceLock<Option<Bytes>>,
    /// List entries, each serialised on first use.
    entries: OnceLock<Box<[OnceLock<Box<RawValue>>]>>,
    /// Answers of `skills/get`.
    got: OnceLock<Box<[OnceLock<Bytes>]>>,
    /// Candidates sorted by name; the one that wins its name is first.
    by_name: OnceLock<Box<[u32]>>,
    /// Candidates sorted by path.
    by_path: OnceLock<Box<[u32]>>,
    /// Locked while it is built, so that it is built once.
    search: Mutex<Option<Arc<SearchIndex>>>,
    /// Indexes of snapshots whose first view is this one. Locked while one is built.
    snapshot_indexes: Mutex<Vec<KeptSnapshotIndex>>,
}

#[derive(Debug)]
struct KeptSnapshotIndex {
    /// Views of the snapshot.
    of: Box<[Weak<Resolution>]>,
    snapshot_index: Arc<SnapshotIndex>,
}

impl KeptSnapshotIndex {
    fn is_of(&self, views: &[ViewParts]) -> bool {
        let same =
            |(a, b): (&Weak<Resolution>, &ViewParts)| std::ptr::eq(a.as_ptr(), Arc::as_ptr(&b.1));
        self.of.len() == views.len() && self.of.iter().zip(views).all(same)
    }
}

impl ResponseCache {
    /// Returns true if the default list is made.
    pub fn has_default_list(&self) -> bool {
        self.default_list.get().is_some()
    }

    /// Returns the default list; `None` if `make` cannot fit it into one answer.
    pub fn default_list(&self, make: impl FnOnce() -> Option<Bytes>) -> Option<Bytes> {
        self.default_list.get_or_init(make).clone()
    }

    /// Returns the list entry of a candidate; calls `make` on first use.
    pub fn entry(
        &self,
        resolution: &Resolution,
        candidate_idx: usize,
        make: impl FnOnce() -> Box<RawValue>,
    ) -> &RawValue {
        let entries = self.entries.get_or_init(|| slots(resolution.candidates.len()));
        entries[candidate_idx].get_or_init(make)
    }

    /// Returns the `skills/get` answer of a candidate; calls `make` on first use.
    pub fn got<E>(
        &self,
        resolution: &Resolution,
        candidate_idx: usize,
        make: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let n_candidates = resolution.candidates.len();
        let got = self.got.get_or_init(|| slots(n_candidates));
        let slot = &got[candidate_idx];
        if let Some(answer) = slot.get() {
            return Ok(answer.clone());
        }
        let answer = make()?;
        Ok(slot.get_or_init(|| answer).clone())
    }

    /// Returns true if the full-text index is built. Does not wait for a build in progress.
    pub fn has_search_index(&self) -> bool {
        self.search.try_lock().is_ok_and(|it| it.is_some())
    }

    /// Returns the full-text index of all candidates. Blocks while it is built.
    pub fn search_index(&self, resolution: &Resolution) -> Result<Arc<SearchIndex>, SearchError> {
        let mut kept = lock(&self.search);
        if let Some(index) = &*kept {
            return Ok(Arc::clone(index));
        }
        let documents = resolution.candidates.iter().map(|it| {
            let with_text = resolution.with_text(it);
            let description = with_text.and_then(|it| it.description.as_deref());
            Document::new(&it.name, description, with_text.and_then(Candidate::record))
        });
        let index = Arc::new(SearchIndex::new(documents)?);
        *kept = Some(Arc::clone(&index));
        Ok(index)
    }

    /// Returns the index of a snapshot of `views`, the first of which owns this cache. Calls `make`
    /// on first use and blocks while it is built. Keeps nothing if `make` returns none.
    pub fn snapshot_index(
        &self,
        views: &[ViewParts],
        make: impl FnOnce(&[ViewParts]) -> Option<SnapshotIndex>,
    ) -> Option<Arc<SnapshotIndex>> {
        let mut kept = lock(&self.snapshot_indexes);
        kept.retain(|it| it.of.iter().all(|it| it.strong_count() > 0));
        if let Some(kept) = kept.iter().find(|it| it.is_of(views)) {
            return Some(Arc::clone(&kept.snapshot_index));
        }
        let snapshot_index = Arc::new(make(views)?);
        if kept.len() == MAX_SNAPSHOT_INDEXES {
            kept.remove(0);
        }
        let of = views.iter().map(|it| Arc::downgrade(&it.1)).collect();
        kept.push(KeptSnapshotIndex { of, snapshot_index: Arc::clone(&snapshot_index) });
        Some(snapshot_index)
    }

    /// Returns the candidate that wins `name`.
    pub fn by_name(&self, resolution: &Resolution, name: &str) -> Option<usize> {
        let candidates = &resolution.candidates;
        let sorted = self.by_name.get_or_init(|| {
            sorted_by(candidates, |a, b| {
                a.name.cmp(&b.name).then(rank(a.state).cmp(&rank(b.state)))
            })
        });
        let at = sorted.partition_point(|it| *candidates[*it as usize].name < *name);
        let found = *sorted.get(at)? as usize;
        (candidates[found].name == name).then_some(found)
    }

    /// Returns the candidate whose SKILL.md or directory is at `path`.
    pub fn by_path(&self, resolution: &Resolution, path: &AbsPath) -> Option<usize> {
        let candidates = &resolution.candidates;
        let sorted = self.by_path.get_or_init(|| sorted_by(candidates, |a, b| a.path.cmp(&b.path)));
        let find = |path: &AbsPath| {
            let at = sorted.binary_search_by(|it| candidates[*it as usize].path.cmp(path)).ok()?;
            Some(sorted[at] as usize)
        };
        find(path).or_else(|| find(&path.child(SKILL_FILE)))
    }
}

fn slots<T>(count: usize) -> Box<[OnceLock<T>]> {
    (0..count).map(|_| OnceLock::new()).collect()
}

fn sorted_by(
    candidates: &[Candidate],
    compare: impl Fn(&Candidate, &Candidate) -> std::cmp::Ordering,
) -> Box<[u32]> {
    let mut indexes: Box<[u32]> = (0..candidates.len() as u32).collect();
    // A stable sort keeps scan order among equal names.
    indexes.sort_by(|a, b| compare(&candidates[*a as usize], &candidates[*b as usize]));
    indexes
}

fn rank(state: SkillState) -> usize {
    SkillState::ALL.iter().position(|it| *it == state).unwrap_or(SkillState::ALL.len())
}
