//! Walks of worktrees, kept for a while: an editor asks for the same one at many keystrokes.
//!
//! Nothing watches a whole worktree, so what is kept is as old as its walk at most; whoever knows
//! that something has changed asks for a new one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skills_syntax::path::AbsPath;

use super::worktree::Worktree;

/// How long a walk counts.
const KEPT: Duration = Duration::from_secs(10);

/// How many worktrees are kept; a list of all files of one may take some megabytes.
const MOST: usize = 4;

/// The worktrees that were walked last.
#[derive(Default)]
pub struct Walks(Mutex<HashMap<AbsPath, (Instant, Arc<Worktree>)>>);

impl Walks {
    /// Returns a worktree whose files are known, or will be when first asked for. `anew` takes
    /// none that was walked before.
    pub fn worktree(&self, top: &AbsPath, anew: bool) -> Arc<Worktree> {
        // One entry is put in at a time.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (since, _)| since.elapsed() < KEPT);
        if let Some((_, worktree)) = kept.get(top).filter(|_| !anew) {
            return Arc::clone(worktree);
        }
        if kept.len() >= MOST
            && let Some(oldest) = kept.iter().min_by_key(|(_, (since, _))| *since)
        {
            let oldest = oldest.0.clone();
            kept.remove(&oldest);
        }
        let worktree = Arc::new(Worktree::new(Some(top.clone())));
        kept.insert(top.clone(), (Instant::now(), Arc::clone(&worktree)));
        worktree
    }
}
