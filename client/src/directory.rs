//! The directory that holds the socket and the locks: made when it is missing, refused when
//! somebody else could put something into it.
//!
//! Client and daemon both call [`prepare`], so that neither trusts what the other would not. The
//! directory is never repaired: one with the wrong owner or mode was not made by us.
//! Invariant: after `Ok`, only the user (and root) can make, replace or remove files in it.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use skills_protocol::socket::{SocketLocation, SocketSource};

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const GROUP_OR_OTHERS: u32 = 0o077;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// Why the directory is refused.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It could not be made.
    #[error("failed to make the directory `{}`", .path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be looked at.
    #[error("failed to examine the directory `{}`", .path.display())]
    Examine {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a symbolic link or a file.
    #[error("`{}` is not a directory", .path.display())]
    NotADirectory {
        /// What is there.
        path: PathBuf,
    },
    /// Another user owns it, and could swap what is in it.
    #[error("the directory `{}` belongs to user {owner}, not to you (user {uid})", .path.display())]
    ForeignOwner {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        uid: u32,
    },
    /// Others may write to it, or see into it where they must not.
    #[error("the directory `{}` has mode {mode:04o} and is open to others", .path.display())]
    OpenToOthers {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

impl DirectoryError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Make { .. } | Self::Examine { .. } => Some(
                "Set SKILLSD_SOCKET to a path in a directory of yours, or XDG_RUNTIME_DIR to one."
                    .to_owned(),
            ),
            Self::NotADirectory { path } => Some(format!("Remove `{}`.", path.display())),
            Self::ForeignOwner { owner: ROOT, .. } => Some(
                "When a command run as root left it there, remove it as root; else set SKILLSD_SOCKET to a path in a directory of yours."
                    .to_owned(),
            ),
            Self::ForeignOwner { .. } => Some(
                "Set SKILLSD_SOCKET to a path in a directory of yours, or unset XDG_RUNTIME_DIR when it is another user's."
                    .to_owned(),
            ),
            Self::OpenToOthers { path, .. } => {
                Some(format!("Run `chmod go-rwx {}`, or set SKILLSD_SOCKET to a path in a private directory.", path.display()))
            }
        }
    }

    fn is_denial(&self) -> bool {
        matches!(self, Self::Examine { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}

/// Makes the socket's directory when it is missing, with mode 0700, and checks it.
///
/// Only this one level is made, and only beneath a directory that is safe: root with the variables
/// of another user would otherwise leave a directory there which locks that user out.
pub fn prepare(location: &SocketLocation) -> Result<(), DirectoryError> {
    let path = location.directory();
    if let Err(error) = fs::symlink_metadata(path)
        && error.kind() == io::ErrorKind::NotFound
    {
        make(path)?;
    }
    verify(location)
}

fn make(path: &Path) -> Result<(), DirectoryError> {
    if let Some(parent) = path.parent() {
        verify_parent(parent, rustix::process::getuid().as_raw())?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        // Somebody else was quicker; what is there is looked at next.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|source| DirectoryError::Make { path: path.to_owned(), source }),
    }
}

/// Checks the socket's directory: a real directory, the user's own, closed to others.
///
/// A directory that the user chose by `SKILLSD_SOCKET` may be readable by others, not writable.
pub fn verify(location: &SocketLocation) -> Result<(), DirectoryError> {
    let uid = rustix::process::getuid().as_raw();
    let forbidden = match location.source() {
        SocketSource::Variable => GROUP_OR_OTHERS_WRITE,
        SocketSource::XdgRuntimeDir | SocketSource::RunUser | SocketSource::Tmp => GROUP_OR_OTHERS,
    };
    let path = location.directory();
    let found = match examine(path) {
        // Whose the directory above is explains it better.
        Err(error) if error.is_denial() => {
            path.parent().map_or(Ok(()), |parent| verify_parent(parent, uid))?;
            return Err(error);
        }
        found => found?,
    };
    if !found.is_dir() {
        return Err(DirectoryError::NotADirectory { path: path.to_owned() });
    }
    if found.uid() != uid {
        let path = path.to_owned();
        return Err(DirectoryError::ForeignOwner { path, owner: found.uid(), uid });
    }
    if found.mode() & forbidden != 0 {
        let mode = found.mode() & 0o7777;
        return Err(DirectoryError::OpenToOthers { path: path.to_owned(), mode });
    }
    path.parent().map_or(Ok(()), |parent| verify_parent(parent, uid))
}

// Whoever can rename our directory can put another one in its place.
fn verify_parent(parent: &Path, uid: u32) -> Result<(), DirectoryError> {
    // Followed: `/var/run` may be a link.
    let examined = fs::metadata(parent);
    let found =
        examined.map_err(|source| DirectoryError::Examine { path: parent.to_owned(), source })?;
    if found.uid() != uid && found.uid() != ROOT {
        let path = parent.to_owned();
        return Err(DirectoryError::ForeignOwner { path, owner: found.uid(), uid });
    }
    let mode = found.mode() & 0o7777;
    if mode & GROUP_OR_OTHERS_WRITE != 0 && mode & STICKY == 0 {
        return Err(DirectoryError::OpenToOthers { path: parent.to_owned(), mode });
    }
    Ok(())
}

fn examine(path: &Path) -> Result<Metadata, DirectoryError> {
    fs::symlink_metadata(path)
        .map_err(|source| DirectoryError::Examine { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use skills_protocol::socket::{SocketEnvironment, choose};
    use tempfile::TempDir;

    use super::*;

    fn chosen(path: &Path) -> SocketLocation {
        let skillsd_socket = Some(path.join("s.sock").into());
        choose(&SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() }).expect("one")
    }

    fn xdg(path: &Path) -> SocketLocation {
        let xdg_runtime_dir = Some(path.into());
        choose(&SocketEnvironment { xdg_runtime_dir, ..SocketEnvironment::default() }).expect("one")
    }

    fn lay(path: &Path, mode: u32) {
        fs::create_dir_all(path).expect("made");
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }

    #[test]
    fn a_missing_directory_is_made_private() {
        let top = TempDir::new().expect("made");
        let location = xdg(top.path());
        prepare(&location).expect("fine");
        let mode = fs::metadata(location.directory()).expect("there").mode();
        assert_eq!(mode & 0o777, 0o700);
        prepare(&location).expect("and again");
    }

    #[test]
    fn nothing_is_made_beneath_what_is_missing_or_unsafe() {
        let top = TempDir::new().expect("made");
        let missing = xdg(&top.path().join("gone"));
        let error = prepare(&missing).expect_err("no directory above");
        assert!(matches!(error, DirectoryError::Examine { .. }), "{error:?}");
        assert!(error.hint().is_some());
        assert!(!top.path().join("gone").exists());

        let shared = xdg(&top.path().join("shared"));
        lay(&top.path().join("shared"), 0o777);
        assert!(matches!(prepare(&shared), Err(DirectoryError::OpenToOthers { .. })));
        assert!(!shared.directory().exists());
    }

    #[test]
    fn nothing_is_made_in_a_directory_of_another_user() {
        let top = TempDir::new().expect("made");
        let location = xdg(top.path());
        // Only root can give a directory away; another user may make nothing in root's anyway.
        if std::os::unix::fs::chown(top.path(), Some(4711), None).is_ok() {
            let error = prepare(&location).expect_err("theirs");
            assert!(matches!(error, DirectoryError::ForeignOwner { owner: 4711, .. }), "{error:?}");
        } else {
            let error = prepare(&xdg(Path::new("/proc"))).expect_err("nothing can be made there");
            assert!(matches!(error, DirectoryError::Make { .. }), "{error:?}");
        }
        assert!(!location.directory().exists());
    }

    #[test]
    fn our_own_directory_must_be_closed_a_chosen_one_not_writable() {
        let top = TempDir::new().expect("made");
        let ours = xdg(top.path());
        lay(ours.directory(), 0o750);
        assert!(matches!(prepare(&ours), Err(DirectoryError::OpenToOthers { mode: 0o750, .. })));

        let dir = top.path().join("chosen");
        lay(&dir, 0o755);
        prepare(&chosen(&dir)).expect("readable is fine");
        lay(&dir, 0o775);
        let error = prepare(&chosen(&dir));
        assert!(matches!(error, Err(DirectoryError::OpenToOthers { mode: 0o775, .. })));
    }

    #[test]
    fn a_link_or_a_file_in_its_place_is_refused() {
        let top = TempDir::new().expect("made");
        lay(&top.path().join("real"), 0o700);
        symlink("real", top.path().join("link")).expect("made");
        fs::write(top.path().join("file"), "").expect("written");
        for name in ["link", "file"] {
            let error = prepare(&chosen(&top.path().join(name)));
            assert!(matches!(error, Err(DirectoryError::NotADirectory { .. })), "{name}");
        }
    }

    #[test]
    fn a_parent_that_others_may_write_to_is_refused_unless_sticky() {
        let top = TempDir::new().expect("made");
        let parent = top.path().join("shared");
        let location = chosen(&parent.join("dir"));
        lay(&parent.join("dir"), 0o700);
        lay(&parent, 0o777);
        assert!(matches!(prepare(&location), Err(DirectoryError::OpenToOthers { .. })));
        lay(&parent, 0o1777);
        prepare(&location).expect("like /tmp");
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        let top = TempDir::new().expect("made");
        let dir = top.path().join("theirs");
        lay(&dir, 0o700);
        // Only root can give a directory away; another user meets root's directories instead.
        let (location, owner) = if std::os::unix::fs::chown(&dir, Some(4711), None).is_ok() {
            (chosen(&dir), 4711)
        } else {
            (chosen(Path::new("/etc")), 0)
        };
        match prepare(&location) {
            Err(DirectoryError::ForeignOwner { owner: found, .. }) => assert_eq!(found, owner),
            other => panic!("{other:?}"),
        }
    }
}
