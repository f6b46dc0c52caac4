//! Cookies: changes to a file of the daemon that prove that earlier events have been delivered.
//!
//! Touching a file in the daemon's own directory queues one event behind the events of all earlier
//! changes. One ticket is pending at a time. The upper half of a ticket is its generation, which
//! increases after a timeout; each generation uses another file, so that a late event is never
//! mistaken for a later ticket.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileTimes};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The pending ticket, as the watcher's thread sees it.
#[derive(Clone, Default)]
pub(crate) struct Awaited(Arc<AtomicU64>);

/// Directory of the cookie files; removed on drop.
pub(crate) struct CookieDir {
    dir: PathBuf,
    awaited: Awaited,
    /// The file that was touched last.
    file: Option<(PathBuf, File)>,
}

impl CookieDir {
    /// Creates the directory with mode 0700.
    pub(crate) fn new(dir: PathBuf) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        Ok(Self { dir, awaited: Awaited::default(), file: None })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn awaited(&self) -> Awaited {
        self.awaited.clone()
    }

    /// Sends a ticket: causes one event of changed data.
    pub(crate) fn place(&mut self, ticket: u64) -> io::Result<()> {
        let path = self.dir.join(name(ticket));
        if self.file.as_ref().is_none_or(|(current, _)| *current != path) {
            if let Some((old, _)) = self.file.take() {
                // A leftover is removed with the directory.
                let _ = std::fs::remove_file(old);
            }
            self.file = Some((path.clone(), File::create(&path)?));
        }
        let Some((_, file)) = &self.file else { return Err(io::ErrorKind::NotFound.into()) };
        self.awaited.0.store(ticket, Ordering::SeqCst);
        file.set_times(FileTimes::new().set_modified(SystemTime::now()))
    }
}

impl Drop for CookieDir {
    fn drop(&mut self) {
        // A leftover is removed with the daemon's runtime directory.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Awaited {
    /// Returns the ticket that an event of changed data in this file confirms.
    pub(crate) fn brought_by(&self, file: &OsStr) -> Option<u64> {
        let ticket = self.0.load(Ordering::SeqCst);
        (file == OsStr::new(&name(ticket))).then_some(ticket)
    }
}

fn name(ticket: u64) -> String {
    format!("cookie-{}", ticket >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_ticket_of_an_earlier_generation_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let mut cookies = CookieDir::new(dir.path().join("c")).unwrap();
        let awaited = cookies.awaited();
        cookies.place(7).unwrap();
        assert_eq!(awaited.brought_by(OsStr::new("cookie-0")), Some(7));
        cookies.place(1 << 32).unwrap();
        assert_eq!(awaited.brought_by(OsStr::new("cookie-0")), None);
        assert_eq!(awaited.brought_by(OsStr::new("cookie-1")), Some(1 << 32));
    }
}
