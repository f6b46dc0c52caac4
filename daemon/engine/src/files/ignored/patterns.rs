//! Reader of ignore files such as `.gitignore`.
//!
//! The content of a worktree is untrusted. An ignore file must be a regular file of a bounded size,
//! is opened without blocking, and may be a link only as [`Links`] permits. Other files count as
//! empty and are logged.

use std::io;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::disk::{Disk as _, EntryKind, ReadError, RealDisk};

/// Maximum size of an ignore file, in bytes: the longest hand-written ones have some thousand
/// lines.
const MAX_IGNORE_FILE_BYTES: u64 = 1024 * 1024;

/// Treatment of ignore files that are symbolic links.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Links<'a> {
    /// Treated as empty, as git does in a worktree.
    Refused,
    /// Followed if the target is below this directory; ripgrep follows links without this limit.
    Within(&'a Path),
    /// Followed: the file belongs to the user or to the repository's administrative directory.
    Followed,
}

/// Returns a file's patterns relative to `base`; none if the file does not exist.
pub(crate) fn patterns(base: &Path, file: &Path, links: Links<'_>) -> Option<Gitignore> {
    let text = text(file, links)?;
    let mut builder = GitignoreBuilder::new(base);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // Invalid lines are skipped, as in git.
        if let Err(error) = builder.add_line(Some(file.to_owned()), line) {
            tracing::debug!(%error, "skipped an invalid pattern");
        }
    }
    let built = builder.build();
    built.inspect_err(|error| tracing::warn!(file = %file.display(), %error, "no patterns")).ok()
}

/// Returns the text of an ignore file.
pub(crate) fn text(file: &Path, links: Links<'_>) -> Option<String> {
    match read(file, links) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(ReadError::Io(error))
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            None
        }
        Err(error) => {
            tracing::warn!(file = %file.display(), ?error, "skipped an unreadable ignore file");
            None
        }
    }
}

fn read(file: &Path, links: Links<'_>) -> Result<Vec<u8>, ReadError> {
    let is_link = RealDisk.stat(file)?.kind == EntryKind::Link;
    let found = match links {
        Links::Refused if is_link => return Err(ReadError::NotRegular(EntryKind::Link)),
        Links::Within(dir) if is_link => {
            RealDisk.read(&target_below(file, dir)?, MAX_IGNORE_FILE_BYTES)?
        }
        Links::Refused | Links::Within(_) | Links::Followed => {
            RealDisk.read(file, MAX_IGNORE_FILE_BYTES)?
        }
    };
    if found.truncated {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge).into());
    }
    Ok(found.bytes)
}

fn target_below(file: &Path, dir: &Path) -> io::Result<PathBuf> {
    let target = file.canonicalize()?;
    if !target.starts_with(dir.canonicalize()?) {
        return Err(io::Error::other("it is a link that leads out of its worktree"));
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn ignore_file_must_be_regular_and_bounded() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join(".gitignore");
        let says = |links| patterns(top.path(), &file, links).map(|it| it.num_ignores());
        let all = [Links::Refused, Links::Within(top.path()), Links::Followed];
        let ends = || all.map(says);
        assert_eq!(ends(), [None; 3]);
        fs::write(&file, "\u{feff}a\nb[\n# c\n").unwrap();
        assert_eq!(ends(), [Some(2), Some(2), Some(2)]);
        fs::rename(&file, top.path().join("there")).unwrap();
        symlink("there", &file).unwrap();
        assert_eq!(ends(), [None, Some(2), Some(2)]);
        fs::remove_file(&file).unwrap();
        symlink("/dev/zero", &file).unwrap();
        assert_eq!(ends(), [None; 3]);
        fs::remove_file(&file).unwrap();
        mknodat(CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(ends(), [None; 3]);
        fs::remove_file(&file).unwrap();
        fs::write(&file, "a\n".repeat(MAX_IGNORE_FILE_BYTES as usize)).unwrap();
        assert_eq!(ends(), [None; 3]);
    }
}
