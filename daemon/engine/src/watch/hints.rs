//! Hints: word that something may have changed, never what.
//!
//! A watcher's events are hints; the disk is the truth. A hint names a path only to say which
//! directories to look at again. Hints and cookies go through one [`HintQueue`], in the order in
//! which the source saw them: when a cookie is taken out, every hint of a change that happened
//! before the cookie was placed has been taken out as well.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::watch::writes::Writes;

/// How many different paths may wait before they are given up for one "look at everything".
const MAX_WAITING: usize = 16 * 1024;

/// Where hints come from: something that watches directories.
pub trait HintSource: Send {
    /// Watches the directory at `path`, for this at least. Watching one twice renews the watch.
    fn arm(&mut self, path: &Path, heed: WatchScope) -> Result<(), ArmError>;

    /// Stops watching the directory that was armed by `path`.
    fn disarm(&mut self, path: &Path);

    /// Places a cookie: `ticket` comes out of the inbox behind all hints of earlier changes, at once
    /// or when it has come by.
    fn cookie(&mut self, ticket: u64) -> io::Result<()>;

    /// Returns what tells on any thread whether a cookie would find anything before it; none where
    /// that takes a cookie.
    fn still(&self) -> Option<Arc<dyn QueueProbe>> {
        None
    }
}

/// Tells whether there is nothing to hear, without waiting.
pub trait QueueProbe: Send + Sync {
    /// Returns whether the inbox has had all hints of what was finished before, and whoever waits
    /// on it has been woken for them. Nothing was mounted either: where something was, the inbox
    /// has that as well.
    fn is_still(&self) -> bool;
}

/// What of a directory is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchScope {
    /// Which names are in it, and what they stand for. That is enough where nobody reads a file in
    /// it, and wakes nobody when a file there is written again and again.
    Names,
    /// What is written to its files as well.
    Everything,
}

/// Why a directory is not watched.
#[derive(Debug)]
pub enum ArmError {
    /// It is not there any more.
    Missing,
    /// The system's limit on watches is reached.
    Limit,
    /// The operating system refused.
    Io(io::Error),
}

/// Makes a source of hints that puts them into an inbox.
pub trait StartHints: Send {
    /// Starts the source.
    fn start(self: Box<Self>, inbox: HintQueue) -> io::Result<Box<dyn HintSource>>;
}

/// What was taken out of the inbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Paths at or in which something happened.
    pub changed: BTreeSet<PathBuf>,
    /// Paths that went away, came or were replaced: watches at or below them may be lost.
    pub replaced: BTreeSet<PathBuf>,
    /// Hints were lost: everything may have changed, every watch may be lost.
    pub lost: bool,
    /// Something was mounted or unmounted.
    pub mounted: bool,
    /// The latest cookie that came by.
    pub cookie: Option<u64>,
}

impl Hints {
    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Collects hints between the watcher's thread and the engine's; cheap to clone.
#[derive(Clone)]
pub struct HintQueue {
    shared: Arc<Mutex<Shared>>,
    wake: Arc<dyn Fn() + Send + Sync>,
    writes: Writes,
}

#[derive(Default)]
struct Shared {
    hints: Hints,
    /// Whether the engine was woken and has not come yet.
    woken: bool,
    interest: HashMap<PathBuf, BTreeSet<OsString>>,
}

impl HintQueue {
    /// Returns an empty inbox that calls `wake` when something waits in it.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { shared: Arc::default(), wake: Arc::new(wake), writes: Writes::default() }
    }

    /// Returns who is told of everything that may have been written.
    pub(crate) fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Something happened at `path`, or to the entry `path` of a directory.
    pub fn changed(&self, path: &Path) {
        self.put(path, |hints| &mut hints.changed);
    }

    /// `path` went away, came or was replaced.
    pub fn replaced(&self, path: &Path) {
        self.put(path, |hints| &mut hints.replaced);
    }

    /// Hints were lost.
    pub fn lost(&self) {
        self.wake_after(|shared| shared.hints.lost = true);
    }

    /// Something was mounted or unmounted.
    pub fn mounted(&self) {
        self.wake_after(|shared| shared.hints.mounted = true);
    }

    /// A cookie came by.
    pub fn cookie(&self, ticket: u64) {
        self.wake_after(|shared| shared.hints.cookie = Some(ticket));
    }

    /// A cookie came by while it was being placed: whoever placed it looks here next, and needs no
    /// waking.
    #[cfg(target_os = "linux")]
    pub(crate) fn cookie_at_once(&self, ticket: u64) {
        self.lock().hints.cookie = Some(ticket);
    }

    /// Takes out all that waits.
    pub fn take(&self) -> Hints {
        let mut shared = self.lock();
        shared.woken = false;
        std::mem::take(&mut shared.hints)
    }

    /// In the directory `dir`, only these names matter from now on: hints about others are
    /// dropped here, so that a busy home directory wakes nobody. `None`: all names matter.
    ///
    /// A name is safe to go by where a path is not: after a directory is renamed its events
    /// still carry the right entry under the wrong directory.
    pub fn set_interest(&self, dir: &Path, names: Option<BTreeSet<OsString>>) {
        let mut shared = self.lock();
        match names {
            Some(names) => shared.interest.insert(dir.to_owned(), names),
            None => shared.interest.remove(dir),
        };
    }

    fn put(&self, path: &Path, set: impl FnOnce(&mut Hints) -> &mut BTreeSet<PathBuf>) {
        self.writes.hear(path);
        if !self.lock().matters(path) {
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
        let mut shared = self.lock();
        change(&mut shared);
        let first = !std::mem::replace(&mut shared.woken, true);
        drop(shared);
        if first {
            (self.wake)();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // The lock guards plain data that no panic can leave half-made.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn one_wake_stands_for_all_that_waits() {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&wakes);
        let inbox = HintQueue::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        inbox.changed(Path::new("/a/x"));
        inbox.changed(Path::new("/a/x"));
        inbox.cookie(7);
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        let hints = inbox.take();
        assert_eq!((hints.changed.len(), hints.cookie), (1, Some(7)));
        assert!(inbox.take().is_empty());
        inbox.lost();
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn names_nobody_asked_for_are_dropped() {
        let inbox = HintQueue::new(|| {});
        inbox.set_interest(Path::new("/home/u"), Some([".claude".into()].into()));
        inbox.changed(Path::new("/home/u/.bash_history"));
        assert!(inbox.take().is_empty());
        inbox.changed(Path::new("/home/u/.claude"));
        assert!(!inbox.take().is_empty());
        inbox.set_interest(Path::new("/home/u"), None);
        inbox.changed(Path::new("/home/u/.bash_history"));
        assert!(!inbox.take().is_empty());
    }

    #[test]
    fn too_many_paths_become_one_look_at_everything() {
        let inbox = HintQueue::new(|| {});
        for n in 0..=MAX_WAITING {
            inbox.changed(Path::new(&format!("/a/{n}")));
        }
        let hints = inbox.take();
        assert!(hints.lost && hints.changed.is_empty());
    }
}
