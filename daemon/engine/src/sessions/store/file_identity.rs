//! [`FileIdentity`]: checks that the open database is still the file at its path.
//!
//! If the directory is removed or the file is replaced or overwritten, SQLite keeps using the open
//! file, and the next start opens another one. The writer checks before and after each batch.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// First bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

type DeviceAndInode = (u64, u64);

/// The open file and SQLite's files beside it.
#[derive(Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    /// Dropped after the connection: closing any descriptor of a file releases SQLite's locks.
    file: File,
    identity: DeviceAndInode,
    /// Log and shared-memory index; no identity if they did not exist.
    beside: [(PathBuf, Option<DeviceAndInode>); 2],
    /// True if the file began with a database header.
    has_magic: bool,
}

impl FileIdentity {
    /// Returns the place of a connection that has just been opened; `file` was opened before it.
    pub(super) fn new(path: &Path, file: File) -> io::Result<Self> {
        let found = file.metadata()?;
        let beside = ["-wal", "-shm"].map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let path = PathBuf::from(name);
            let identity = identity(&path).ok();
            (path, identity)
        });
        let identity = (found.dev(), found.ino());
        let has_magic = has_magic(&file);
        Ok(Self { path: path.to_owned(), file, identity, beside, has_magic })
    }

    /// Returns why the file at the path is no longer the one that was opened; none if it is.
    pub(super) fn lost(&self) -> Option<String> {
        let shown = self.path.display();
        match identity(&self.path) {
            Ok(found) if found == self.identity => {}
            Ok(_) => return Some(format!("`{shown}` was replaced while skillsd ran")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(format!("`{shown}` was removed while skillsd ran"));
            }
            Err(error) => return Some(format!("`{shown}` is no longer accessible: {error}")),
        }
        for (path, known) in &self.beside {
            if known.is_some() && identity(path).ok() != *known {
                let shown = path.display();
                return Some(format!("`{shown}` was removed or replaced while skillsd ran"));
            }
        }
        let is_overwritten = self.has_magic && !has_magic(&self.file);
        is_overwritten.then(|| format!("`{shown}` was overwritten while skillsd ran"))
    }

    /// Returns true if the file itself is the one that was opened, regardless of its log.
    pub(super) fn has_file(&self) -> bool {
        identity(&self.path).is_ok_and(|it| it == self.identity)
            && (!self.has_magic || has_magic(&self.file))
    }
}

fn identity(path: &Path) -> io::Result<DeviceAndInode> {
    fs::metadata(path).map(|it| (it.dev(), it.ino()))
}

fn has_magic(file: &File) -> bool {
    let mut begin = [0; MAGIC.len()];
    file.read_exact_at(&mut begin, 0).is_ok() && begin == *MAGIC
}
