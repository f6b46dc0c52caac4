//! Content of a checked file, read again to show excerpts and to apply fixes, and the excerpts.
//!
//! Only regular files are read: reading a pipe could block for ever, and a device has no end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use skills_protocol::wire::Range;

use crate::text::plain_exact;

/// Source line of a finding, escaped and cut around the finding.
pub(crate) struct Excerpt {
    pub(crate) before: String,
    pub(crate) marked: String,
    pub(crate) behind: String,
}

/// Maximum size, in bytes: the highest `read_limit`.
const MAX_SOURCE_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file of at most [`MAX_SOURCE_BYTES`] bytes.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let too_large = "it is not a regular file of at most 64 MiB";
    read_at_most(path, MAX_SOURCE_BYTES)?.ok_or_else(|| io::Error::other(too_large))
}

/// Reads a file; `None` if it is not a regular file, or larger than `most` bytes.
///
/// # Errors
/// If it cannot be opened. A link is not followed.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags =
        OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Returns the first line of a range in these lines, with at most `room` characters of it and
/// ellipses for the others.
pub(crate) fn excerpt(lines: &[&str], range: Range, room: usize) -> Option<Excerpt> {
    let (start, end) = (range.start, range.end);
    let line = lines.get(start.line.saturating_sub(1) as usize)?;
    let letters: Vec<char> = line.chars().collect();
    let from = (start.column.saturating_sub(1) as usize).min(letters.len());
    let to =
        if end.line == start.line { end.column.saturating_sub(1) as usize } else { letters.len() };
    let to = to.clamp(from, letters.len());
    // Shows the part of a long line around the finding.
    let first = if letters.len() > room { from.saturating_sub(room / 3) } else { 0 };
    let last = letters.len().min(first + room);
    let part = |from: usize, to: usize| {
        let part: String = letters[from.min(last)..to.min(last)].iter().collect();
        plain_exact(&part.replace('\t', "    "))
    };
    let cut = if first > 0 { "…" } else { "" };
    let more = if last < letters.len() { "…" } else { "" };
    Some(Excerpt {
        before: format!("{cut}{}", part(first, from)),
        marked: part(from, to),
        behind: format!("{}{more}", part(to, last)),
    })
}

/// Returns the lines of a file. Lines end as editors count them: `\n`, `\r\n` or a lone `\r`.
pub(crate) fn lines(source: &str) -> Vec<&str> {
    let source = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    source.split('\n').flat_map(|it| it.strip_suffix('\r').unwrap_or(it).split('\r')).collect()
}
