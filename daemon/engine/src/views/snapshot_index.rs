//! [`SnapshotIndex`]: index of the files of several views, built once for all pages of a snapshot.
//!
//! It holds only numbers and is therefore small; the content is read from the views page by page.
//! It is cached with the first of its views and dropped with it.
//!
//! Invariant: an index is only used with the views that it was built from.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;

use skills_discovery::discover::{Candidate, DiscoveryContext, Resolution};
use skills_discovery::ranking::RankTable;

use crate::cancel::Cancel;

/// Context and resolution of one view.
pub type ViewParts = (Arc<DiscoveryContext>, Arc<Resolution>);

/// Index of all files that at least one of several views contains.
#[derive(Debug)]
pub struct SnapshotIndex {
    /// Each file once, sorted by path: index of the first view that contains it, and of the
    /// candidate there.
    files: Box<[(u32, u32)]>,
    profiles: Box<[Profile]>,
}

/// The candidates of one view, in their order.
#[derive(Debug)]
pub struct Profile {
    /// Their ranks.
    pub ranks: RankTable,
    /// For each candidate, the index of its file.
    pub files: Box<[u32]>,
}

impl SnapshotIndex {
    /// Builds the index of these views; none once the call is cancelled.
    pub fn of(views: &[ViewParts], cancel: &Cancel) -> Option<Self> {
        // Hashes paths as bytes; hashing by component is slower.
        let mut numbers: HashMap<&OsStr, u32> = HashMap::new();
        let mut files = Vec::new();
        for (view_idx, (_, resolution)) in (0..).zip(views) {
            if cancel.is_cancelled() {
                return None;
            }
            for (candidate_idx, candidate) in (0..).zip(&resolution.candidates) {
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
        let profile = |(ctx, resolution): &ViewParts| {
            (!cancel.is_cancelled()).then(|| Profile {
                ranks: RankTable::compute(ctx, resolution),
                files: resolution
                    .candidates
                    .iter()
                    .map(|it| numbers[it.path.as_os_str()])
                    .collect(),
            })
        };
        let profiles = views.iter().map(profile).collect::<Option<_>>()?;
        Some(Self { profiles, files: files.into() })
    }

    /// Returns the number of files.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// Returns the indexes of a view that has a file, and of the candidate there.
    pub fn file(&self, number: usize) -> (usize, usize) {
        let (view_idx, candidate_idx) = self.files[number];
        (view_idx as usize, candidate_idx as usize)
    }

    /// Returns the candidates by view.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
}

fn candidate(views: &[ViewParts], (view_idx, candidate_idx): (u32, u32)) -> &Candidate {
    &views[view_idx as usize].1.candidates[candidate_idx as usize]
}
