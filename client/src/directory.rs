//! Directory of the socket and the locks: created when missing, refused when other users can write
//! to it.
//!
//! Client and daemon both call [`prepare`], so that both apply the same checks. The directory is
//! never repaired: one with the wrong owner or mode was not created by skillsd.
//! Invariant: after `Ok`, only the user and root can create, replace or remove files in it.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use skills_protocol::socket::{SocketLocation, SocketSource};

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const GROUP_OR_OTHERS: u32 = 0o077;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// Reason why the directory is refused.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The directory could not be created.
    #[error("failed to create the directory `{}`", .path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The metadata could not be read.
    #[error("failed to examine the directory `{}`", .path.display())]
    Examine {
        /// The directory.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The path is a symbolic link or a file.
    #[error("`{}` is not a directory", .path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Another user owns the directory and could replace its contents.
    #[error("the directory `{}` belongs to user {owner}, not to you (user {uid})", .path.display())]
    ForeignOwner {
        /// The directory.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
        /// Our user id.
        uid: u32,
    },
    /// Other users may write to the directory, or read it where they must not.
    #[error("the directory `{}` has mode {mode:04o}, which lets other users in", .path.display())]
    OpenToOthers {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
}

impl DirectoryError {
    /// Returns a sentence that says what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Make { .. } | Self::Examine { .. } => Some(
                "Set SKILLSD_SOCKET to a path in a directory that you own, or XDG_RUNTIME_DIR to such a directory."
                    .to_owned(),
            ),
            Self::NotADirectory { path } => Some(format!("Remove `{}`.", path.display())),
            Self::ForeignOwner { owner: ROOT, .. } => Some(
                "If a command run as root created it, remove it as root. Otherwise set SKILLSD_SOCKET to a path in a directory that you own."
                    .to_owned(),
            ),
            Self::ForeignOwner { .. } => Some(
                "Set SKILLSD_SOCKET to a path in a directory that you own, or unset XDG_RUNTIME_DIR if it belongs to another user."
                    .to_owned(),
            ),
            // A shared directory such as `/tmp` stays open.
            Self::OpenToOthers { mode, .. } if mode & STICKY != 0 => {
                Some("Set SKILLSD_SOCKET to a path in a private directory.".to_owned())
            }
            Self::OpenToOthers { path, .. } => {
                let word = shell_word(&path.display().to_string());
                Some(format!("Run `chmod go-rwx {word}`, or set SKILLSD_SOCKET to a path in a private directory."))
            }
        }
    }

    fn is_denial(&self) -> bool {
        matches!(self, Self::Examine { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }
}

/// Returns the text as one word of a shell command, as `skills_syntax::quote::quote_word` does,
/// whose crate would bring parsers into this library.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@:".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Creates the socket's directory with mode 0700 if it is missing, and checks it.
///
/// Creates only this one level, and only in a safe parent directory: root with another user's
/// variables would otherwise leave a directory that locks this user out.
pub fn prepare(location: &SocketLocation) -> Result<(), DirectoryError> {
    let path = location.directory();
    if let Err(error) = fs::symlink_metadata(path)
        && error.kind() == io::ErrorKind::NotFound
    {
        create(path)?;
    }
    verify(location)
}

fn create(path: &Path) -> Result<(), DirectoryError> {
    if let Some(parent) = path.parent() {
        verify_parent(parent, rustix::process::getuid().as_raw())?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        // Another process created it first; the caller checks the result.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|source| DirectoryError::Make { path: path.to_owned(), source }),
    }
}

/// Checks that the socket's directory is a real directory, owned by the user and closed to others.
///
/// A directory chosen with `SKILLSD_SOCKET` may be readable by others, but not writable.
pub fn verify(location: &SocketLocation) -> Result<(), DirectoryError> {
    let uid = rustix::process::getuid().as_raw();
    let forbidden = match location.source() {
        SocketSource::Variable => GROUP_OR_OTHERS_WRITE,
        SocketSource::XdgRuntimeDir | SocketSource::RunUser | SocketSource::Tmp => GROUP_OR_OTHERS,
    };
    let path = location.directory();
    let found = match examine(path) {
        // The owner of the parent directory is the better explanation.
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

// A user who can rename our directory can replace it with another one.
fn verify_parent(parent: &Path, uid: u32) -> Result<(), DirectoryError> {
    // Follows symlinks: `/var/run` may be one.
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

    fn create_with_mode(path: &Path, mode: u32) {
        fs::create_dir_all(path).expect("made");
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }

    #[test]
    fn missing_directory_is_created_with_mode_0700() {
        let top = TempDir::new().expect("made");
        let location = xdg(top.path());
        prepare(&location).expect("fine");
        let mode = fs::metadata(location.directory()).expect("there").mode();
        assert_eq!(mode & 0o777, 0o700);
        prepare(&location).expect("and again");
    }

    #[test]
    fn directory_is_not_created_in_a_missing_or_unsafe_parent() {
        let top = TempDir::new().expect("made");
        let missing = xdg(&top.path().join("gone"));
        let error = prepare(&missing).expect_err("no directory above");
        assert!(matches!(error, DirectoryError::Examine { .. }), "{error:?}");
        assert!(error.hint().is_some());
        assert!(!top.path().join("gone").exists());

        let shared = xdg(&top.path().join("shared"));
        create_with_mode(&top.path().join("shared"), 0o777);
        assert!(matches!(prepare(&shared), Err(DirectoryError::OpenToOthers { .. })));
        assert!(!shared.directory().exists());
    }

    #[test]
    fn directory_is_not_created_in_another_users_directory() {
        let top = TempDir::new().expect("made");
        let location = xdg(top.path());
        // Only root can give a directory away; other users cannot create anything in root's
        // directories.
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
    fn chosen_directory_may_be_readable_but_not_writable() {
        let top = TempDir::new().expect("made");
        let ours = xdg(top.path());
        create_with_mode(ours.directory(), 0o750);
        assert!(matches!(prepare(&ours), Err(DirectoryError::OpenToOthers { mode: 0o750, .. })));

        let dir = top.path().join("chosen");
        create_with_mode(&dir, 0o755);
        prepare(&chosen(&dir)).expect("readable is fine");
        create_with_mode(&dir, 0o775);
        let error = prepare(&chosen(&dir));
        assert!(matches!(error, Err(DirectoryError::OpenToOthers { mode: 0o775, .. })));
        let path = PathBuf::from("/run/a b");
        let hint = DirectoryError::OpenToOthers { path, mode: 0o775 }.hint().expect("one");
        assert!(hint.starts_with("Run `chmod go-rwx '/run/a b'`"), "{hint}");
        let shared = DirectoryError::OpenToOthers { path: "/tmp".into(), mode: 0o1777 };
        assert!(!shared.hint().expect("one").contains("chmod"));
    }

    #[test]
    fn symlink_or_file_instead_of_the_directory_is_refused() {
        let top = TempDir::new().expect("made");
        create_with_mode(&top.path().join("real"), 0o700);
        symlink("real", top.path().join("link")).expect("made");
        fs::write(top.path().join("file"), "").expect("written");
        for name in ["link", "file"] {
            let error = prepare(&chosen(&top.path().join(name)));
            assert!(matches!(error, Err(DirectoryError::NotADirectory { .. })), "{name}");
        }
    }

    #[test]
    fn world_writable_parent_is_refused_unless_sticky() {
        let top = TempDir::new().expect("made");
        let parent = top.path().join("shared");
        let location = chosen(&parent.join("dir"));
        create_with_mode(&parent.join("dir"), 0o700);
        create_with_mode(&parent, 0o777);
        assert!(matches!(prepare(&location), Err(DirectoryError::OpenToOthers { .. })));
        create_with_mode(&parent, 0o1777);
        prepare(&location).expect("like /tmp");
    }

    #[test]
    fn directory_of_another_user_is_refused() {
        let top = TempDir::new().expect("made");
        let dir = top.path().join("theirs");
        create_with_mode(&dir, 0o700);
        // Only root can give a directory away; other users use a directory of root instead.
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
