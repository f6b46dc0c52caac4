//! Change hints: notices that something near a path may have changed.
//!
//! Events of a watcher are hints; the disk is the truth. The path of a hint only selects the
//! directories to check. Hints and cookies share one [`HintQueue`] in the order of the source: a
//! cookie is taken out after the hints of all changes made before the cookie.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use skills_platform::lock::lock;

use crate::watch::routes::Routes;
use crate::watch::writes::Writes;

/// Maximum number of queued paths; more are replaced by a single "hints lost".
const MAX_WAITING: usize = 16 * 1024;

/// Hints taken out of the queue.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Paths at or in which something happened.
    pub changed: BTreeSet<PathBuf>,
    /// Paths that were removed, added or replaced: watches at or below them may be lost.
    pub replaced: BTreeSet<PathBuf>,
    /// Hints were lost: everything may have changed, every watch may be lost.
    pub lost: bool,
    /// Something was mounted or unmounted.
    pub mounted: bool,
    /// The latest cookie that has returned.
    pub cookie: Option<u64>,
}

impl Hints {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Receiver of the backend's events: queues hints for the event loop, and passes the events of
/// single files to their subscriptions. Cheap to clone.
#[derive(Clone)]
pub struct HintQueue {
    shared: Arc<Mutex<Shared>>,
    wake: Arc<dyn Fn() + Send + Sync>,
    writes: Writes,
    routes: Routes,
}

#[derive(Default)]
struct Shared {
    hints: Hints,
    /// True if the event loop was woken and has not taken the hints yet.
    woken: bool,
    interest: HashMap<PathBuf, BTreeSet<OsString>>,
}

impl HintQueue {
    /// Returns an empty queue that calls `wake` when hints arrive.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (writes, routes) = (Writes::default(), Routes::default());
        Self { shared: Arc::default(), wake: Arc::new(wake), writes, routes }
    }

    pub(crate) fn writes(&self) -> &Writes {
        &self.writes
    }

    pub(crate) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Queues a change at `path`, or of the entry `path` of a directory.
    pub fn changed(&self, path: &Path) {
        self.put(path, |hints| &mut hints.changed);
    }

    /// Queues the removal, addition or replacement of `path`.
    pub fn replaced(&self, path: &Path) {
        self.put(path, |hints| &mut hints.replaced);
    }

    /// Queues a loss of hints.
    pub fn lost(&self) {
        self.routes.tell_all();
        self.wake_after(|shared| shared.hints.lost = true);
    }

    /// Queues a mount or unmount.
    pub fn mounted(&self) {
        self.routes.tell_all();
        self.wake_after(|shared| shared.hints.mounted = true);
    }

    /// Queues the return of a cookie.
    pub fn cookie(&self, ticket: u64) {
        self.wake_after(|shared| shared.hints.cookie = Some(ticket));
    }

    /// Queues a cookie without waking the event loop, which reads the queue right after this call.
    #[cfg(target_os = "linux")]
    pub(crate) fn cookie_at_once(&self, ticket: u64) {
        lock(&self.shared).hints.cookie = Some(ticket);
    }

    pub fn take(&self) -> Hints {
        let mut shared = lock(&self.shared);
        shared.woken = false;
        std::mem::take(&mut shared.hints)
    }

    /// Drops later hints about other names in the directory `dir`, so that a busy home directory
    /// does not wake the event loop; `None` for all names. A path is no safe filter: events of a
    /// renamed directory carry the right entry under the wrong directory.
    pub fn set_interest(&self, dir: &Path, names: Option<BTreeSet<OsString>>) {
        let mut shared = lock(&self.shared);
        match names {
            Some(names) => shared.interest.insert(dir.to_owned(), names),
            None => shared.interest.remove(dir),
        };
    }

    fn put(&self, path: &Path, set: impl FnOnce(&mut Hints) -> &mut BTreeSet<PathBuf>) {
        self.writes.record_event(path);
        if !lock(&self.shared).matters(path) {
            return;
        }
        self.wake_after(|shared| {
            if shared.hints.changed.len() + shared.hints.replaced.len() >= MAX_WAITING {
                shared.hints.changed.clear();
                shared.hints.replaced.clear();
                shared.hints.lost = true;
            } else {
                set(&mut shared.hints).insert(path.to_owned());
            }
        });
    }

    fn wake_after(&self, change: impl FnOnce(&mut Shared)) {
        let mut shared = lock(&self.shared);
        change(&mut shared);
        let first = !std::mem::replace(&mut shared.woken, true);
        drop(shared);
        if first {
            (self.wake)();
        }
    }
}

impl Shared {
    fn matters(&self, path: &Path) -> bool {
        let Some(names) = path.parent().and_then(|it| self.interest.get(it)) else { return true };
        path.file_name().is_none_or(|it: &OsStr| names.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn queue_wakes_once_until_hints_are_taken() {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&wakes);
        let hint_queue = HintQueue::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        hint_queue.changed(Path::new("/a/x"));
        hint_queue.changed(Path::new("/a/x"));
        hint_queue.cookie(7);
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        let hints = hint_queue.take();
        assert_eq!((hints.changed.len(), hints.cookie), (1, Some(7)));
        assert!(hint_queue.take().is_empty());
        hint_queue.lost();
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn hints_about_uninteresting_names_are_dropped() {
        let hint_queue = HintQueue::new(|| {});
        hint_queue.set_interest(Path::new("/home/u"), Some([".claude".into()].into()));
        hint_queue.changed(Path::new("/home/u/.bash_history"));
        assert!(hint_queue.take().is_empty());
        hint_queue.changed(Path::new("/home/u/.claude"));
        assert!(!hint_queue.take().is_empty());
        hint_queue.set_interest(Path::new("/home/u"), None);
        hint_queue.changed(Path::new("/home/u/.bash_history"));
        assert!(!hint_queue.take().is_empty());
    }

    #[test]
    fn queue_overflow_becomes_lost_hints() {
        let hint_queue = HintQueue::new(|| {});
        for n in 0..=MAX_WAITING {
            hint_queue.changed(Path::new(&format!("/a/{n}")));
        }
        let hints = hint_queue.take();
        assert!(hints.lost && hints.changed.is_empty());
    }
}
