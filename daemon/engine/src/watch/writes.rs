//! What the watcher says was written, for those who take that for touched.
//!
//! Hints are about names that matter for what is listed; this hears of every name, as long as
//! somebody wants to know about a directory. A path is where something may have been written,
//! never more: after a directory was renamed its files are told of under the old name, and some
//! are not told of at all. Only directories that are watched for their skills are heard, so that
//! no directory is watched for this alone; of those that are it decides whether writing is heard.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skills_syntax::path::AbsPath;
use tokio::sync::Notify;

/// How many paths wait at most. So many at once are not an edit but a checkout; what is beyond
/// them is not told.
const MOST: usize = 4096;

/// Collects what is written below directories; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether anybody wants to know, so that mostly no lock is taken.
    is_on: AtomicBool,
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The directories, as they are named and as they are without links.
    below: BTreeMap<AbsPath, Followed>,
    met: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Followed {
    real: PathBuf,
    /// Whether the watcher is known to have been told.
    is_heard: bool,
}

impl Writes {
    /// Hears from now on of what is written below a directory, as soon as the watcher is told.
    /// Reads the disk.
    pub(crate) fn follow(&self, dir: &AbsPath) {
        // The watcher knows directories without links. One that is not there yet has none to follow.
        let real = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        let mut state = self.lock();
        state.below.insert(dir.clone(), Followed { real, is_heard: false });
        self.0.is_on.store(true, Ordering::Release);
    }

    /// Takes up that the watcher has been told of a directory.
    pub(crate) fn heard(&self, dir: &AbsPath) {
        // Nobody may use it any more.
        if let Some(it) = self.lock().below.get_mut(dir) {
            it.is_heard = true;
        }
    }

    /// Returns whether it is sure to hear of what is written below this directory.
    pub fn follows(&self, dir: &AbsPath) -> bool {
        self.0.is_on.load(Ordering::Acquire)
            && self.lock().below.get(dir).is_some_and(|it| it.is_heard)
    }

    /// Returns whether somebody wants to know what is written in this directory, named without links.
    pub(crate) fn wants(&self, dir: &Path) -> bool {
        self.0.is_on.load(Ordering::Acquire)
            && self.lock().below.values().any(|it| dir.starts_with(&it.real))
    }

    /// Hears only of those directories any more that somebody uses.
    pub fn retain(&self, used: impl Fn(&AbsPath) -> bool) {
        let mut state = self.lock();
        state.below.retain(|dir, _| used(dir));
        self.0.is_on.store(!state.below.is_empty(), Ordering::Release);
    }

    /// Waits until something is written, and returns where, without links.
    pub async fn next(&self) -> BTreeSet<PathBuf> {
        loop {
            let met = std::mem::take(&mut self.lock().met);
            if !met.is_empty() {
                return met;
            }
            self.0.news.notified().await;
        }
    }

    /// Returns those of the paths that are below a directory that is followed.
    pub fn below(&self, dir: &AbsPath, paths: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let state = self.lock();
        let Some(followed) = state.below.get(dir) else { return Vec::new() };
        paths.iter().filter(|it| it.starts_with(&followed.real)).cloned().collect()
    }

    /// Takes up that something may have been written. Called for each event: mostly it is nothing.
    pub(crate) fn hear(&self, path: &Path) {
        if !self.0.is_on.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        let is_wanted =
            state.below.values().map(|it| &it.real).any(|it| path.starts_with(it) && path != it);
        // What git does to its own files is nobody's work.
        let is_git = || path.components().any(|it| it.as_os_str() == OsStr::new(".git"));
        if is_wanted && state.met.len() < MOST && !is_git() {
            state.met.insert(path.to_owned());
            drop(state);
            self.0.news.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // One entry is put in or taken out at a time.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_what_is_below_a_followed_directory_is_told() {
        let top = tempfile::tempdir().unwrap();
        let real = top.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, top.path().join("link")).unwrap();
        let real = real.canonicalize().unwrap();
        let dir = AbsPath::new(&top.path().join("link")).unwrap();
        let writes = Writes::default();
        writes.hear(&real.join("too-early"));
        assert!(!writes.follows(&dir));
        writes.follow(&dir);
        assert!(!writes.follows(&dir), "the watcher is not told yet");
        writes.heard(&dir);
        assert!(writes.follows(&dir));
        for path in ["a", "sub/b", ".git/index"] {
            writes.hear(&real.join(path));
        }
        writes.hear(&top.path().join("beside"));
        writes.hear(&real);
        let met = writes.next().await;
        assert_eq!(writes.below(&dir, &met), [real.join("a"), real.join("sub/b")]);
        writes.retain(|_| false);
        writes.hear(&real.join("a"));
        assert!(!writes.follows(&dir) && writes.lock().met.is_empty());
    }
}
