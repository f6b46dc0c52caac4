//! [`Unit`]: a set of files that are trusted together, its limits and its hash.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use skills_engine::disk::content_hash;

use crate::access::confined_dir::{ConfinedDir, ConfinedDirError, DirectoryLinks, MAX_DEPTH};

/// Maximum number of files of a skill that runs anything.
pub(super) const MAX_FILES: usize = 5_000;

/// Maximum total size of these files in bytes.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A set of files that are trusted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unit {
    pub(super) directory: PathBuf,
    /// The single file of a command, which shares its directory with others.
    only: Option<PathBuf>,
    /// The skill's directory below `directory`.
    pub(super) skill: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The skill exceeds the limits.
    #[error(
        "it has more than {MAX_FILES} files, {MAX_BYTES} bytes or {MAX_DEPTH} levels of directories"
    )]
    TooMuch,
    #[error(transparent)]
    Unread(#[from] ConfinedDirError),
    #[error("failed to copy it: {0}")]
    Copy(io::Error),
}

impl SealError {
    pub(super) fn of(error: ConfinedDirError) -> Self {
        match error {
            ConfinedDirError::TooLarge(_) => Self::TooMuch,
            error => Self::Unread(error),
        }
    }
}

impl Unit {
    /// Returns the files that belong to a skill: those of its plugin, else those beside its file.
    pub(crate) fn of(file: &Path, plugin: Option<&Path>) -> Self {
        let own = file.parent().unwrap_or(file);
        if let Some((plugin, skill)) = plugin.and_then(|it| Some((it, own.strip_prefix(it).ok()?)))
        {
            return Self { directory: plugin.into(), only: None, skill: skill.into() };
        }
        let name = file.file_name().map(PathBuf::from);
        let only = name.filter(|it| it.as_os_str() != "SKILL.md");
        Self { directory: own.into(), only, skill: PathBuf::new() }
    }

    /// Returns the path below the unit's directory of a path below the skill's.
    pub(crate) fn below(&self, relative: &Path) -> PathBuf {
        self.skill.join(relative)
    }

    /// Returns the path that trust in the files is bound to.
    pub(super) fn key(&self) -> Result<PathBuf, SealError> {
        let path = fs::canonicalize(&self.directory).map_err(ConfinedDirError::Io)?;
        let mut path = path.into_os_string();
        // No file's path contains NUL, and the key lies below the trusted directory.
        path.push("/\0files");
        path.push(self.only.as_deref().map_or(OsStr::new(""), Path::as_os_str));
        Ok(path.into())
    }
}

/// The files of a unit.
pub(super) struct UnitFiles {
    /// The relative paths, and whether each file is executable.
    pub(super) files: Vec<(PathBuf, bool)>,
    /// A path in the unit's directory whose files are not in the unit.
    pub(super) left_out: Option<PathBuf>,
}

/// Lists the files of a unit.
pub(super) fn listed(unit: &Unit, skill_dir: &ConfinedDir) -> Result<UnitFiles, SealError> {
    if let Some(name) = &unit.only {
        let files = vec![(name.clone(), skill_dir.located(name)?.1)];
        return Ok(UnitFiles { files, left_out: None });
    }
    let listing = skill_dir.list(DirectoryLinks::Skipped)?;
    if listing.truncated || listing.files.len() > MAX_FILES {
        return Err(SealError::TooMuch);
    }
    let files = listing.files.into_iter().map(|it| (it.relative, it.executable)).collect();
    Ok(UnitFiles { files, left_out: listing.left_out })
}

/// Returns the hash of files by their paths, executable bits and the hashes of their bytes.
pub(super) fn hash<'a>(files: impl Iterator<Item = (&'a Path, bool, [u8; 32])>) -> [u8; 32] {
    let mut text = b"files of a skill, 1".to_vec();
    for (relative, executable, hash) in files {
        let path = relative.as_os_str().as_bytes();
        text.extend_from_slice(&(path.len() as u64).to_le_bytes());
        text.extend_from_slice(path);
        text.push(u8::from(executable));
        text.extend_from_slice(&hash);
    }
    content_hash(&text)
}
