//! Watches directories with inotify; the only module that depends on it.
//!
//! Replaces `notify` on Linux, which identifies watches by path where the kernel identifies them by
//! directory: it follows links, drops a shared watch with the first of its paths, and scans all
//! watches for each removed directory (docs/adr/0005-inotify.md). Here a watch is one directory,
//! armed without following links, with all paths it was armed by. Opens are not watched, so the
//! engine's reads cause no events; writes are watched only where files are read.
//!
//! The kernel queues an event before the call that causes it returns. Reading the queue to its end
//! therefore yields the events of all finished changes: a cookie does exactly that, on the event
//! loop's thread, and has returned when the call returns.

use std::collections::HashMap;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, TryLockError};
use std::thread::{self, JoinHandle};

use ::inotify::{Event, EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use skills_platform::lock::lock;

use crate::watch::backend::watch_limit;
use crate::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use crate::watch::hints::HintQueue;
use crate::watch::mounts::Mounts;
use crate::watch::routes::ChangeKind;

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

/// Events of a file that is watched itself.
const FILE: WatchMask = WatchMask::ATTRIB
    .union(WatchMask::MODIFY)
    .union(WatchMask::DELETE_SELF)
    .union(WatchMask::MOVE_SELF)
    .union(WatchMask::DONT_FOLLOW)
    .union(WatchMask::MASK_ADD);

impl WatchScope {
    fn mask(self) -> WatchMask {
        match self {
            Self::Names => NAMES,
            Self::Saves => NAMES.union(WatchMask::CLOSE_WRITE),
            Self::Everything => NAMES.union(WatchMask::MODIFY),
            Self::File => FILE,
        }
    }
}

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
const MIN_EVENT_BYTES: u64 = 16;

/// Maximum number of buffers that a call reads on its own thread.
const MOST_BUFFERS: usize = 4;

/// Attempts to lock the queue without blocking; its holder usually makes one system call.
const ATTEMPTS: usize = 200;

/// Returns the starter of a backend that uses inotify.
pub fn inotify() -> StartWatch {
    Box::new(|queue| Ok(Arc::new(InotifyBackend::start(queue)?)))
}

#[derive(Default)]
struct WatchTable {
    armed: HashMap<WatchDescriptor, Vec<ArmedWatches>>,
    watches: HashMap<Arc<Path>, WatchDescriptor>,
}

#[derive(Clone)]
struct ArmedWatches {
    path: Arc<Path>,
    /// Scope for the directory index.
    index: Option<WatchScope>,
    /// Scope for subscriptions of files.
    files: Option<WatchScope>,
}

impl ArmedWatches {
    fn scope_of(&mut self, subscriber: Subscriber) -> &mut Option<WatchScope> {
        match subscriber {
            Subscriber::Index => &mut self.index,
            Subscriber::Files => &mut self.files,
        }
    }
}

impl WatchTable {
    /// Adds a subscriber of a path. Returns the path's former watch if it has no other path.
    fn insert(
        &mut self,
        path: &Path,
        watch: WatchDescriptor,
        scope: WatchScope,
        by: Subscriber,
    ) -> Option<WatchDescriptor> {
        let kept = self.watches.get_key_value(path).map(|(path, _)| Arc::clone(path));
        let path = kept.unwrap_or_else(|| path.into());
        let before = self.watches.insert(Arc::clone(&path), watch.clone());
        let former = before.filter(|it| *it != watch);
        // Both subscribers of a replaced directory follow its path.
        let moved = former.as_ref().and_then(|it| self.leave(&path, it));
        let is_abandoned = former.as_ref().is_some_and(|it| !self.armed.contains_key(it));
        let all = self.armed.entry(watch).or_insert_with(|| Vec::with_capacity(1));
        let at = all.iter().position(|it| it.path == path).unwrap_or_else(|| {
            all.push(moved.unwrap_or(ArmedWatches { path, index: None, files: None }));
            all.len() - 1
        });
        let known = all[at].scope_of(by);
        *known = (*known).max(Some(scope));
        former.filter(|_| is_abandoned)
    }

    /// Removes a path from a watch, and the watch with its last path.
    fn leave(&mut self, path: &Path, watch: &WatchDescriptor) -> Option<ArmedWatches> {
        let all = self.armed.get_mut(watch)?;
        let at = all.iter().position(|it| *it.path == *path)?;
        let left = all.swap_remove(at);
        if all.is_empty() {
            self.armed.remove(watch);
        }
        Some(left)
    }

    fn dropped(&mut self, watch: &WatchDescriptor) {
        for ArmedWatches { path, .. } in self.armed.remove(watch).unwrap_or_default() {
            if self.watches.get(&path) == Some(watch) {
                self.watches.remove(&path);
            }
        }
    }
}

/// Arms, disarms and sends cookies.
struct InotifyBackend {
    watches: Watches,
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

impl InotifyBackend {
    fn start(hint_queue: HintQueue) -> io::Result<Self> {
        let inotify = Inotify::init()?;
        let watches = inotify.watches();
        let queue = inotify.as_fd().try_clone_to_owned()?;
        let (buffer, mounts) = (Box::new([0; BUFFER]), Mounts::open());
        let events = Mutex::new(Events { inotify, buffer, mounts });
        let reader = Arc::new(EventReader { hint_queue, table: Mutex::default(), events });
        let (ended, end) = io::pipe()?;
        let listener = Arc::clone(&reader);
        let thread = thread::Builder::new()
            .name("watch".into())
            .spawn(move || listener.listen(&queue, &ended))?;
        let most = watch_limit().map_or(usize::MAX, share);
        Ok(Self { watches, reader, end: Some(end), thread: Some(thread), most })
    }

    /// Removes a watch without paths. The caller keeps the table locked, so that no other thread
    /// sets the watch again in between.
    fn remove(&self, abandoned: WatchDescriptor) {
        // Fails if the directory is gone, together with its watch.
        let _ = self.watches.clone().remove(abandoned);
    }
}

impl WatchBackend for InotifyBackend {
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError> {
        // Locked during the call: an event of the new watch is read after its path is stored.
        let mut table = lock(&self.reader.table);
        if table.armed.len() >= self.most && !table.watches.contains_key(path) {
            return Err(ArmError::Limit);
        }
        let watch = self.watches.clone().add(path, scope.mask());
        let watch = watch.map_err(|error| match error.raw_os_error() {
            Some(ENOENT | ENOTDIR | ELOOP) => ArmError::Missing,
            Some(ENOSPC) => ArmError::Limit,
            _ => ArmError::Io(error),
        })?;
        if let Some(abandoned) = table.insert(path, watch, scope, by) {
            self.remove(abandoned);
        }
        Ok(())
    }

    fn disarm(&self, path: &Path, by: Subscriber) {
        let mut table = lock(&self.reader.table);
        let Some(watch) = table.watches.get(path).cloned() else { return };
        let Some(all) = table.armed.get_mut(&watch) else { return };
        let is_only = all.len() == 1;
        let Some(armed) = all.iter_mut().find(|it| *it.path == *path) else { return };
        *armed.scope_of(by) = None;
        if let Some(left) = armed.index.max(armed.files) {
            if is_only {
                // Ends the events that only the other subscriber wanted; fails if the directory is
                // gone.
                let mask = left.mask().difference(WatchMask::MASK_ADD);
                let renewed = self.watches.clone().add(path, mask);
                if let Some(other) = renewed.ok().filter(|it| !table.armed.contains_key(it)) {
                    // A replaced directory: the remaining subscriber gets an event and watches it.
                    self.remove(other);
                }
            }
            return;
        }
        table.watches.remove(path);
        table.leave(path, &watch);
        if !table.armed.contains_key(&watch) {
            self.remove(watch);
        }
    }

    fn cookie(&self, ticket: u64) -> io::Result<()> {
        let mut events = lock(&self.reader.events);
        self.reader.read_pending(&mut events, usize::MAX)?;
        drop(events);
        self.reader.hint_queue.cookie_at_once(ticket);
        Ok(())
    }

    fn drain(&self) -> bool {
        for _ in 0..ATTEMPTS {
            match self.reader.events.try_lock() {
                Ok(mut events) => return self.reader.drain(&mut events),
                Err(TryLockError::Poisoned(_)) => return false,
                // Another thread is reading and may not have queued its events yet.
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        false
    }
}

impl Drop for InotifyBackend {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported a panic of that thread.
            let _ = thread.join();
        }
    }
}

/// Reads events: on its own thread as they arrive, and on the thread of a call that asks for them.
struct EventReader {
    hint_queue: HintQueue,
    table: Mutex<WatchTable>,
    /// Locked from reading events until they are queued: the next holder finds all of them in the
    /// queue. The lock of `table` is taken under this one.
    events: Mutex<Events>,
}

/// The inotify descriptor and its read buffer.
struct Events {
    inotify: Inotify,
    buffer: Box<[u8; BUFFER]>,
    /// Polled by [`WatchBackend::drain`] only; requests with a cookie poll their own.
    mounts: Mounts,
}

impl EventReader {
    /// Queues pending events with one system call if there are none. Returns true if none are left.
    fn drain(&self, events: &mut Events) -> bool {
        let mounts = events.mounts.file();
        let mut fds = [
            PollFd::new(&events.inotify, PollFlags::IN),
            PollFd::from_borrowed_fd(
                mounts.map_or(events.inotify.as_fd(), AsFd::as_fd),
                PollFlags::PRI,
            ),
        ];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let found = poll(&mut fds, Some(&now));
        let (is_pending, is_mounted) =
            (!fds[0].revents().is_empty(), fds[1].revents().intersects(MOUNTED));
        match found {
            Ok(0) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
        if is_mounted && events.mounts.file().is_some() {
            // The kernel reports a mount once, so it is queued for all later checks.
            self.hint_queue.mounted();
        }
        !is_pending || self.read_pending(events, MOST_BUFFERS).unwrap_or(false)
    }

    /// Reads events until the pipe's other end is closed.
    fn listen(&self, queue: &OwnedFd, ended: &PipeReader) {
        loop {
            let mut waited = [
                PollFd::new(queue, PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::empty()),
            ];
            let heard = match poll(&mut waited, None) {
                Ok(_) if !waited[1].revents().is_empty() => return,
                Ok(_) => {
                    let mut events = lock(&self.events);
                    self.read_pending(&mut events, usize::MAX).map(drop)
                }
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

    /// Queues the events that are pending now, up to a number of buffers. Returns true if none of
    /// them are left.
    fn read_pending(&self, events: &mut Events, most: usize) -> io::Result<bool> {
        let Events { inotify, buffer, .. } = events;
        // Upper bound on the pending events; events arriving meanwhile may have no end.
        let mut left = ioctl_fionread(inotify.as_fd())? / MIN_EVENT_BYTES;
        let mut n_read = 0;
        while left > 0 {
            if n_read == most {
                return Ok(false);
            }
            match inotify.read_events(&mut buffer[..]) {
                Ok(events) => {
                    n_read += 1;
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
        Ok(true)
    }

    fn put(&self, event: &Event<&std::ffi::OsStr>) {
        if event.mask.contains(EventMask::Q_OVERFLOW) {
            return self.hint_queue.lost();
        }
        let mut table = lock(&self.table);
        let all = table.armed.get(&event.wd).cloned().unwrap_or_default();
        if event.mask.contains(EventMask::IGNORED) {
            table.dropped(&event.wd);
        }
        drop(table);
        let is_write = (EventMask::MODIFY | EventMask::CLOSE_WRITE).contains(event.mask);
        let kind = if is_write { ChangeKind::Write } else { ChangeKind::Replacement };
        for ArmedWatches { path, index, files } in all {
            let path = event.name.map_or_else(|| path.to_path_buf(), |name| path.join(name));
            if files.is_some() {
                self.hint_queue.routes().tell(&path, kind);
                self.hint_queue.writes().record_event(&path);
            }
            if index.is_none() || event.mask == EventMask::CLOSE_WRITE {
                continue;
            }
            if event.mask.intersects(REPLACING) {
                self.hint_queue.replaced(&path);
            } else {
                self.hint_queue.changed(&path);
            }
        }
    }
}

/// Signals of a change of the mount table.
const MOUNTED: PollFlags = PollFlags::PRI.union(PollFlags::ERR);

const ENOENT: i32 = rustix::io::Errno::NOENT.raw_os_error();
const ENOTDIR: i32 = rustix::io::Errno::NOTDIR.raw_os_error();
const ELOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
