//! The configuration files of other programs: read, written through links, and kept a copy of.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::replace::replace;

/// What the copy of a file that is changed is called: its name, and this.
pub(super) const BACKUP: &str = ".before-skillsd";

/// Returns a file's text; none where there is no file.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file in one step, and returns the directories that were made for it, the outer first.
pub(super) fn write(path: &Path, text: &str) -> io::Result<Vec<PathBuf>> {
    // A link is followed, because people keep such files elsewhere.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let missing = dir.ancestors().take_while(|it| !it.exists()).map(Path::to_owned);
    let mut missing: Vec<_> = missing.collect();
    missing.reverse();
    fs::create_dir_all(dir)?;
    replace(&target, text.as_bytes(), || Ok(true))?;
    Ok(missing)
}

/// Returns where the copy of a file is kept.
pub(super) fn backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(BACKUP);
    name.into()
}

/// Keeps a copy of a file beside it, with its mode.
pub(super) fn keep_backup(path: &Path) -> io::Result<()> {
    fs::copy(path, backup(path)).map(drop)
}

/// Removes a file; one that is gone already is as it should be.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        let top = tempfile::TempDir::new().expect("made");
        let (real, link) = (top.path().join("real"), top.path().join("link"));
        fs::write(&real, "old").expect("written");
        fs::set_permissions(&real, Permissions::from_mode(0o600)).expect("ours");
        symlink("real", &link).expect("made");
        assert!(write(&link, "new").expect("written").is_empty());
        assert_eq!(fs::read_to_string(&real).expect("there"), "new");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o600);
        let names = fs::read_dir(top.path()).expect("there").count();
        assert_eq!(names, 2, "nothing else is left");
    }

    #[test]
    fn directories_that_were_made_are_told() {
        let top = tempfile::TempDir::new().expect("made");
        let made = write(&top.path().join("a/b/f"), "x").expect("written");
        assert_eq!(made, [top.path().join("a"), top.path().join("a/b")]);
        assert_eq!(read(&top.path().join("a/b/g")).expect("fine"), None);
    }
}
