//! Cookies: files of the daemon whose creation proves that earlier events have been delivered.
//!
//! Creating a file in the daemon's own directory queues an event behind the events of all earlier
//! changes. One ticket is pending at a time. Each ticket has a file of its own, so that a late
//! event is never mistaken for a later ticket; some systems report one change several times.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The pending ticket, as the watcher's thread sees it.
#[derive(Clone, Default)]
pub(crate) struct Awaited(Arc<AtomicU64>);

/// Directory of the cookie files; removed on drop.
pub(crate) struct CookieDir {
    dir: PathBuf,
    awaited: Awaited,
    /// The file that was created last.
    file: Option<PathBuf>,
}

impl CookieDir {
    /// Creates the directory with mode 0700.
    pub(crate) fn new(dir: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        // Events name physical paths.
        let dir = dir.canonicalize()?;
        Ok(Self { dir, awaited: Awaited::default(), file: None })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn awaited(&self) -> Awaited {
        self.awaited.clone()
    }

    /// Sends a ticket: causes events of its file.
    pub(crate) fn place(&mut self, ticket: u64) -> io::Result<()> {
        if let Some(old) = self.file.take() {
            // A leftover is removed with the directory.
            let _ = std::fs::remove_file(old);
        }
        self.awaited.0.store(ticket, Ordering::SeqCst);
        let path = self.dir.join(name(ticket));
        File::create(&path)?;
        self.file = Some(path);
        Ok(())
    }
}

impl Drop for CookieDir {
    fn drop(&mut self) {
        // A leftover is removed with the daemon's runtime directory.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Awaited {
    /// Returns the ticket that an event of this file confirms.
    pub(crate) fn brought_by(&self, file: &OsStr) -> Option<u64> {
        let ticket = self.0.load(Ordering::SeqCst);
        (file == OsStr::new(&name(ticket))).then_some(ticket)
    }
}

fn name(ticket: u64) -> String {
    format!("cookie-{ticket}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_event_of_an_earlier_ticket_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let mut cookies = CookieDir::new(&dir.path().join("c")).unwrap();
        let awaited = cookies.awaited();
        cookies.place(7).unwrap();
        assert_eq!(awaited.brought_by(OsStr::new("cookie-7")), Some(7));
        cookies.place(8).unwrap();
        assert_eq!(awaited.brought_by(OsStr::new("cookie-7")), None);
        assert_eq!(awaited.brought_by(OsStr::new("cookie-8")), Some(8));
        assert_eq!(std::fs::read_dir(cookies.dir()).unwrap().count(), 1);
    }
}
