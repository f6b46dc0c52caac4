//! Watching directories with inotify: the one file that knows it.
//!
//! On Linux this stands in for `notify`, whose watcher goes by paths where the kernel goes by
//! directories: it follows links, forgets a shared watch with the first of its paths, and looks
//! through all watches for each directory that is removed (docs/adr/0005-inotify.md). Here a
//! watch is one directory, armed without following a link, under all the paths by which it was
//! armed; opening and closing files is not asked for, so our own reading makes no events, and
//! writing only where somebody reads what is written.
//!
//! The kernel queues an event before the call that causes it returns. So whoever reads the queue
//! to its end has heard of all that was finished before: a cookie is placed by doing that, on the
//! engine's own thread, and has come by when it is placed.

use std::collections::HashMap;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use ::inotify::{Event, EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::ioctl_fionread;

use crate::watch::hints::{ArmError, HintQueue, HintSource, QueueProbe, StartHints, WatchScope};
use crate::watch::mounts::Mounts;
use crate::watch_limit;

/// What is asked for: what can change a listing.
const NAMES: WatchMask = WatchMask::ATTRIB
    .union(WatchMask::CREATE)
    .union(WatchMask::DELETE)
    .union(WatchMask::MOVE)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::ONLYDIR)
    .union(WatchMask::DONT_FOLLOW)
    // A directory that is reached by another path already, or is watched for more, stays so.
    .union(WatchMask::MASK_ADD);

/// As above, and what can change what is read from it.
const EVERYTHING: WatchMask = NAMES.union(WatchMask::MODIFY);

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

/// How long an event is at least, in bytes.
const EVENT: u64 = 16;

/// Watches with inotify.
#[derive(Clone, Copy, Debug, Default)]
pub struct InotifyWatch;

impl StartHints for InotifyWatch {
    fn start(self: Box<Self>, inbox: HintQueue) -> io::Result<Box<dyn HintSource>> {
        let inotify = Inotify::init()?;
        let watches = inotify.watches();
        let queue = inotify.as_fd().try_clone_to_owned()?;
        let table: Arc<Mutex<Table>> = Arc::default();
        let (buffer, mounts) = (Box::new([0; BUFFER]), Mounts::open());
        let events = Mutex::new(Events { inotify, buffer, mounts });
        let ear = Arc::new(EventReader { inbox, table: Arc::clone(&table), events });
        let (ended, end) = io::pipe()?;
        let listener = Arc::clone(&ear);
        let thread = thread::Builder::new()
            .name("watch".into())
            .spawn(move || listener.listen(&queue, &ended))?;
        let most = watch_limit().map_or(usize::MAX, share);
        Ok(Box::new(Source { watches, table, ear, end: Some(end), thread: Some(thread), most }))
    }
}

/// Which directory is watched under which paths.
#[derive(Default)]
struct Table {
    paths: HashMap<WatchDescriptor, Vec<Arc<Path>>>,
    watches: HashMap<Arc<Path>, WatchDescriptor>,
}

impl Table {
    fn insert(&mut self, path: &Path, watch: WatchDescriptor) -> Option<WatchDescriptor> {
        let kept = self.watches.get_key_value(path).map(|(path, _)| Arc::clone(path));
        let kept = kept.unwrap_or_else(|| path.into());
        let before = self.watches.insert(Arc::clone(&kept), watch.clone());
        let abandoned = before.filter(|it| *it != watch).and_then(|it| self.leave(path, it));
        let paths = self.paths.entry(watch).or_insert_with(|| Vec::with_capacity(1));
        if !paths.contains(&kept) {
            paths.push(kept);
        }
        abandoned
    }

