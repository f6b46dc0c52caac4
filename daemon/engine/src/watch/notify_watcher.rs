//! Watches directories with `notify`; the only module that depends on it.
//!
//! For systems without inotify; Linux uses [`crate::watch::inotify`], and the tests run both. One
//! watcher, directories only. Relevant behaviour of `notify` 8.2 on Linux: it reports opens and
//! closes, including our own (dropped here); on an event that a path was deleted or renamed it
//! forgets the watches at and below that path (such an event becomes a [`HintQueue::replaced`]
//! hint, and the engine renews the watches); it reports a directory under the name it had when it
//! was armed (so event paths are hints only).
//!
//! On macOS it uses FSEvents: watches belong to paths, so they are never renewed; and each added or
//! removed path restarts the stream, which may lose events (so hints count as lost then).

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use skills_platform::lock::lock;

use crate::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use crate::watch::cookie::{Awaited, CookieDir};
use crate::watch::hints::HintQueue;
use crate::watch::routes::ChangeKind;

/// True if the watcher restarts when a path is added or removed, and keeps its watches by path.
const IS_STREAM: bool = cfg!(target_os = "macos");

/// Maximum number of paths of such a watcher, which does not start with too many.
const MAX_STREAM_PATHS: usize = 2048;

/// Returns the starter of the backend for this system. Backends that need cookies write them to
/// `cookie_dir`: the daemon's own directory, never a repository's.
pub fn recommended(cookie_dir: PathBuf) -> StartWatch {
    #[cfg(target_os = "linux")]
    if !skills_platform::is_portable() {
        return crate::watch::inotify::inotify();
    }
    portable(cookie_dir)
}

/// Returns the starter of a backend that uses the system's mechanism through `notify`.
pub fn portable(cookie_dir: PathBuf) -> StartWatch {
    Box::new(move |hint_queue| {
        let cookies = CookieDir::new(&cookie_dir)?;
        let (cookie_dir, armed) = (cookies.dir().to_owned(), ArmedDirs::default());
        let subscribers = Arc::clone(&armed);
        let hints = hint_queue.clone();
        let handler =
            EventHandler { hint_queue, cookie_dir, awaited: cookies.awaited(), subscribers };
        let mut watcher =
            notify::recommended_watcher(move |event| handler.handle(event)).map_err(io_error)?;
        watcher.watch(cookies.dir(), RecursiveMode::NonRecursive).map_err(io_error)?;
        let (watcher, cookies) = (Mutex::new(watcher), Mutex::new(cookies));
        Ok(Arc::new(NotifyBackend { watcher, cookies, armed, hints }))
    })
}

/// Subscribers of watched directories: the directory index, and files. Not locked during a call to
/// the watcher, whose thread calls the handler.
type ArmedDirs = Arc<Mutex<HashMap<PathBuf, [bool; 2]>>>;

struct NotifyBackend {
    watcher: Mutex<RecommendedWatcher>,
    cookies: Mutex<CookieDir>,
    armed: ArmedDirs,
    hints: HintQueue,
}

impl WatchBackend for NotifyBackend {
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError> {
        if scope == WatchScope::File {
            // The watch on its directory reports writes.
            return Ok(());
        }
        {
            let mut armed = lock(&self.armed);
            let is_watched = armed.contains_key(path);
            if IS_STREAM && !is_watched && armed.len() >= MAX_STREAM_PATHS {
                return Err(ArmError::Limit);
            }
            armed.entry(path.to_owned()).or_default()[by as usize] = true;
            if IS_STREAM && is_watched {
                return Ok(());
            }
        }
        let watched = lock(&self.watcher).watch(path, RecursiveMode::NonRecursive);
        self.after_restart();
        watched.map_err(|error| {
            self.unsubscribe(path, by);
            match error.kind {
                notify::ErrorKind::MaxFilesWatch => ArmError::Limit,
                notify::ErrorKind::PathNotFound => ArmError::Missing,
                notify::ErrorKind::Io(error) => match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ArmError::Missing,
                    _ => ArmError::Io(error),
                },
                other => ArmError::Io(io::Error::other(format!("{other:?}"))),
            }
        })
    }

    fn disarm(&self, path: &Path, by: Subscriber) {
        if self.unsubscribe(path, by) {
            // Fails if the watch is already gone.
            let _ = lock(&self.watcher).unwatch(path);
            self.after_restart();
        }
    }

    fn cookie(&self, ticket: u64) -> io::Result<()> {
        lock(&self.cookies).place(ticket)
    }

    fn drain(&self) -> bool {
        false
    }
}

impl NotifyBackend {
    /// Removes a subscriber of a path. Returns true if it was the last one.
    fn unsubscribe(&self, path: &Path, by: Subscriber) -> bool {
        let mut armed = lock(&self.armed);
        let Some(subscribers) = armed.get_mut(path) else { return false };
        subscribers[by as usize] = false;
        let is_last = *subscribers == [false; 2];
        if is_last {
            armed.remove(path);
        }
        is_last
    }

    fn after_restart(&self) {
        if IS_STREAM {
            self.hints.lost();
        }
    }
}

struct EventHandler {
    hint_queue: HintQueue,
    cookie_dir: PathBuf,
    awaited: Awaited,
    subscribers: ArmedDirs,
}

impl EventHandler {
    fn handle(&self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "the watcher reported an error");
                return self.hint_queue.lost();
            }
        };
        if event.need_rescan() {
            return self.hint_queue.lost();
        }
        // Most opens and closes are the engine's own reads.
        if event.kind.is_access() {
            return;
        }
        let kind = match event.kind {
            EventKind::Create(_)
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_)) => ChangeKind::Replacement,
            _ => ChangeKind::Write,
        };
        for path in event.paths {
            if path.parent() == Some(&self.cookie_dir) {
                self.cookie(&path);
                continue;
            }
            let [index, files] = self.subscribers(&path);
            if files {
                self.hint_queue.routes().tell(&path, kind);
                self.hint_queue.writes().record_event(&path);
            }
            if index && kind == ChangeKind::Replacement {
                self.hint_queue.replaced(&path);
            } else if index {
                self.hint_queue.changed(&path);
            }
        }
    }

    fn subscribers(&self, path: &Path) -> [bool; 2] {
        let armed = lock(&self.subscribers);
        let of = |it: &Path| armed.get(it).copied().unwrap_or_default();
        let (own, above) = (of(path), path.parent().map(of).unwrap_or_default());
        [own[0] || above[0], own[1] || above[1]]
    }

    fn cookie(&self, path: &Path) {
        if let Some(ticket) = path.file_name().and_then(|it| self.awaited.brought_by(it)) {
            self.hint_queue.cookie(ticket);
        }
    }
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
