//! What a snapshot of several views is made of, settled once for all of its pages.
//!
//! Numbers alone: what they stand for is taken from the views, page by page, so that what is kept
//! costs little. A lineup is kept with the first of its views and goes with it, see
//! [`ResponseCache::lineup`](crate::prepared::Prepared::lineup).
//! Invariant: a lineup is only read beside the views that it was made of.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;

use skills_discovery::discover::Candidate;
use skills_discovery::ranking::RankTable;
use skills_engine::View;

/// What some views make of all files that one of them has met.
#[derive(Debug)]
pub(crate) struct SnapshotIndex {
    /// Each file once, sorted by path: in which view it is met first, and as which candidate.
    files: Box<[(u32, u32)]>,
    profiles: Box<[Profile]>,
}

/// What one view makes of its candidates, in their order.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Where they stand.
    pub(crate) standings: RankTable,
    /// Which of all files each of them is.
    pub(crate) files: Box<[u32]>,
}

impl SnapshotIndex {
    /// Settles what these views make of their files.
    pub(crate) fn of(views: &[Arc<View>]) -> Self {
        // By their letters: by their parts it takes longer, and there may be many.
        let mut numbers: HashMap<&OsStr, u32> = HashMap::new();
        let mut files = Vec::new();
        for (view_idx, view) in (0..).zip(views) {
            for (candidate_idx, candidate) in (0..).zip(&view.resolution.candidates) {
                numbers.entry(candidate.path.as_os_str()).or_insert_with(|| {
                    files.push((view_idx, candidate_idx));
                    0
                });
            }
        }
        files.sort_by(|a, b| candidate(views, *a).path.cmp(&candidate(views, *b).path));
        for (number, file) in (0..).zip(&files) {
            numbers.insert(candidate(views, *file).path.as_os_str(), number);
        }
        let profile = |view: &Arc<View>| Profile {
            standings: RankTable::of(&view.ctx, &view.resolution),
            files: view
                .resolution
                .candidates
                .iter()
                .map(|it| numbers[it.path.as_os_str()])
                .collect(),
        };
        Self { profiles: views.iter().map(profile).collect(), files: files.into() }
    }

    /// Returns how many files there are.
    pub(crate) fn n_files(&self) -> usize {
        self.files.len()
    }

    /// Returns the file of that number.
    pub(crate) fn file<'v>(&self, views: &'v [Arc<View>], number: usize) -> &'v Candidate {
        candidate(views, self.files[number])
    }

    /// Returns what each view makes of its candidates.
    pub(crate) fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
}

fn candidate(views: &[Arc<View>], (view_idx, candidate_idx): (u32, u32)) -> &Candidate {
    &views[view_idx as usize].resolution.candidates[candidate_idx as usize]
}
