//! Watches directories with `notify`; the only module that depends on it.
//!
//! For systems without inotify; Linux uses [`crate::watch::inotify`], and the tests run both. One
//! watcher, directories only. Relevant behaviour of `notify` 8.2: it reports opens and closes,
//! including our own (dropped here); on an event that a path was deleted or renamed it forgets the
//! watches at and below that path (such an event becomes a [`HintQueue::replaced`] hint, and the
//! engine renews the watches); it reports a directory under the name it had when it was armed (so
//! event paths are hints only).

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::lock::lock;
use crate::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use crate::watch::cookie::{Awaited, CookieDir};
use crate::watch::hints::HintQueue;

/// Returns the starter of the backend for this system. Backends that need cookies write them to
/// `cookie_dir`: the daemon's own directory, never a repository's.
#[cfg(target_os = "linux")]
pub fn recommended(_cookie_dir: PathBuf) -> StartWatch {
    crate::watch::inotify::inotify()
}

/// Returns the starter of the backend for this system. Backends that need cookies write them to
/// `cookie_dir`: the daemon's own directory, never a repository's.
#[cfg(not(target_os = "linux"))]
pub fn recommended(cookie_dir: PathBuf) -> StartWatch {
    portable(cookie_dir)
}

/// Returns the starter of a backend that uses the system's mechanism through `notify`.
pub fn portable(cookie_dir: PathBuf) -> StartWatch {
    Box::new(move |hint_queue| {
        let cookies = CookieDir::new(cookie_dir)?;
        let (cookie_dir, armed) = (cookies.dir().to_owned(), ArmedDirs::default());
        let subscribers = Arc::clone(&armed);
        let handler =
            EventHandler { hint_queue, cookie_dir, awaited: cookies.awaited(), subscribers };
        let mut watcher =
            notify::recommended_watcher(move |event| handler.handle(event)).map_err(io_error)?;
        watcher.watch(cookies.dir(), RecursiveMode::NonRecursive).map_err(io_error)?;
        let (watcher, cookies) = (Mutex::new(watcher), Mutex::new(cookies));
        Ok(Arc::new(NotifyBackend { watcher, cookies, armed }))
    })
}

/// Subscribers of watched directories: the directory index, and files. Not locked during a call to
/// the watcher, whose thread calls the handler.
type ArmedDirs = Arc<Mutex<HashMap<PathBuf, [bool; 2]>>>;

struct NotifyBackend {
    watcher: Mutex<RecommendedWatcher>,
    cookies: Mutex<CookieDir>,
    armed: ArmedDirs,
}

impl WatchBackend for NotifyBackend {
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError> {
        if scope == WatchScope::File {
            // The watch on its directory reports writes.
            return Ok(());
        }
        lock(&self.armed).entry(path.to_owned()).or_default()[by as usize] = true;
        let watched = lock(&self.watcher).watch(path, RecursiveMode::NonRecursive);
        watched.map_err(|error| match error.kind {
            notify::ErrorKind::MaxFilesWatch => ArmError::Limit,
            notify::ErrorKind::PathNotFound => ArmError::Missing,
            notify::ErrorKind::Io(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ArmError::Missing,
                _ => ArmError::Io(error),
            },
            other => ArmError::Io(io::Error::other(format!("{other:?}"))),
        })
    }

    fn disarm(&self, path: &Path, by: Subscriber) {
        {
            let mut armed = lock(&self.armed);
            let Some(subscribers) = armed.get_mut(path) else { return };
            subscribers[by as usize] = false;
            if *subscribers != [false; 2] {
                return;
            }
            armed.remove(path);
        }
        // Fails if the watch is already gone.
        let _ = lock(&self.watcher).unwatch(path);
    }

    fn cookie(&self, ticket: u64) -> io::Result<()> {
        lock(&self.cookies).place(ticket)
    }

    fn drain(&self) -> bool {
        false
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
        let replaces = matches!(
            event.kind,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        for path in event.paths {
            if path.parent() == Some(&self.cookie_dir) {
                self.cookie(&path, event.kind);
                continue;
            }
            let [index, files] = self.subscribers(&path);
            if files {
                self.hint_queue.routes().tell(&path, replaces);
                self.hint_queue.writes().hear(&path);
            }
            if index && replaces {
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

    fn cookie(&self, path: &Path, kind: EventKind) {
        // A changed modification time alone is reported as a change of data.
        let touched = matches!(kind, EventKind::Modify(ModifyKind::Data(_)));
        let brought = path.file_name().and_then(|it| self.awaited.brought_by(it));
        if let Some(ticket) = brought.filter(|_| touched) {
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
