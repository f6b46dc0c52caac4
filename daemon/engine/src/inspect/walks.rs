//! [`Walks`]: cache of worktree walks, because an editor requests the same one at many keystrokes.
//!
//! Whole worktrees are not watched, so a cached walk may be outdated by up to its lifetime; callers
//! that know of a change request a new one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

use super::worktree::WorktreeFiles;

/// Lifetime of a cached walk.
const KEPT: Duration = Duration::from_secs(10);

/// Maximum number of cached worktrees; the file list of one may take some megabytes.
const MAX_CACHED_WORKTREES: usize = 4;

/// Recently walked worktrees.
#[derive(Default)]
pub struct Walks(Mutex<HashMap<AbsPath, (Instant, Arc<WorktreeFiles>)>>);

impl Walks {
    /// Forgets a worktree, so that its files are listed again.
    pub fn forget(&self, top: &AbsPath) {
        lock(&self.0).remove(top);
    }

    /// Returns a worktree, whose files are listed on first use.
    pub fn worktree(&self, top: &AbsPath) -> Arc<WorktreeFiles> {
        let mut kept = lock(&self.0);
        kept.retain(|_, (since, _)| since.elapsed() < KEPT);
        if let Some((_, worktree)) = kept.get(top) {
            return Arc::clone(worktree);
        }
        if kept.len() >= MAX_CACHED_WORKTREES
            && let Some(oldest) = kept.iter().min_by_key(|(_, (since, _))| *since)
        {
            let oldest = oldest.0.clone();
            kept.remove(&oldest);
        }
        let worktree = Arc::new(WorktreeFiles::new(Some(top.clone())));
        kept.insert(top.clone(), (Instant::now(), Arc::clone(&worktree)));
        worktree
    }
}
