//! What is kept with a view: its answers in their wire form, and where each skill is in it.
//!
//! A view never changes, so each of these is made at most once, when it is first asked for,
//! and goes with the view. What nobody asks for costs nothing.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde_json::value::{RawValue, to_raw_value};
use skills_discovery::discover::{Candidate, SkillState};
use skills_engine::View;
use skills_engine::views::search::{Document, SearchError, SearchIndex};
use skills_syntax::path::AbsPath;

use crate::api::snapshot_index::SnapshotIndex;
use crate::api::to_wire;
use crate::rpc::answer::{Answer, Outcome};

/// What every skill's file is called.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// How many selections of profiles are kept that begin with the same one: editors are configured
/// alike.
const MOST_LINEUPS: usize = 4;

/// The answers of one view. Numbers are indexes of its candidates.
#[derive(Debug, Default)]
pub(crate) struct ResponseCache {
    /// None where the whole list does not fit one answer.
    default_list: OnceLock<Option<Answer>>,
    /// The entries of those that somebody has asked for in parts.
    entries: OnceLock<Box<[OnceLock<Box<RawValue>>]>>,
    /// The answers about single skills.
    got: OnceLock<Box<[OnceLock<Answer>]>>,
    /// Sorted by name; of one name the one that counts is first.
    by_name: OnceLock<Box<[u32]>>,
    /// Sorted by path.
    by_path: OnceLock<Box<[u32]>>,
    /// Held while it is made, so that it is made once.
    search: Mutex<Option<Arc<SearchIndex>>>,
    /// What snapshots are made of that begin with this view. Held while one is made.
    lineups: Mutex<Vec<KeptLineup>>,
}

#[derive(Debug)]
struct KeptLineup {
    /// The views that it is of.
    of: Box<[Weak<View>]>,
    lineup: Arc<SnapshotIndex>,
}

impl KeptLineup {
    fn is_of(&self, views: &[Arc<View>]) -> bool {
        let same = |(a, b): (&Weak<View>, &Arc<View>)| std::ptr::eq(a.as_ptr(), Arc::as_ptr(b));
        self.of.len() == views.len() && self.of.iter().zip(views).all(same)
    }
}

impl ResponseCache {
    /// Returns what is kept with this view.
    pub(crate) fn of(view: &View) -> &Self {
        view.cached(|_| Self::default())
    }

    /// Returns the default list, if `make` can make it as one answer.
    pub(crate) fn default_list(&self, make: impl FnOnce() -> Option<Answer>) -> Option<Answer> {
        self.default_list.get_or_init(make).clone()
    }

    /// Returns the entry of a candidate.
    pub(crate) fn entry(&self, view: &View, candidate_idx: usize) -> &RawValue {
        let candidates = &view.resolution.candidates;
        let entries = self.entries.get_or_init(|| slots(candidates.len()));
        entries[candidate_idx].get_or_init(|| entry(view, &candidates[candidate_idx]))
    }

    /// Returns the answer about a candidate, which `make` makes when there is none yet.
    pub(crate) fn got(
        &self,
        view: &View,
        candidate_idx: usize,
        make: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let n_candidates = view.resolution.candidates.len();
        let got = self.got.get_or_init(|| slots(n_candidates));
        let slot = &got[candidate_idx];
        if let Some(answer) = slot.get() {
            return Ok(answer.clone());
        }
        let answer = make()?;
        Ok(slot.get_or_init(|| answer).clone())
    }

    /// Returns whether the full-text index is made, without waiting where it is being made.
    pub(crate) fn has_search_index(&self) -> bool {
        self.search.try_lock().is_ok_and(|it| it.is_some())
    }

    /// Returns the full-text index of all candidates. Blocks while it is made.
    pub(crate) fn search_index(&self, view: &View) -> Result<Arc<SearchIndex>, SearchError> {
        let mut kept = self.search.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = &*kept {
            return Ok(Arc::clone(index));
        }
        let documents = view
            .resolution
            .candidates
            .iter()
            .map(|it| Document::new(&it.name, it.description.as_deref(), it.record()));
        let index = Arc::new(SearchIndex::new(documents)?);
        *kept = Some(Arc::clone(&index));
        Ok(index)
    }

    /// Returns what a snapshot of these views is made of, the first of which this is kept with;
    /// `make` makes it when there is none yet. Blocks while it is made.
    pub(crate) fn lineup(
        &self,
        views: &[Arc<View>],
        make: impl FnOnce(&[Arc<View>]) -> SnapshotIndex,
    ) -> Arc<SnapshotIndex> {
        let mut kept = self.lineups.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|it| it.of.iter().all(|it| it.strong_count() > 0));
        if let Some(kept) = kept.iter().find(|it| it.is_of(views)) {
            return Arc::clone(&kept.lineup);
        }
        let lineup = Arc::new(make(views));
        if kept.len() == MOST_LINEUPS {
            kept.remove(0);
        }
        let of = views.iter().map(Arc::downgrade).collect();
        kept.push(KeptLineup { of, lineup: Arc::clone(&lineup) });
        lineup
    }

    /// Returns the candidate of that name that counts.
    pub(crate) fn by_name(&self, view: &View, name: &str) -> Option<usize> {
        let candidates = &view.resolution.candidates;
        let sorted = self.by_name.get_or_init(|| {
            sorted_by(candidates, |a, b| {
                a.name.cmp(&b.name).then(rank(a.state).cmp(&rank(b.state)))
            })
        });
        let at = sorted.partition_point(|it| *candidates[*it as usize].name < *name);
        let found = *sorted.get(at)? as usize;
        (candidates[found].name == name).then_some(found)
    }

    /// Returns the candidate whose SKILL.md or directory is at that path.
    pub(crate) fn by_path(&self, view: &View, path: &AbsPath) -> Option<usize> {
        let candidates = &view.resolution.candidates;
        let sorted = self.by_path.get_or_init(|| sorted_by(candidates, |a, b| a.path.cmp(&b.path)));
        let find = |path: &AbsPath| {
            let at = sorted.binary_search_by(|it| candidates[*it as usize].path.cmp(path)).ok()?;
            Some(sorted[at] as usize)
        };
        find(path).or_else(|| find(&path.child(SKILL_FILE)))
    }
}

/// Returns the entry of a candidate as JSON.
pub(crate) fn entry(view: &View, candidate: &Candidate) -> Box<RawValue> {
    to_raw_value(&to_wire::entry(view, candidate))
        .expect("an entry is text, numbers and lists of text")
}

fn slots<T>(count: usize) -> Box<[OnceLock<T>]> {
    (0..count).map(|_| OnceLock::new()).collect()
}

fn sorted_by(
    candidates: &[Candidate],
    compare: impl Fn(&Candidate, &Candidate) -> std::cmp::Ordering,
) -> Box<[u32]> {
    let mut indexes: Box<[u32]> = (0..candidates.len() as u32).collect();
    // Stable: of equals the first in scan order stays first.
    indexes.sort_by(|a, b| compare(&candidates[*a as usize], &candidates[*b as usize]));
    indexes
}

fn rank(state: SkillState) -> usize {
    SkillState::ALL.iter().position(|it| *it == state).unwrap_or(SkillState::ALL.len())
}
