//! Watches directories with `notify`; the only module that depends on it.
//!
//! For systems without inotify; Linux uses [`crate::watch::inotify`], and the tests run both. One
//! watcher, directories only. Relevant behaviour of `notify` 8.2: it reports opens and closes,
//! including our own (dropped here); on an event that a path was deleted or renamed it forgets the
//! watches at and below that path (such an event becomes a [`HintQueue::replaced`] hint, and the
//! engine renews the watches); it reports a directory under the name it had when it was armed (so
//! event paths are hints only).

use std::io;
use std::path::{Path, PathBuf};

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::watch::cookie::{Awaited, Cookies};
use crate::watch::hints::{ArmError, HintQueue, HintSource, StartHints, WatchScope};

/// Watcher that uses the system's mechanism through `notify`.
pub struct Notify {
    /// Directory of cookie files: the daemon's own, never a repository's.
    pub cookie_dir: PathBuf,
}

/// Returns the source of hints for this system. Sources that need cookies write them to
/// `cookie_dir`.
#[cfg(target_os = "linux")]
pub fn recommended(_cookie_dir: PathBuf) -> Box<dyn StartHints> {
    Box::new(crate::watch::inotify::InotifyWatch)
}

/// Returns the source of hints for this system. Sources that need cookies write them to
/// `cookie_dir`.
#[cfg(not(target_os = "linux"))]
pub fn recommended(cookie_dir: PathBuf) -> Box<dyn StartHints> {
    Box::new(Notify { cookie_dir })
}

impl StartHints for Notify {
    fn start(self: Box<Self>, hint_queue: HintQueue) -> io::Result<Box<dyn HintSource>> {
        let cookies = Cookies::new(self.cookie_dir)?;
        let cookie_dir = cookies.dir().to_owned();
        let handler = Handler { hint_queue, cookie_dir, awaited: cookies.awaited() };
        let mut watcher =
            notify::recommended_watcher(move |event| handler.handle(event)).map_err(io_error)?;
        watcher.watch(cookies.dir(), RecursiveMode::NonRecursive).map_err(io_error)?;
        Ok(Box::new(NotifySource { watcher, cookies }))
    }
}

struct NotifySource {
    watcher: RecommendedWatcher,
    cookies: Cookies,
}

impl HintSource for NotifySource {
    fn arm(&mut self, path: &Path, _: WatchScope) -> Result<(), ArmError> {
        self.watcher.watch(path, RecursiveMode::NonRecursive).map_err(|error| match error.kind {
            notify::ErrorKind::MaxFilesWatch => ArmError::Limit,
            notify::ErrorKind::PathNotFound => ArmError::Missing,
            notify::ErrorKind::Io(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ArmError::Missing,
                _ => ArmError::Io(error),
            },
            other => ArmError::Io(io::Error::other(format!("{other:?}"))),
        })
    }

    fn disarm(&mut self, path: &Path) {
        // Fails if the watch is already gone.
        let _ = self.watcher.unwatch(path);
    }

    fn cookie(&mut self, ticket: u64) -> io::Result<()> {
        self.cookies.place(ticket)
    }
}

struct Handler {
    hint_queue: HintQueue,
    cookie_dir: PathBuf,
    awaited: Awaited,
}

impl Handler {
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
            } else if replaces {
                self.hint_queue.replaced(&path);
            } else {
                self.hint_queue.changed(&path);
            }
        }
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
