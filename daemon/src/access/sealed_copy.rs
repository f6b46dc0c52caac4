//! A snapshot of a skill's files: the hash that trust is bound to, and the sealed copy that runs.
//!
//! The hash covers every file of the copy, so the checked files are those that run, even if the
//! skill's directory changes meanwhile. Tool directories (such as `node_modules`), links to
//! directories and links out of the skill are in neither.

mod hashes;
mod unit;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, test_kill_process};
use skills_engine::disk::content_hash;
use skills_engine::sessions::store::trust::Content;
use skills_protocol::error::RpcError;

pub(crate) use self::hashes::{HashedFile, HashedUnit, Hashes};
use self::unit::{MAX_BYTES, UnitFiles, hash, listed};
pub(crate) use self::unit::{SealError, Unit};
use crate::access::confined_dir::ConfinedDir;

/// Prefix of the directories of copies, beside the socket.
pub(crate) const COPIES: &str = "copies.";

/// The files of a unit as they were read.
#[derive(Debug)]
pub(crate) struct Snapshot {
    unit: Unit,
    files: Vec<SealedFile>,
    content: Content,
    left_out: Option<PathBuf>,
}

#[derive(Debug)]
struct SealedFile {
    relative: PathBuf,
    executable: bool,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// Reads all files of a unit. Blocks on the disk.
    pub(crate) fn take(unit: Unit) -> Result<Self, SealError> {
        let dir = ConfinedDir::open(&unit.directory)?;
        let UnitFiles { files: found, left_out } = listed(&unit, &dir)?;
        let mut room = MAX_BYTES;
        let mut files = Vec::with_capacity(found.len());
        for (relative, executable) in found {
            let bytes = dir.whole(&relative, room).map_err(SealError::of)?;
            room -= bytes.len() as u64;
            files.push(SealedFile { relative, executable, bytes });
        }
        let parts = files.iter().map(|it| (&*it.relative, it.executable, content_hash(&it.bytes)));
        let content = Content { path: unit.key()?, hash: hash(parts) };
        Ok(Self { unit, files, content, left_out })
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Returns a path in the unit's directory whose files the hash does not cover.
    pub(crate) fn left_out(&self) -> Option<&Path> {
        self.left_out.as_deref()
    }

    /// Returns the first line of a file below the skill's directory.
    pub(crate) fn first_line(&self, relative: &Path) -> Option<&[u8]> {
        let path = self.unit.below(relative);
        let file = self.files.iter().find(|it| it.relative == path)?;
        file.bytes.split(|it| *it == b'\n').next()
    }

    /// Writes the files into a directory of their own below `place`. Blocks on the disk.
    pub(crate) fn copy(&self, place: &Path) -> io::Result<SealedCopy> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let private = |is_deep: bool| {
            let mut builder = DirBuilder::new();
            builder.mode(0o700).recursive(is_deep);
            builder
        };
        let root = place.join(NUMBER.fetch_add(1, Ordering::Relaxed).to_string());
        private(true).create(place)?;
        let made = private(false).create(&root);
        if made.as_ref().is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
            // Dropping the last other copy has just removed the directory.
            private(true).create(place)?;
            private(false).create(&root)?;
        } else {
            made?;
        }
        // Joining an empty path would add a trailing slash.
        let is_root = self.unit.skill.as_os_str().is_empty();
        let skill = if is_root { root.clone() } else { root.join(&self.unit.skill) };
        let copy = SealedCopy { root, skill };
        private(true).create(&copy.skill)?;
        for file in &self.files {
            let path = copy.root.join(&file.relative);
            if let Some(parent) = path.parent() {
                private(true).create(parent)?;
            }
            let mode = if file.executable { 0o500 } else { 0o400 };
            let mut written =
                OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            written.write_all(&file.bytes)?;
        }
        Ok(copy)
    }
}

/// A private copy of a skill's files, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct SealedCopy {
    root: PathBuf,
    skill: PathBuf,
}

impl SealedCopy {
    /// Returns the copy of the directory that was read: the plugin's, or the skill's.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the copy of the skill's own directory.
    pub(crate) fn skill(&self) -> &Path {
        &self.skill
    }
}

