//! Atomic replacement of a user's file, which keeps its mode and owner.
//!
//! The new content is written to a temporary file beside the target and renamed, so that readers
//! never see half of it and a full disk loses nothing. Callers resolve symlinks.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::Path;

/// Replaces or creates a file, and returns whether it did. `is_wanted` is called after everything
/// is written, right before the rename.
pub(super) fn replace(
    target: &Path,
    bytes: &[u8],
    is_wanted: impl FnOnce() -> io::Result<bool>,
) -> io::Result<bool> {
    let dir = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let temporary = dir.join(format!(".{name}.{}", std::process::id()));
    let outcome = write(&temporary, bytes, fs::metadata(target).ok().as_ref())
        .and_then(|()| is_wanted())
        .and_then(|is_wanted| {
            if is_wanted { fs::rename(&temporary, target) } else { Ok(()) }.map(|()| is_wanted)
        });
    // Removes the temporary file, unless it existed before and belongs to another process.
    let is_ours = !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::AlreadyExists);
    if is_ours && !matches!(outcome, Ok(true)) {
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

/// Writes a temporary file with the mode and owner of `old`; until then it is private.
fn write(temporary: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        keep_owner(&file, old)?;
    }
    // After the owner, because changing the owner clears some mode bits.
    let mode = old.map_or(0o644, |it| it.permissions().mode() & 0o7777);
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Sets the owner and group of a file, as far as the user may do that. Errors are ignored, for
/// example on file systems without owners.
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    for (uid, gid) in [
        (None, (new.gid() != old.gid()).then(|| old.gid())),
        ((new.uid() != old.uid()).then(|| old.uid()), None),
    ] {
        if uid.is_some() || gid.is_some() {
            let _ = fchown(file, uid, gid);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("there").map(|it| it.expect("read").file_name());
        entries.map(|it| it.into_string().expect("a name")).collect()
    }

    #[test]
    fn replaced_file_keeps_its_mode() {
        let top = tempfile::TempDir::new().expect("made");
        let file = top.path().join("f");
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("ours");
        assert!(replace(&file, b"new", || Ok(true)).expect("written"));
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o7777, 0o640);
        assert_eq!(names(top.path()), ["f"]);
    }

    #[test]
    fn unwanted_or_failed_replacement_leaves_the_file_unchanged() {
        let top = tempfile::TempDir::new().expect("made");
        let file = top.path().join("f");
        fs::write(&file, "old").expect("written");
        assert!(!replace(&file, b"new", || Ok(false)).expect("fine"));
        replace(&file, b"new", || Err(io::Error::other("no"))).expect_err("told");
        assert_eq!(fs::read_to_string(&file).expect("there"), "old");
        assert_eq!(names(top.path()), ["f"]);
    }
}
