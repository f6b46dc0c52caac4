//! [`Writes`]: paths that the watcher reports as written, for sessions that count writes as
//! touches.
//!
//! Hints cover only names that matter for listings; this covers every name below the followed
//! directories. A path says that something may have been written there: after a directory is
//! renamed, its files are reported under the old name or not at all. Only directories already
//! watched for skills are covered; following extends the scope of their watches to writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;
use tokio::sync::Notify;

/// Maximum number of pending paths. A larger burst is a checkout, not an edit; the excess is
/// dropped.
pub(crate) const MAX_PENDING: usize = 4096;

/// Collector of writes below followed directories; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// False while no directory is followed, so that events take no lock.
    is_on: AtomicBool,
    state: Mutex<WritesState>,
    written: Notify,
}

#[derive(Debug, Default)]
struct WritesState {
    /// Followed directories, by the path as requested.
    below: BTreeMap<AbsPath, Followed>,
    written: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct Followed {
    real: PathBuf,
    /// True once the watcher's scope is known to cover it.
    is_covered: bool,
}

impl Writes {
    /// Follows writes below a directory; complete once the watcher's scope is extended. Reads the
    /// disk.
    pub(crate) fn follow(&self, dir: &AbsPath) {
        // The watcher uses physical paths. A directory that does not exist has no links to resolve.
        let real = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        let mut state = lock(&self.0.state);
        state.below.insert(dir.clone(), Followed { real, is_covered: false });
        self.0.is_on.store(true, Ordering::Release);
    }

    /// Records that the watcher's scope covers a directory.
    pub(crate) fn mark_covered(&self, dir: &AbsPath) {
        // The directory may have been dropped meanwhile.
        if let Some(it) = lock(&self.0.state).below.get_mut(dir) {
            it.is_covered = true;
        }
    }

    /// Returns true if every write below this directory is reported.
    pub fn follows(&self, dir: &AbsPath) -> bool {
        self.0.is_on.load(Ordering::Acquire)
            && lock(&self.0.state).below.get(dir).is_some_and(|it| it.is_covered)
    }

    /// Stops following the directories for which `used` returns false.
    pub fn retain(&self, used: impl Fn(&AbsPath) -> bool) {
        let mut state = lock(&self.0.state);
        state.below.retain(|dir, _| used(dir));
        self.0.is_on.store(!state.below.is_empty(), Ordering::Release);
    }

    /// Waits until something is written, and returns the physical paths.
    pub async fn next(&self) -> BTreeSet<PathBuf> {
        loop {
            let written = std::mem::take(&mut lock(&self.0.state).written);
            if !written.is_empty() {
                return written;
            }
            self.0.written.notified().await;
        }
    }

    pub fn below(&self, dir: &AbsPath, paths: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let state = lock(&self.0.state);
        let Some(followed) = state.below.get(dir) else { return Vec::new() };
        paths.iter().filter(|it| it.starts_with(&followed.real)).cloned().collect()
    }

    /// Records a possible write. Called for each event; mostly a no-op.
    pub(crate) fn record_event(&self, path: &Path) {
        if !self.0.is_on.load(Ordering::Acquire) {
            return;
        }
        let mut state = lock(&self.0.state);
        let is_wanted =
            state.below.values().map(|it| &it.real).any(|it| path.starts_with(it) && path != it);
        // Git's own files are not work of a session.
        let is_git = || path.components().any(|it| it.as_os_str() == OsStr::new(".git"));
        if is_wanted && state.written.len() < MAX_PENDING && !is_git() {
            state.written.insert(path.to_owned());
            drop(state);
            self.0.written.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_writes_below_followed_directories_are_reported() {
        let top = tempfile::tempdir().unwrap();
        let real = top.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, top.path().join("link")).unwrap();
        let real = real.canonicalize().unwrap();
        let dir = AbsPath::new(&top.path().join("link")).unwrap();
        let writes = Writes::default();
        writes.record_event(&real.join("too-early"));
        assert!(!writes.follows(&dir));
        writes.follow(&dir);
        assert!(!writes.follows(&dir), "the watcher is not told yet");
        writes.mark_covered(&dir);
        assert!(writes.follows(&dir));
        for path in ["a", "sub/b", ".git/index"] {
            writes.record_event(&real.join(path));
        }
        writes.record_event(&top.path().join("beside"));
        writes.record_event(&real);
        let written = writes.next().await;
        assert_eq!(writes.below(&dir, &written), [real.join("a"), real.join("sub/b")]);
        writes.retain(|_| false);
        writes.record_event(&real.join("a"));
        assert!(!writes.follows(&dir) && lock(&writes.0.state).written.is_empty());
    }
}
