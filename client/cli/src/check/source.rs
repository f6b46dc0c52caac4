//! Content of a checked file, read again to show excerpts and to apply fixes.
//!
//! Only regular files are read: reading a pipe could block for ever, and a device has no end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Maximum size, in bytes: the highest `read_limit`.
const MOST: u64 = 64 * 1024 * 1024;

/// Reads a regular file. A file replaced by a link in the meantime counts as another file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MOST {
        return Err(io::Error::other("it is not a regular file of at most 64 MiB"));
    }
    let mut bytes = Vec::new();
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}
