//! What lies in the directories that touches come by.
//!
//! Most directories of a worktree hold nothing of any agent's, and agents touch the same ones again
//! and again. So a directory is asked how it is, which is one question however many places are looked
//! for in it; where that is as it was, what it holds is known, and else it is listed once. A listing
//! that is so young that another change could bear the same time is for that touch alone.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use skills_syntax::path::AbsPath;

use crate::files::dir_index::Seen;
use crate::files::disk::{Disk, Kind, MOST_ENTRIES};

/// How large a directory may be, in bytes as the file system counts them, to be listed. In a larger
/// one, where build output or data lies, looking for each place is less than reading its names.
const LISTED: u64 = 256 * 1024;

/// How many directories are remembered; beyond that all are forgotten, and each costs a listing when
/// it is come by again.
const REMEMBERED: usize = 4096;

/// What is known of directories; cheap to clone, and shared by all conversations.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    known: Arc<Mutex<HashMap<AbsPath, Level>>>,
}

/// A directory as it was listed.
#[derive(Debug)]
struct Level {
    seen: Seen,
    held: Held,
}

/// What a directory may hold.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Nothing.
    Nothing,
    /// Of what begins with a dot these directories and links.
    Dotted(Arc<[OsString]>),
    /// Anything: it has to be looked for.
    Anything,
}

impl Held {
    /// Returns whether something may be at a path below the directory.
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

impl Levels {
    /// Returns what a directory may hold.
    pub(super) fn held(&self, disk: &dyn Disk, dir: &AbsPath) -> Held {
        let Ok(stat) = disk.stat(dir) else { return Held::Nothing };
        match stat.kind {
            Kind::Directory if stat.size > LISTED => return Held::Anything,
            Kind::Directory => {}
            // How what it leads to is, it does not tell.
            Kind::Link => return Held::Anything,
            Kind::File | Kind::Special(_) => return Held::Nothing,
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = known.get(dir).filter(|it| it.seen.holds(&stat)) {
            return level.held.clone();
        }
        drop(known);
        let asked = SystemTime::now();
        // It may be entered and not listed.
        let Ok(listing) = disk.list(dir) else { return Held::Anything };
        if listing.entries.len() > MOST_ENTRIES {
            return Held::Anything;
        }
        let entries = listing.entries.into_iter();
        let dotted = entries.filter(|(name, kind)| {
            is_dotted(name.as_bytes()) && matches!(kind, Kind::Directory | Kind::Link)
        });
        let held = Held::Dotted(dotted.map(|(name, _)| name).collect());
        let seen = Seen::asked(asked, listing.stat);
        if seen.racy {
            return held;
        }
        let level = Level { seen, held: held.clone() };
        known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(dir.clone(), level);
        held
    }
}
