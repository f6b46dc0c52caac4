//! Watching directories with inotify: the one file that knows it.
//!
//! On Linux this stands in for `notify`, whose watcher goes by paths where the kernel goes by
//! directories: it follows links, forgets a shared watch with the first of its paths, and looks
//! through all watches for each directory that is removed (docs/adr/0005-inotify.md). Here a
//! watch is one directory, armed without following a link, under all the paths by which it was
//! armed; opening and closing files is not asked for, so our own reading makes no events.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use ::inotify::{Event, EventMask, Inotify, WatchDescriptor, WatchMask, Watches};

use crate::cookie::{Awaited, Cookies};
use crate::hints::{ArmError, HintSource, Inbox, StartHints};

/// What is asked for: what can change a listing, or what is read from it.
const ASKED: WatchMask = WatchMask::MODIFY
    .union(WatchMask::ATTRIB)
    .union(WatchMask::CREATE)
    .union(WatchMask::DELETE)
    .union(WatchMask::MOVE)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::ONLYDIR)
    .union(WatchMask::DONT_FOLLOW);

/// What makes an entry come, go or be another one.
const REPLACING: EventMask = EventMask::CREATE
    .union(EventMask::DELETE)
    .union(EventMask::MOVED_FROM)
    .union(EventMask::MOVED_TO)
    .union(EventMask::DELETE_SELF)
    .union(EventMask::MOVE_SELF)
    .union(EventMask::UNMOUNT)
    .union(EventMask::IGNORED);

/// How much is read at once: some hundred events.
const BUFFER: usize = 16 * 1024;

/// Watches with inotify.
pub struct InotifyWatch {
    /// The directory cookies are placed in: the daemon's own, never a repository's.
    pub cookie_dir: PathBuf,
}

impl StartHints for InotifyWatch {
    fn start(self: Box<Self>, inbox: Inbox) -> io::Result<Box<dyn HintSource>> {
        let cookies = Cookies::new(self.cookie_dir)?;
        let inotify = Inotify::init()?;
        let mut watches = inotify.watches();
        let cookie_watch = watches.add(cookies.dir(), ASKED)?;
        let table: Arc<Mutex<Table>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let listener = Listener {
            inbox,
            table: Arc::clone(&table),
            cookie_watch: cookie_watch.clone(),
            awaited: cookies.awaited(),
            ended: Arc::clone(&ended),
        };
        let thread =
            thread::Builder::new().name("watch".into()).spawn(move || listener.run(inotify))?;
        Ok(Box::new(Source { watches, table, cookies, cookie_watch, ended, thread: Some(thread) }))
    }
}

/// Which directory is watched under which paths.
#[derive(Default)]
struct Table {
    paths: HashMap<WatchDescriptor, Vec<PathBuf>>,
    watches: HashMap<PathBuf, WatchDescriptor>,
}

impl Table {
    fn insert(&mut self, path: &Path, watch: WatchDescriptor) -> Option<WatchDescriptor> {
        let before = self.watches.insert(path.to_owned(), watch.clone());
        let abandoned = before.filter(|it| *it != watch).and_then(|it| self.leave(path, it));
        let paths = self.paths.entry(watch).or_insert_with(|| Vec::with_capacity(1));
        if !paths.iter().any(|it| it == path) {
            paths.push(path.to_owned());
        }
        abandoned
    }

    /// Takes a path off a watch. Returns the watch when that was the last.
    fn leave(&mut self, path: &Path, watch: WatchDescriptor) -> Option<WatchDescriptor> {
        let paths = self.paths.get_mut(&watch)?;
        paths.retain(|it| it != path);
        if !paths.is_empty() {
            return None;
        }
        self.paths.remove(&watch);
        Some(watch)
    }

    /// Forgets a watch that the kernel has dropped.
    fn dropped(&mut self, watch: &WatchDescriptor) {
        for path in self.paths.remove(watch).unwrap_or_default() {
            if self.watches.get(&path) == Some(watch) {
                self.watches.remove(&path);
            }
        }
    }
}

/// Arms, disarms and places cookies, on the engine's thread.
struct Source {
    watches: Watches,
    table: Arc<Mutex<Table>>,
    cookies: Cookies,
    cookie_watch: WatchDescriptor,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HintSource for Source {
    fn arm(&mut self, path: &Path) -> Result<(), ArmError> {
        // Held over the call: an event of the new watch is read after its path is known.
        let mut table = lock(&self.table);
        let watch = self.watches.add(path, ASKED).map_err(|error| match error.raw_os_error() {
            Some(ENOENT | ENOTDIR | ELOOP) => ArmError::Missing,
            Some(ENOSPC) => ArmError::Limit,
            _ => ArmError::Io(error),
        })?;
        let abandoned = table.insert(path, watch);
        drop(table);
        self.remove(abandoned);
        Ok(())
    }

    fn disarm(&mut self, path: &Path) {
        let mut table = lock(&self.table);
        let watch = table.watches.remove(path);
        let abandoned = watch.and_then(|it| table.leave(path, it));
        drop(table);
        self.remove(abandoned);
    }

    fn cookie(&mut self, ticket: u64) -> io::Result<()> {
        self.cookies.place(ticket)
    }
}

impl Source {
    fn remove(&mut self, abandoned: Option<WatchDescriptor>) {
        if let Some(watch) = abandoned {
            // It fails when the directory is gone, and the watch with it.
            let _ = self.watches.remove(watch);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // The end of a watch is an event, which wakes the thread.
        let woken = self.watches.remove(self.cookie_watch.clone()).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            // A panic in there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Hears of events, on its own thread.
struct Listener {
    inbox: Inbox,
    table: Arc<Mutex<Table>>,
    cookie_watch: WatchDescriptor,
    awaited: Awaited,
    ended: Arc<AtomicBool>,
}

impl Listener {
    fn run(self, mut inotify: Inotify) {
        let mut buffer = [0; BUFFER];
        while !self.ended.load(Ordering::SeqCst) {
            match inotify.read_events_blocking(&mut buffer) {
                Ok(events) => events.for_each(|event| self.hear(&event)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Requests go on without cookies, by looking at everything.
                    tracing::error!(%error, "the watch has ended");
                    return self.inbox.lost();
                }
            }
        }
    }

    fn hear(&self, event: &Event<&std::ffi::OsStr>) {
        if event.mask.contains(EventMask::Q_OVERFLOW) {
            return self.inbox.lost();
        }
        if event.wd == self.cookie_watch {
            let touched = event.mask.contains(EventMask::MODIFY);
            if let Some(ticket) =
                event.name.filter(|_| touched).and_then(|it| self.awaited.brought_by(it))
            {
                self.inbox.cookie(ticket);
            }
            return;
        }
        let mut table = lock(&self.table);
        let dirs = table.paths.get(&event.wd).cloned().unwrap_or_default();
        if event.mask.contains(EventMask::IGNORED) {
            table.dropped(&event.wd);
        }
        drop(table);
        for dir in dirs {
            let path = event.name.map_or_else(|| dir.clone(), |name| dir.join(name));
            if event.mask.intersects(REPLACING) {
                self.inbox.replaced(&path);
            } else {
                self.inbox.changed(&path);
            }
        }
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // Each change of the table is whole before anything can panic.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

const ENOENT: i32 = rustix::io::Errno::NOENT.raw_os_error();
const ENOTDIR: i32 = rustix::io::Errno::NOTDIR.raw_os_error();
const ELOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
