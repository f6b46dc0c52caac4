//! [`Hashes`]: hashes of skill files, for checks of trust without a sealed copy.
//!
//! One call reads each unit and file once, so all its results are of the same moment. Invariant: a
//! call reads at most its limits; content beyond them has no hash and is not trusted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_engine::cancel::Cancel;
use skills_engine::disk::content_hash;
use skills_engine::sessions::store::trust::Content;
use skills_render::count_commands;
use skills_syntax::text::decode;

use super::unit::{MAX_BYTES, MAX_FILES, SealError, Unit, UnitFiles, hash, listed};
use crate::access::confined_dir::{ConfinedDir, ConfinedDirError, MAX_SKILL_BYTES};

/// Maximum number of bytes read per call.
const MAX_CALL_BYTES: u64 = 1024 * 1024 * 1024;

/// Maximum number of files read per call.
const MAX_CALL_FILES: usize = 500_000;

/// The hashes of one call. Reading ends early once the call is cancelled.
pub(crate) struct Hashes<'a> {
    cancel: &'a Cancel,
    /// Units by their trust key; none for one that is too large or unreadable.
    units: BTreeMap<PathBuf, Option<Arc<HashedUnit>>>,
    /// Single files by canonical path; none for one that is too large or unreadable.
    files: BTreeMap<PathBuf, Option<Content>>,
    bytes_left: u64,
    files_left: usize,
}

/// The files of a unit as they were read.
#[derive(Debug)]
pub(crate) struct HashedUnit {
    /// The content that trust is bound to.
    pub(crate) content: Content,
    pub(crate) files: Vec<HashedFile>,
    /// A path in the unit's directory whose files the hash does not cover.
    pub(crate) left_out: Option<PathBuf>,
}

/// A file of a unit.
#[derive(Debug)]
pub(crate) struct HashedFile {
    pub(crate) relative: PathBuf,
    pub(crate) executable: bool,
    /// Number of shell commands in it, if it is Markdown.
    pub(crate) commands: usize,
    hash: [u8; 32],
}

impl<'a> Hashes<'a> {
    pub(crate) fn new(cancel: &'a Cancel) -> Self {
        let (units, files) = (BTreeMap::new(), BTreeMap::new());
        let (bytes_left, files_left) = (MAX_CALL_BYTES, MAX_CALL_FILES);
        Self { cancel, units, files, bytes_left, files_left }
    }

    pub(crate) fn cancel(&self) -> &'a Cancel {
        self.cancel
    }

    /// Returns the files of a unit; none if they are too many, too large or unreadable. Blocks on
    /// the disk.
    pub(crate) fn unit(&mut self, unit: &Unit) -> Option<Arc<HashedUnit>> {
        let key = unit.key().ok()?;
        if let Some(known) = self.units.get(&key) {
            return known.clone();
        }
        let read = self.read(unit, &key).ok().map(Arc::new);
        self.units.insert(key, read.clone());
        read
    }

    /// Returns the content of one file; none if it is too large or unreadable. Blocks on the disk.
    pub(crate) fn file(&mut self, path: &Path) -> Option<Content> {
        let path = fs::canonicalize(path).ok()?;
        if let Some(known) = self.files.get(&path) {
            return known.clone();
        }
        let size = fs::metadata(&path).map_or(0, |it| it.len());
        let content = |()| {
            let dir = ConfinedDir::open(path.parent()?).ok()?;
            dir.content(path.file_name()?.as_ref()).ok()
        };
        let read = self.take(size).and_then(content);
        self.files.insert(path, read.clone());
        read
    }

    fn take(&mut self, size: u64) -> Option<()> {
        if self.cancel.is_cancelled() {
            return None;
        }
        self.files_left = self.files_left.checked_sub(1)?;
        self.bytes_left = self.bytes_left.checked_sub(size)?;
        Some(())
    }

    fn read(&mut self, unit: &Unit, key: &Path) -> Result<HashedUnit, SealError> {
        self.take(0).ok_or(SealError::TooMuch)?;
        let skill_dir = ConfinedDir::open(&unit.directory)?;
        let found = listed(unit, &skill_dir);
        if found.is_err() {
            // A failed listing costs as much as a large unit.
            self.files_left = self.files_left.saturating_sub(MAX_FILES);
        }
        let mut room = MAX_BYTES;
        let mut files = Vec::new();
        let UnitFiles { files: found, left_out } = found?;
        for (relative, executable) in found {
            let most = room.min(self.bytes_left);
            let (hash, size, commands) = read_file(&skill_dir, &relative, most)?;
            self.take(size).ok_or(SealError::TooMuch)?;
            room -= size.min(room);
            files.push(HashedFile { relative, executable, commands, hash });
        }
        let parts = files.iter().map(|it| (&*it.relative, it.executable, it.hash));
        let content = Content { path: key.to_owned(), hash: hash(parts) };
        Ok(HashedUnit { content, files, left_out })
    }
}

fn read_file(
    skill_dir: &ConfinedDir,
    relative: &Path,
    most: u64,
) -> Result<([u8; 32], u64, usize), SealError> {
    let read = if relative.extension().is_some_and(|it| it.eq_ignore_ascii_case("md")) {
        skill_dir.whole(relative, most.min(MAX_SKILL_BYTES)).map(|text| {
            (content_hash(&text), text.len() as u64, count_commands(&decode(&text).text))
        })
    } else {
        Err(ConfinedDirError::TooLarge(0))
    };
    let read = match read {
        Err(ConfinedDirError::TooLarge(_)) => {
            skill_dir.hash(relative, most).map(|(hash, size)| (hash, size, 0))
        }
        read => read,
    };
    read.map_err(SealError::of)
}
