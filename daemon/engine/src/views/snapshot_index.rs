//! [`SnapshotIndex`]: index of the files of several views, built once for all pages of a snapshot.
//!
//! It holds only numbers and is therefore small; the content is read from the views page by page.
//! It is cached with the first of its views and dropped with it.
//!
//! Invariant: an index is only used with the views that it was built from.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;

use skills_discovery::discover::Candidate;
use skills_discovery::ranking::RankTable;

use crate::cancel::Cancel;
use crate::views::view::View;

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
    pub fn of(views: &[Arc<View>], cancel: &Cancel) -> Option<Self> {
        // Hashes paths as bytes; hashing by component is slower.
        let mut numbers: HashMap<&OsStr, u32> = HashMap::new();
        let mut files = Vec::new();
        for (view_idx, view) in (0..).zip(views) {
            if cancel.is_cancelled() {
                return None;
            }
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
        let profile = |view: &Arc<View>| {
            (!cancel.is_cancelled()).then(|| Profile {
                ranks: RankTable::of(&view.ctx, &view.resolution),
                files: view
                    .resolution
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

    /// Returns a file by its index, with a view that has it.
    pub fn file<'v>(&self, views: &'v [Arc<View>], number: usize) -> (&'v View, &'v Candidate) {
        let file = self.files[number];
        (&views[file.0 as usize], candidate(views, file))
    }

    /// Returns the candidates by view.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
}

fn candidate(views: &[Arc<View>], (view_idx, candidate_idx): (u32, u32)) -> &Candidate {
    &views[view_idx as usize].resolution.candidates[candidate_idx as usize]
}