    /// Takes a path off a watch. Returns the watch when that was the last.
    fn leave(&mut self, path: &Path, watch: WatchDescriptor) -> Option<WatchDescriptor> {
        let paths = self.paths.get_mut(&watch)?;
        paths.retain(|it| **it != *path);
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
    ear: Arc<EventReader>,
    /// Its closing ends the thread.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    /// The most watches that are taken.
    most: usize,
}

/// Returns how many watches are taken of those that the user may have in all: the user's other
/// programs keep the rest.
fn share(limit: u64) -> usize {
    usize::try_from(limit / 2).unwrap_or(usize::MAX)
}

impl HintSource for Source {
    fn arm(&mut self, path: &Path, heed: WatchScope) -> Result<(), ArmError> {
        let asked = match heed {
            WatchScope::Names => NAMES,
            WatchScope::Everything => EVERYTHING,
        };
        // Held over the call: an event of the new watch is read after its path is known.
        let mut table = lock(&self.table);
        if table.paths.len() >= self.most && !table.watches.contains_key(path) {
            return Err(ArmError::Limit);
        }
        let watch = self.watches.add(path, asked).map_err(|error| match error.raw_os_error() {
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
        self.ear.hear()?;
        self.ear.inbox.cookie_at_once(ticket);
        Ok(())
    }

    fn still(&self) -> Option<Arc<dyn QueueProbe>> {
        Some(Arc::clone(&self.ear) as _)
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
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Hears of events: on its own thread as they come, on the engine's when a cookie is placed.
struct EventReader {
    inbox: HintQueue,
    table: Arc<Mutex<Table>>,
    /// Held from reading events until they are in the inbox: who has it next finds there all that
    /// has been read. The table's lock is taken under it.
    events: Mutex<Events>,
}

/// What events are read from, and into.
struct Events {
    inotify: Inotify,
    buffer: Box<[u8; BUFFER]>,
    /// Asked by those who do not wait for a cookie; who does asks for himself.
    mounts: Mounts,
}

impl QueueProbe for EventReader {
    fn is_still(&self) -> bool {
        // Who reads just now has not passed everything on.
        let Ok(mut events) = self.events.try_lock() else { return false };
        let Events { inotify, mounts, .. } = &mut *events;
        if mounts.have_changed() {
            // The word is given once: it is for all who ask from now on.
            self.inbox.mounted();
            return false;
        }
        ioctl_fionread(inotify.as_fd()).is_ok_and(|it| it == 0)
    }
}

impl EventReader {
    /// Hears until the other end is closed.
    fn listen(&self, queue: &OwnedFd, ended: &PipeReader) {
        loop {
            let mut waited = [
                PollFd::new(queue, PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::empty()),
            ];
            let heard = match poll(&mut waited, None) {
                Ok(_) if !waited[1].revents().is_empty() => return,
                Ok(_) => self.hear(),
                Err(error) => Err(error.into()),
            };
            match heard {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Whoever asks hears for himself, or looks at everything.
                    tracing::error!(%error, "the watch has ended");
                    return self.inbox.lost();
                }
            }
        }
    }

    /// Puts everything into the inbox that has happened by now.
    fn hear(&self) -> io::Result<()> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let Events { inotify, buffer, .. } = &mut *events;
        // So many are there at most. What comes meanwhile may have no end.
        let mut left = ioctl_fionread(inotify.as_fd())? / EVENT;
        while left > 0 {
            match inotify.read_events(&mut buffer[..]) {
                Ok(events) => {
                    for event in events {
                        self.put(&event);
                        left = left.saturating_sub(1);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn put(&self, event: &Event<&std::ffi::OsStr>) {
        if event.mask.contains(EventMask::Q_OVERFLOW) {
            return self.inbox.lost();
        }
        let mut table = lock(&self.table);
        let dirs = table.paths.get(&event.wd).cloned().unwrap_or_default();
        if event.mask.contains(EventMask::IGNORED) {
            table.dropped(&event.wd);
        }
        drop(table);
        for dir in dirs {
            let path = event.name.map_or_else(|| dir.to_path_buf(), |name| dir.join(name));
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
