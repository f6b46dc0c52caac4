//! Watches directories with inotify; the only module that depends on it.
//!
//! Replaces `notify` on Linux, which identifies watches by path where the kernel identifies them by
//! directory: it follows links, drops a shared watch with the first of its paths, and scans all
//! watches for each removed directory (docs/adr/0005-inotify.md). Here a watch is one directory,
//! armed without following links, with all paths it was armed by. Opens and closes are not watched,
//! so the engine's reads cause no events; writes are watched only where files are read.
//!
//! The kernel queues an event before the call that causes it returns. Reading the queue to its end
//! therefore yields the events of all finished changes: a cookie does exactly that, on the event
//! loop's thread, and has returned when the call returns.

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

/// Events that can change a listing.
const NAMES: WatchMask = WatchMask::ATTRIB
    .union(WatchMask::CREATE)
    .union(WatchMask::DELETE)
    .union(WatchMask::MOVE)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::ONLYDIR)
    .union(WatchMask::DONT_FOLLOW)
    // Extends an existing watch of the same directory instead of replacing it.
    .union(WatchMask::MASK_ADD);

/// The same, and events that can change a file's content.
const EVERYTHING: WatchMask = NAMES.union(WatchMask::MODIFY);

/// Events that add, remove or replace an entry.
const REPLACING: EventMask = EventMask::CREATE
    .union(EventMask::DELETE)
    .union(EventMask::MOVED_FROM)
    .union(EventMask::MOVED_TO)
    .union(EventMask::DELETE_SELF)
    .union(EventMask::MOVE_SELF)
    .union(EventMask::UNMOUNT)
    .union(EventMask::IGNORED);

/// Buffer size: some hundred events.
const BUFFER: usize = 16 * 1024;

/// Minimum size of an event, in bytes.
const EVENT: u64 = 16;

/// Watcher that uses inotify.
#[derive(Clone, Copy, Debug, Default)]
pub struct InotifyWatch;

impl StartHints for InotifyWatch {
    fn start(self: Box<Self>, hint_queue: HintQueue) -> io::Result<Box<dyn HintSource>> {
        let inotify = Inotify::init()?;
        let watches = inotify.watches();
        let queue = inotify.as_fd().try_clone_to_owned()?;
        let table: Arc<Mutex<Table>> = Arc::default();
        let (buffer, mounts) = (Box::new([0; BUFFER]), Mounts::open());
        let events = Mutex::new(Events { inotify, buffer, mounts });
        let reader = Arc::new(EventReader { hint_queue, table: Arc::clone(&table), events });
        let (ended, end) = io::pipe()?;
        let listener = Arc::clone(&reader);
        let thread = thread::Builder::new()
            .name("watch".into())
            .spawn(move || listener.listen(&queue, &ended))?;
        let most = watch_limit().map_or(usize::MAX, share);
        Ok(Box::new(Source { watches, table, reader, end: Some(end), thread: Some(thread), most }))
    }
}

/// Watched directories with their paths.
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

    /// Removes a path from a watch. Returns the watch if that was its last path.
    fn leave(&mut self, path: &Path, watch: WatchDescriptor) -> Option<WatchDescriptor> {
        let paths = self.paths.get_mut(&watch)?;
        paths.retain(|it| **it != *path);
        if !paths.is_empty() {
            return None;
        }
        self.paths.remove(&watch);
        Some(watch)
    }

    /// Removes a watch that the kernel has dropped.
    fn dropped(&mut self, watch: &WatchDescriptor) {
        for path in self.paths.remove(watch).unwrap_or_default() {
            if self.watches.get(&path) == Some(watch) {
                self.watches.remove(&path);
            }
        }
    }
}

/// Arms, disarms and sends cookies; runs on the event loop's thread.
struct Source {
    watches: Watches,
    table: Arc<Mutex<Table>>,
    reader: Arc<EventReader>,
    /// Closing this pipe ends the thread.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    /// Maximum number of watches.
    most: usize,
}

/// Returns this process's share of the user's watch limit; other programs use the rest.
fn share(limit: u64) -> usize {
    usize::try_from(limit / 2).unwrap_or(usize::MAX)
}

impl HintSource for Source {
    fn arm(&mut self, path: &Path, scope: WatchScope) -> Result<(), ArmError> {
        let asked = match scope {
            WatchScope::Names => NAMES,
            WatchScope::Everything => EVERYTHING,
        };
        // Locked during the call: an event of the new watch is read after its path is stored.
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
        self.reader.read_pending()?;
        self.reader.hint_queue.cookie_at_once(ticket);
        Ok(())
    }

    fn still(&self) -> Option<Arc<dyn QueueProbe>> {
        Some(Arc::clone(&self.reader) as _)
    }
}

impl Source {
    fn remove(&mut self, abandoned: Option<WatchDescriptor>) {
        if let Some(watch) = abandoned {
            // Fails if the directory is gone, together with its watch.
            let _ = self.watches.remove(watch);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

/// Reads events: on its own thread as they arrive, and on the event loop's thread for a cookie.
struct EventReader {
    hint_queue: HintQueue,
    table: Arc<Mutex<Table>>,
    /// Locked from reading events until they are queued: the next holder finds all of them in the
    /// queue. The lock of `table` is taken under this one.
    events: Mutex<Events>,
}

/// The inotify descriptor and its read buffer.
struct Events {
    inotify: Inotify,
    buffer: Box<[u8; BUFFER]>,
    /// Polled by idle checks only; requests with a cookie poll their own.
    mounts: Mounts,
}

impl QueueProbe for EventReader {
    fn is_still(&self) -> bool {
        // Another thread is reading and may not have queued its events yet.
        let Ok(mut events) = self.events.try_lock() else { return false };
        let Events { inotify, mounts, .. } = &mut *events;
        if mounts.have_changed() {
            // The kernel reports a mount once, so it is queued for all later checks.
            self.hint_queue.mounted();
            return false;
        }
        ioctl_fionread(inotify.as_fd()).is_ok_and(|it| it == 0)
    }
}

impl EventReader {
    /// Reads events until the pipe's other end is closed.
    fn listen(&self, queue: &OwnedFd, ended: &PipeReader) {
        loop {
            let mut waited = [
                PollFd::new(queue, PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::empty()),
            ];
            let heard = match poll(&mut waited, None) {
                Ok(_) if !waited[1].revents().is_empty() => return,
                Ok(_) => self.read_pending(),
                Err(error) => Err(error.into()),
            };
            match heard {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Later cookies read the queue themselves or compare everything.
                    tracing::error!(%error, "the watcher has stopped");
                    return self.hint_queue.lost();
                }
            }
        }
    }

    /// Queues all events that are pending now.
    fn read_pending(&self) -> io::Result<()> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let Events { inotify, buffer, .. } = &mut *events;
        // Upper bound on the pending events; events arriving meanwhile may have no end.
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
            return self.hint_queue.lost();
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
                self.hint_queue.replaced(&path);
            } else {
                self.hint_queue.changed(&path);
            }
        }
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    // Each update of the table is complete before anything can panic.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

const ENOENT: i32 = rustix::io::Errno::NOENT.raw_os_error();
const ENOTDIR: i32 = rustix::io::Errno::NOTDIR.raw_os_error();
const ELOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
