//! Watching directories with `notify`: the one file that knows it.
//!
//! For systems without inotify; on Linux [`crate::watch::inotify`] stands in for it, and the tests run
//! both. One watcher, directories only. What `notify` 8.2 does that matters
//! here: it reports opens and closes, our own included (dropped at once); it forgets a watch,
//! and every watch at a path below, when it reads that the path was deleted or renamed (so such
//! an event is a [`HintQueue::replaced`] hint, and the engine renews those watches); it keeps the
//! name a directory had when it was armed (so events are hints and their paths are not news).

use std::io;
use std::path::{Path, PathBuf};

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::watch::cookie::{Awaited, Cookies};
use crate::watch::hints::{ArmError, HintQueue, HintSource, StartHints, WatchScope};

/// Watches with what the system has, by way of `notify`.
pub struct Notify {
    /// The directory cookies are placed in: the daemon's own, never a repository's.
    pub cookie_dir: PathBuf,
}

/// Returns the source of hints for this system; one that needs cookies places them in `cookie_dir`.
#[cfg(target_os = "linux")]
pub fn recommended(_cookie_dir: PathBuf) -> Box<dyn StartHints> {
    Box::new(crate::watch::inotify::InotifyWatch)
}

/// Returns the source of hints for this system; one that needs cookies places them in `cookie_dir`.
#[cfg(not(target_os = "linux"))]
pub fn recommended(cookie_dir: PathBuf) -> Box<dyn StartHints> {
    Box::new(Notify { cookie_dir })
}

impl StartHints for Notify {
    fn start(self: Box<Self>, inbox: HintQueue) -> io::Result<Box<dyn HintSource>> {
        let cookies = Cookies::new(self.cookie_dir)?;
        let cookie_dir = cookies.dir().to_owned();
        let handler = Handler { inbox, cookie_dir, awaited: cookies.awaited() };
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
        // It fails when the watch is gone already, which is what was wanted.
        let _ = self.watcher.unwatch(path);
    }

    fn cookie(&mut self, ticket: u64) -> io::Result<()> {
        self.cookies.place(ticket)
    }
}

struct Handler {
    inbox: HintQueue,
    cookie_dir: PathBuf,
    awaited: Awaited,
}

impl Handler {
    fn handle(&self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "the watcher reported an error");
                return self.inbox.lost();
            }
        };
        if event.need_rescan() {
            return self.inbox.lost();
        }
        // Opens and closes: most of them are our own reading.
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
                self.inbox.replaced(&path);
            } else {
                self.inbox.changed(&path);
            }
        }
    }

    fn cookie(&self, path: &Path, kind: EventKind) {
        // A changed modification time alone is reported as a change of data.
        let touched = matches!(kind, EventKind::Modify(ModifyKind::Data(_)));
        let brought = path.file_name().and_then(|it| self.awaited.brought_by(it));
        if let Some(ticket) = brought.filter(|_| touched) {
            self.inbox.cookie(ticket);
        }
    }
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
