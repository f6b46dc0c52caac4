//! Watching directories with `notify`: the one file that knows it.
//!
//! One watcher, one inotify instance, directories only. What `notify` 8.2 does that matters
//! here: it reports opens and closes, our own included (dropped at once); it forgets a watch,
//! and every watch at a path below, when it reads that the path was deleted or renamed (so such
//! an event is a [`Inbox::replaced`] hint, and the engine renews those watches); it keeps the
//! name a directory had when it was armed (so events are hints and their paths are not news).

use std::fs::{File, FileTimes};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::hints::{ArmError, HintSource, Inbox, StartHints};

/// Watches with inotify, placing cookies in a directory of its own.
pub struct Notify {
    /// The directory cookies are placed in: the daemon's own, never a repository's.
    pub cookie_dir: PathBuf,
}

impl StartHints for Notify {
    fn start(self: Box<Self>, inbox: Inbox) -> io::Result<Box<dyn HintSource>> {
        let Self { cookie_dir } = *self;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&cookie_dir)?;
        let awaited = Arc::new(AtomicU64::new(0));
        let handler = Handler { inbox, cookie_dir: cookie_dir.clone(), awaited: awaited.clone() };
        let mut watcher =
            notify::recommended_watcher(move |event| handler.handle(event)).map_err(io_error)?;
        watcher.watch(&cookie_dir, RecursiveMode::NonRecursive).map_err(io_error)?;
        Ok(Box::new(NotifySource { watcher, cookie_dir, awaited, cookie: None }))
    }
}

struct NotifySource {
    watcher: RecommendedWatcher,
    cookie_dir: PathBuf,
    /// The ticket whose file's event is waited for.
    awaited: Arc<AtomicU64>,
    /// The file of the last cookie, touched again for the next one.
    cookie: Option<(PathBuf, File)>,
}

impl HintSource for NotifySource {
    fn arm(&mut self, path: &Path) -> Result<(), ArmError> {
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
        // A ticket is a file: touching it makes exactly one event. The same file serves again
        // while tickets come back; a ticket that did not come back gets no second chance to be
        // mistaken for a later one.
        let path = self.cookie_dir.join(format!("cookie-{}", ticket >> 32));
        if self.cookie.as_ref().is_none_or(|(current, _)| *current != path) {
            self.awaited.store(u64::MAX, Ordering::SeqCst);
            if let Some((old, _)) = self.cookie.take() {
                // A leftover is removed with the directory at the latest.
                let _ = std::fs::remove_file(old);
            }
            self.cookie = Some((path.clone(), File::create(&path)?));
        }
        let Some((_, file)) = &self.cookie else { return Err(io::ErrorKind::NotFound.into()) };
        self.awaited.store(ticket, Ordering::SeqCst);
        file.set_times(FileTimes::new().set_modified(SystemTime::now()))
    }
}

impl Drop for NotifySource {
    fn drop(&mut self) {
        // What cannot be removed is removed at the next start.
        let _ = std::fs::remove_dir_all(&self.cookie_dir);
    }
}

struct Handler {
    inbox: Inbox,
    cookie_dir: PathBuf,
    awaited: Arc<AtomicU64>,
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
        let awaited = self.awaited.load(Ordering::SeqCst);
        let name = format!("cookie-{}", awaited >> 32);
        // A changed modification time alone is reported as a change of data.
        let touched = matches!(kind, EventKind::Modify(ModifyKind::Data(_)));
        if touched && path.file_name().is_some_and(|it| it == name.as_str()) {
            self.inbox.cookie(awaited);
        }
    }
}

fn io_error(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
