//! [`TouchDirCache`]: cache of the agent directories in each directory that touches visit.
//!
//! Most directories of a worktree contain nothing of any agent, and agents touch the same ones
//! repeatedly. A visit costs one `stat`, however many names are checked; an unchanged directory is
//! answered from the cache, a changed one is listed once. A listing so recent that another change
//! could carry the same timestamp is not cached.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

use crate::disk::{Disk, EntryKind, MOST_ENTRIES};
use crate::files::dir_index::ReadStat;

/// Maximum size of a directory to be listed, in bytes as the file system reports it. In larger
/// ones, such as build output, checking each name is cheaper than listing.
const MAX_LISTED_BYTES: u64 = 256 * 1024;

/// Maximum number of cached directories; beyond it the cache is cleared.
const MAX_CACHED_DIRS: usize = 4096;

/// Cache of directory contents; cheap to clone, shared by all sessions.
#[derive(Clone, Debug, Default)]
pub struct TouchDirCache {
    known: Arc<Mutex<HashMap<AbsPath, ListedDir>>>,
}

#[derive(Debug)]
struct ListedDir {
    seen: ReadStat,
    contents: DirContents,
}

/// Possible contents of a directory.
#[derive(Clone, Debug)]
pub(super) enum DirContents {
    /// No entries.
    Nothing,
    /// Exactly these directories and links among names that begin with a dot.
    Dotted(Arc<[OsString]>),
    /// Unknown: each name has to be checked.
    Anything,
}

impl DirContents {
    /// Returns true if something may exist at a path below the directory.
    pub(super) fn may_have(&self, relative: &Path) -> bool {
        let Some(Component::Normal(first)) = relative.components().next() else { return true };
        match self {
            Self::Nothing => false,
            Self::Dotted(names) if is_dotted(first.as_bytes()) => {
                names.iter().any(|it| it == first)
            }
            Self::Dotted(_) | Self::Anything => true,
        }
    }
}

fn is_dotted(name: &[u8]) -> bool {
    name.starts_with(b".")
}

impl TouchDirCache {
    pub(super) fn contents(&self, disk: &dyn Disk, dir: &AbsPath) -> DirContents {
        let Ok(stat) = disk.stat(dir) else { return DirContents::Nothing };
        match stat.kind {
            EntryKind::Directory if stat.size > MAX_LISTED_BYTES => return DirContents::Anything,
            EntryKind::Directory => {}
            // A symlink's metadata says nothing about its target.
            EntryKind::Link => return DirContents::Anything,
            EntryKind::File | EntryKind::Special(_) => return DirContents::Nothing,
        }
        let mut known = lock(&self.known);
        if let Some(level) = known.get(dir).filter(|it| it.seen.is_unchanged(&stat)) {
            return level.contents.clone();
        }
        drop(known);
        let at = SystemTime::now();
        // The directory may permit entering but not listing.
        let Ok(listing) = disk.list(dir) else { return DirContents::Anything };
        if listing.entries.len() > MOST_ENTRIES {
            return DirContents::Anything;
        }
        let entries = listing.entries.into_iter();
        let dotted = entries.filter(|(name, kind)| {
            is_dotted(name.as_bytes()) && matches!(kind, EntryKind::Directory | EntryKind::Link)
        });
        let contents = DirContents::Dotted(dotted.map(|(name, _)| name).collect());
        let seen = ReadStat::after_read_started(at, listing.stat);
        if seen.racy {
            return contents;
        }
        let level = ListedDir { seen, contents: contents.clone() };
        known = lock(&self.known);
        if known.len() >= MAX_CACHED_DIRS {
            known.clear();
        }
        known.insert(dir.clone(), level);
        contents
    }
}
