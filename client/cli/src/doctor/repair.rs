//! What `--fix` does: each repair looks again before it touches anything, and undoes nothing
//! that somebody may have wanted.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// What is in the name of a store that the daemon has set aside.
pub(super) const SET_ASIDE: &str = ".db.damaged-";

/// Something that mends a finding.
#[derive(Debug)]
pub(super) enum Repair {
    /// Takes the permissions of others away from a file or directory of ours.
    Close {
        /// What is open.
        path: PathBuf,
    },
    /// Removes a store of sessions that was damaged and set aside: nothing reads it any more.
    RemoveAside {
        /// Its file, and what SQLite had put beside it.
        paths: Vec<PathBuf>,
    },
    /// Removes a socket that nobody listens at, under the lock that a daemon would hold.
    RemoveSocket {
        /// The socket.
        socket: PathBuf,
        /// The daemon's lock.
        lock: PathBuf,
    },
}

impl Repair {
    /// Mends, and returns what was done.
    pub(super) fn carry_out(&self) -> io::Result<String> {
        match self {
            Self::Close { path } => {
                let found = fs::symlink_metadata(path)?;
                let is_ours = found.uid() == rustix::process::getuid().as_raw();
                if !is_ours || found.file_type().is_symlink() {
                    return Err(io::Error::other("it is not ours any more"));
                }
                let mode = found.mode() & 0o700;
                fs::set_permissions(path, Permissions::from_mode(mode))?;
                Ok(format!("Its mode is {mode:04o} now."))
            }
            Self::RemoveAside { paths } => {
                // All or none: a store without its log is worth less than both.
                for path in paths {
                    let found = fs::symlink_metadata(path)?;
                    let is_ours = found.uid() == rustix::process::getuid().as_raw();
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    if !is_ours || !found.is_file() || !name.contains(SET_ASIDE) {
                        return Err(io::Error::other("it is not what the daemon has set aside"));
                    }
                }
                paths.iter().try_for_each(fs::remove_file)?;
                Ok(match paths.len() {
                    1 => "The file was removed.".to_owned(),
                    several => format!("The {several} files were removed."),
                })
            }
            Self::RemoveSocket { socket, lock } => {
                let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let lock = rustix::fs::open(lock, flags, Mode::RUSR | Mode::WUSR)?;
                flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                let is_socket = fs::symlink_metadata(socket)?.file_type().is_socket();
                if !is_socket || UnixStream::connect(socket).is_ok() {
                    return Err(io::Error::other("somebody has taken the place meanwhile"));
                }
                fs::remove_file(socket)?;
                Ok("The socket was removed; the next command makes its own.".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_that_is_answered_or_locked_stays() {
        let top = tempfile::TempDir::new().expect("made");
        let (socket, lock) = (top.path().join("s"), top.path().join("l"));
        let repair = Repair::RemoveSocket { socket: socket.clone(), lock: lock.clone() };
        let listener = UnixListener::bind(&socket).expect("bound");
        assert!(repair.carry_out().is_err());
        drop(listener);
        let held = fs::File::open(&lock).expect("made by the first try");
        flock(&held, FlockOperation::NonBlockingLockExclusive).expect("free");
        assert!(repair.carry_out().is_err());
        drop(held);
        repair.carry_out().expect("nobody has it");
        assert!(!socket.exists());
    }

    #[test]
    fn only_what_was_set_aside_is_removed() {
        let top = tempfile::TempDir::new().expect("made");
        let remove = |names: &[&str]| {
            let paths: Vec<_> = names.iter().map(|it| top.path().join(it)).collect();
            for path in &paths {
                fs::write(path, "").expect("written");
            }
            let is_done = Repair::RemoveAside { paths: paths.clone() }.carry_out().is_ok();
            (is_done, paths.iter().filter(|it| it.exists()).count())
        };
        let aside = "sessions.db.damaged-2026-11-21T13-45-00";
        assert_eq!(remove(&[aside, &format!("{aside}-wal")]), (true, 0));
        assert_eq!(remove(&[aside, "sessions.db"]), (false, 2));
    }

    #[test]
    fn a_link_is_not_followed() {
        let top = tempfile::TempDir::new().expect("made");
        fs::write(top.path().join("f"), "").expect("written");
        fs::set_permissions(top.path().join("f"), Permissions::from_mode(0o644)).expect("ours");
        std::os::unix::fs::symlink("f", top.path().join("l")).expect("made");
        Repair::Close { path: top.path().join("l") }.carry_out().expect_err("a link");
        Repair::Close { path: top.path().join("f") }.carry_out().expect("ours");
        let mode = fs::metadata(top.path().join("f")).expect("there").mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
