//! Repairs of `doctor --fix` ([`DoctorRepair`]). Each checks its condition again before it changes
//! anything.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// Part of the file name of a store that the daemon has set aside.
pub(super) const SET_ASIDE: &str = ".db.damaged-";

#[derive(Debug)]
pub(super) enum DoctorRepair {
    /// Removes the permissions of group and others from a file or directory that the user owns.
    Close { path: PathBuf },
    /// Removes a damaged session store that was set aside; nothing reads it.
    RemoveAside { paths: Vec<PathBuf> },
    /// Removes a socket without a listener, while holding the daemon's lock.
    RemoveSocket { socket: PathBuf, lock: PathBuf },
}

impl DoctorRepair {
    /// Returns a sentence about the repair.
    pub(super) fn apply(&self) -> io::Result<String> {
        match self {
            Self::Close { path } => {
                let found = fs::symlink_metadata(path)?;
                let is_ours = found.uid() == rustix::process::getuid().as_raw();
                if !is_ours || found.file_type().is_symlink() {
                    return Err(io::Error::other("another user owns it now"));
                }
                let mode = found.mode() & 0o700;
                fs::set_permissions(path, Permissions::from_mode(mode))?;
                Ok(format!("Changed its mode to {mode:04o}."))
            }
            Self::RemoveAside { paths } => {
                // All or none: a database without its write-ahead log is worth less than both.
                for path in paths {
                    let found = fs::symlink_metadata(path)?;
                    let is_ours = found.uid() == rustix::process::getuid().as_raw();
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    if !is_ours || !found.is_file() || !name.contains(SET_ASIDE) {
                        return Err(io::Error::other(
                            "it is not a store that the daemon set aside",
                        ));
                    }
                }
                paths.iter().try_for_each(fs::remove_file)?;
                Ok(match paths.len() {
                    1 => "Removed the file.".to_owned(),
                    several => format!("Removed {several} files."),
                })
            }
            Self::RemoveSocket { socket, lock } => {
                let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let lock = rustix::fs::open(lock, flags, Mode::RUSR | Mode::WUSR)?;
                flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                let is_socket = fs::symlink_metadata(socket)?.file_type().is_socket();
                if !is_socket || UnixStream::connect(socket).is_ok() {
                    return Err(io::Error::other("another daemon uses the socket now"));
                }
                fs::remove_file(socket)?;
                Ok("Removed the socket; the next command creates a new one.".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn socket_with_listener_or_lock_is_not_removed() {
        let top = tempfile::TempDir::new().expect("made");
        let (socket, lock) = (top.path().join("s"), top.path().join("l"));
        let repair = DoctorRepair::RemoveSocket { socket: socket.clone(), lock: lock.clone() };
        let listener = UnixListener::bind(&socket).expect("bound");
        assert!(repair.apply().is_err());
        drop(listener);
        let held = fs::File::open(&lock).expect("made by the first try");
        flock(&held, FlockOperation::NonBlockingLockExclusive).expect("free");
        assert!(repair.apply().is_err());
        drop(held);
        repair.apply().expect("no listener and no lock");
        assert!(!socket.exists());
    }

    #[test]
    fn only_stores_set_aside_are_removed() {
        let top = tempfile::TempDir::new().expect("made");
        let remove = |names: &[&str]| {
            let paths: Vec<_> = names.iter().map(|it| top.path().join(it)).collect();
            for path in &paths {
                fs::write(path, "").expect("written");
            }
            let is_done = DoctorRepair::RemoveAside { paths: paths.clone() }.apply().is_ok();
            (is_done, paths.iter().filter(|it| it.exists()).count())
        };
        let aside = "sessions.db.damaged-2026-11-21T13-45-00";
        assert_eq!(remove(&[aside, &format!("{aside}-wal")]), (true, 0));
        assert_eq!(remove(&[aside, "sessions.db"]), (false, 2));
    }

    #[test]
    fn symlink_is_not_followed() {
        let top = tempfile::TempDir::new().expect("made");
        fs::write(top.path().join("f"), "").expect("written");
        fs::set_permissions(top.path().join("f"), Permissions::from_mode(0o644)).expect("ours");
        std::os::unix::fs::symlink("f", top.path().join("l")).expect("made");
        DoctorRepair::Close { path: top.path().join("l") }.apply().expect_err("a link");
        DoctorRepair::Close { path: top.path().join("f") }.apply().expect("ours");
        let mode = fs::metadata(top.path().join("f")).expect("there").mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
