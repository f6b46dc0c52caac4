//! Replacing a file of the user in one step: whole or not at all, with its mode and its owner.
//!
//! What is new is written beside the file and put in its place, so that nobody reads half of it and
//! nothing is lost when the disk is full. Links are for the caller to follow.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::Path;

/// Puts `bytes` in the place of a file, or where there is none. Returns whether that was done:
/// `is_wanted` is asked when all is written and nothing is left but to put it there.
pub(super) fn replace(
    target: &Path,
    bytes: &[u8],
    is_wanted: impl FnOnce() -> io::Result<bool>,
) -> io::Result<bool> {
    let dir = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = dir.join(format!(".{name}.{}", std::process::id()));
    let outcome = write(&draft, bytes, fs::metadata(target).ok().as_ref())
        .and_then(|()| is_wanted())
        .and_then(|is_wanted| {
            if is_wanted { fs::rename(&draft, target) } else { Ok(()) }.map(|()| is_wanted)
        });
    // What is left of it is of no use, and the reason is told. One that was there is somebody else's.
    let is_ours = !matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::AlreadyExists);
    if is_ours && !matches!(outcome, Ok(true)) {
        let _ = fs::remove_file(&draft);
    }
    outcome
}

/// Writes a draft as a file that has these metadata, which is closed to others until then.
fn write(draft: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        keep_owner(&file, old)?;
    }
    // Behind the owner: whoever gets a file from another loses some bits of its mode.
    let mode = old.map_or(0o644, |it| it.permissions().mode() & 0o7777);
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Gives a file to the owner and the group of another, as far as that can be done: whoever may not
/// give a file away, or works where there are no owners, becomes the owner of what he writes.
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
    fn a_file_is_replaced_with_its_mode_and_nothing_else_is_left() {
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
    fn what_is_not_wanted_any_more_or_cannot_be_told_leaves_the_file_as_it_is() {
        let top = tempfile::TempDir::new().expect("made");
        let file = top.path().join("f");
        fs::write(&file, "old").expect("written");
        assert!(!replace(&file, b"new", || Ok(false)).expect("fine"));
        replace(&file, b"new", || Err(io::Error::other("no"))).expect_err("told");
        assert_eq!(fs::read_to_string(&file).expect("there"), "old");
        assert_eq!(names(top.path()), ["f"]);
    }
}
