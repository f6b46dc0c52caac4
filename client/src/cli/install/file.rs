//! Reading and replacing files of the user: whole or not at all, through links, with their mode.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
///
/// A link is followed, because people keep such files elsewhere, and the mode is kept.
pub(super) fn write(path: &Path, text: &str) -> io::Result<Vec<PathBuf>> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&target).map(|it| it.permissions().mode() & 0o7777);
    let dir = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let missing = dir.ancestors().take_while(|it| !it.exists()).map(Path::to_owned);
    let mut missing: Vec<_> = missing.collect();
    missing.reverse();
    fs::create_dir_all(dir)?;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = dir.join(format!(".{name}.{}", std::process::id()));
    let written = write_draft(&draft, text, mode.ok()).and_then(|()| fs::rename(&draft, &target));
    if written.is_err() {
        // What is left of it is of no use, and the reason is told.
        let _ = fs::remove_file(&draft);
    }
    written.map(|()| missing)
}

// Closed to others until it has the mode of the file that it replaces.
fn write_draft(draft: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(mode.unwrap_or(0o644)))?;
    file.sync_all()
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
    use std::os::unix::fs::symlink;

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