impl Drop for SealedCopy {
    fn drop(&mut self) {
        // The next daemon removes a remaining copy.
        let _ = fs::remove_dir_all(&self.root);
        if let Some(place) = self.root.parent() {
            // Fails while other copies are in it.
            let _ = fs::remove_dir(place);
        }
    }
}

/// Removes copies beside the socket left by killed processes.
pub(crate) fn remove_stale(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // The id of a run ends with its process id.
        let process = name.strip_prefix(COPIES).and_then(|it| it.rsplit('-').next());
        let process = process.and_then(|it| i32::from_str_radix(it, 16).ok());
        let Some(pid) = process.and_then(Pid::from_raw) else { continue };
        if test_kill_process(pid).is_err() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Advice for a skill that exceeds the limits.
pub(crate) const MOVE_OUT: &str =
    "Move large, generated or deeply nested files out of the skill's directory.";

pub(crate) fn refused(error: &SealError, name: &str) -> RpcError {
    match error {
        SealError::TooMuch => {
            RpcError::too_large(format!("skillsd runs nothing of `{name}`: {error}"), MAX_BYTES)
                .with_hint(MOVE_OUT)
        }
        SealError::Unread(_) | SealError::Copy(_) => {
            RpcError::internal(format!("failed to read the files of `{name}`: {error}"))
                .with_hint("Retry when no process is writing them.")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::unit::MAX_FILES;
    use super::*;

    fn skill() -> (TempDir, PathBuf) {
        let top = TempDir::new().unwrap();
        let dir = top.path().join("s");
        fs::create_dir_all(dir.join("lib")).unwrap();
        fs::write(dir.join("SKILL.md"), "text").unwrap();
        fs::write(dir.join("lib/a"), "a").unwrap();
        (top, dir)
    }

    fn taken(dir: &Path) -> Snapshot {
        Snapshot::take(Unit::of(&dir.join("SKILL.md"), None)).unwrap()
    }

    #[test]
    fn hash_changes_with_every_file_name_mode_and_byte() {
        let (_top, dir) = skill();
        let mut seen = vec![taken(&dir).content().hash];
        let mut changed = |what: &str| {
            let hash = taken(&dir).content().hash;
            assert!(!seen.contains(&hash), "{what}");
            seen.push(hash);
        };
        fs::write(dir.join("lib/a"), "b").unwrap();
        changed("a byte");
        fs::write(dir.join("lib/c"), "").unwrap();
        changed("a file");
        fs::rename(dir.join("lib/c"), dir.join("lib/d")).unwrap();
        changed("a name");
        fs::set_permissions(dir.join("lib/d"), fs::Permissions::from_mode(0o755)).unwrap();
        changed("a mode");
        symlink("a", dir.join("lib/link")).unwrap();
        changed("a link beneath");
    }

    #[test]
    fn copy_contains_the_snapshot_and_is_removed_on_drop() {
        let (top, dir) = skill();
        symlink(top.path().join("secret"), dir.join("out")).unwrap();
        let snapshot = taken(&dir);
        fs::write(dir.join("lib/a"), "foreign").unwrap();
        let copy = snapshot.copy(&top.path().join("runs")).unwrap();
        assert_eq!(fs::read_to_string(copy.skill().join("lib/a")).unwrap(), "a");
        assert!(!copy.skill().join("out").exists());
        let place = copy.root().to_owned();
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        drop(copy);
        assert!(!place.exists());
    }

    #[test]
    fn command_is_trusted_apart_from_its_neighbours() {
        let (_top, dir) = skill();
        let content =
            |name: &str| Snapshot::take(Unit::of(&dir.join(name), None)).unwrap().content().clone();
        fs::write(dir.join("one.md"), "one").unwrap();
        let before = content("one.md");
        fs::write(dir.join("two.md"), "two").unwrap();
        assert_eq!(content("one.md"), before);
        assert_ne!(content("two.md").path, before.path);
    }

    #[test]
    fn skill_with_too_many_files_has_no_copy() {
        let (_top, dir) = skill();
        for n in 0..=MAX_FILES {
            fs::write(dir.join(n.to_string()), "").unwrap();
        }
        let error = Snapshot::take(Unit::of(&dir.join("SKILL.md"), None)).unwrap_err();
        assert!(matches!(error, SealError::TooMuch), "{error}");
    }
}
