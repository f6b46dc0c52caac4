//! [`Endpoint`]: the socket files of the daemon, claimed by one process and removed at its end.
//!
//! A claim checks the directory, takes the lock and then examines the socket; only the holder of
//! the lock does so. A stale socket file is removed only after a connection to it was refused. The
//! lock is held until the process ends. Its file is never removed, since another process may wait
//! on it. `skills_protocol::socket` decides the paths.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::Pid;
use skills_client::directory::{self, DirectoryError};
use skills_platform::peer;
use skills_protocol::socket::SocketLocation;

/// Time to wait for the lock of a daemon that is exiting: its drain time and a margin.
const LOCK_TIMEOUT: Duration = Duration::from_secs(7);

/// Interval between attempts to take the lock, since file locks have no timeout.
const INTERVAL: Duration = Duration::from_millis(10);

/// The claimed sockets and lock that make this process the daemon.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// `None` after [`Endpoint::take_listeners`].
    listeners: Option<Listeners>,
    /// Socket files that this process created and has not retired.
    made: Vec<SocketFile>,
    /// Socket files at which clients connect, including those of the service manager.
    found: Vec<SocketFile>,
    /// Released by the kernel when the process ends.
    _lock: File,
}

/// The listening sockets of the protocol.
#[derive(Debug)]
pub(crate) struct Listeners {
    pub(crate) main: UnixListener,
    /// The socket for clients that may answer for the user.
    pub(crate) consent: UnixListener,
}

/// Listening sockets passed by a service manager.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    pub(crate) main: Option<UnixListener>,
    pub(crate) consent: Option<UnixListener>,
}

/// Identity of the claimed socket files; detects that one was removed or replaced.
#[derive(Debug)]
pub(crate) struct SocketIdentity(Vec<SocketFile>);

impl SocketIdentity {
    /// Returns the directory of the socket; `None` if a service manager created the socket.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.0.first().and_then(|it| it.path.parent())
    }

    /// Returns true if a socket file is gone or replaced, so clients cannot connect.
    pub(crate) fn is_lost(&self) -> bool {
        let lost = |ours: &SocketFile| !SocketFile::at(&ours.path).is_ok_and(|it| it == *ours);
        self.0.iter().any(lost)
    }
}

/// Identity of a socket file: path, device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error("skillsd is already running{} at `{}`", shown(*.pid), .socket.display())]
    AlreadyRunning { socket: PathBuf, pid: Option<Pid> },
    #[error("another skillsd is starting or stopping: it holds `{}`", .lock.display())]
    Busy { lock: PathBuf },
    #[error("failed to lock `{}`", .lock.display())]
    Lock { lock: PathBuf, source: io::Error },
    #[error("`{}` exists and is not a socket", .path.display())]
    NotASocket { path: PathBuf },
    #[error("failed to connect to the existing socket `{}`", .socket.display())]
    Probe { socket: PathBuf, source: io::Error },
    #[error("failed to listen at `{}`", .socket.display())]
    Listen { socket: PathBuf, source: io::Error },
}

impl ClaimError {
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Directory(error) => error.hint(),
            Self::AlreadyRunning { .. } => {
                Some("Run `skillsd status` to see it, or `skillsd stop` to end it.".to_owned())
            }
            Self::Busy { .. } => Some("Try again in a few seconds.".to_owned()),
            Self::NotASocket { path } => Some(format!("Move `{}` away.", path.display())),
            Self::Lock { .. } | Self::Probe { .. } | Self::Listen { .. } => None,
        }
    }
}

impl Endpoint {
    /// Claims the sockets: creates the directory and the sockets, or takes over those of the
    /// service manager.
    pub(crate) fn claim(
        location: &SocketLocation,
        handed_over: HandedOver,
    ) -> Result<Self, ClaimError> {
        Self::claim_within(location, handed_over, LOCK_TIMEOUT)
    }

    fn claim_within(
        location: &SocketLocation,
        handed_over: HandedOver,
        patience: Duration,
    ) -> Result<Self, ClaimError> {
        directory::prepare(location)?;
        // With sockets from the service manager, another holder of the lock is no longer reachable,
        // so this waits for it to exit.
        let socket = location.path();
        let is_ours = handed_over.main.as_ref().is_some_and(|it| listens_at(it, socket));
        let lock =
            take_lock(
                location,
                patience,
                || if is_ours { Ok(()) } else { refuse_if_alive(socket) },
            )?;
        let mut this = Self { listeners: None, made: Vec::new(), found: Vec::new(), _lock: lock };
        // Sandboxes expect the consent socket at its usual path.
        let consent = handed_over.consent.filter(|it| listens_at(it, &location.consent_path()));
        // Binds the consent socket first: a client of the main one may need it at once.
        let consent = this.take_place(&location.consent_path(), consent)?;
        let main = this.take_place(location.path(), handed_over.main)?;
        this.listeners = Some(Listeners { main, consent });
        Ok(this)
    }

    fn take_place(
        &mut self,
        path: &Path,
        handed_over: Option<UnixListener>,
    ) -> Result<UnixListener, ClaimError> {
        if let Some(listener) = handed_over {
            self.found.extend(SocketFile::at(path));
            return Ok(listener);
        }
        let (listener, file) = listen(path)?;
        // Keeps the identity of the created file, so that its removal is noticed.
        self.found.push(file.clone());
        self.made.push(file);
        Ok(listener)
    }

    /// Returns the identity of the socket files.
    pub(crate) fn socket_identity(&self) -> SocketIdentity {
        SocketIdentity(self.found.clone())
    }

    pub(crate) fn take_listeners(&mut self) -> Option<Listeners> {
        self.listeners.take()
    }

    /// Removes the socket files, so that clients start another daemon; the lock stays.
    pub(crate) fn retire(&mut self) {
        for made in std::mem::take(&mut self.made) {
            if SocketFile::at(&made.path).is_ok_and(|found| found == made) {
                // The next daemon removes a file that stays.
                let _ = fs::remove_file(&made.path);
            }
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.retire();
    }
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }
}

fn listens_at(listener: &UnixListener, socket: &Path) -> bool {
    listener.local_addr().is_ok_and(|it| it.as_pathname() == Some(socket))
}

fn take_lock(
    location: &SocketLocation,
    patience: Duration,
    refuse: impl Fn() -> Result<(), ClaimError>,
) -> Result<File, ClaimError> {
    let path = location.daemon_lock();
    let failed = |error: Errno| ClaimError::Lock { lock: path.clone(), source: error.into() };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    let started = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file.into()),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(failed(error)),
        }
        // The holder is a running daemon, or one that starts or stops.
        refuse()?;
        if started.elapsed() >= patience {
            return Err(ClaimError::Busy { lock: path });
        }
        thread::sleep(INTERVAL);
    }
}

/// Fails if a process listens at the socket. Only a refused connection counts as stale.
fn refuse_if_alive(socket: &Path) -> Result<(), ClaimError> {
    let alive = |pid| Err(ClaimError::AlreadyRunning { socket: socket.to_owned(), pid });
    match UnixStream::connect(socket) {
        Ok(stream) => alive(peer::credentials(&stream).ok().and_then(|it| it.pid)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(()),
            // A full queue means that a process listens.
            io::ErrorKind::WouldBlock => alive(None),
            _ => Err(ClaimError::Probe { socket: socket.to_owned(), source: error }),
        },
    }
}

fn shown(pid: Option<Pid>) -> String {
    pid.map(|pid| format!(" as process {pid}")).unwrap_or_default()
}

/// Listens at a path and replaces a stale socket there. Only for the holder of the lock.
pub(crate) fn listen(socket: &Path) -> Result<(UnixListener, SocketFile), ClaimError> {
    let failed = |source| ClaimError::Listen { socket: socket.to_owned(), source };
    match fs::symlink_metadata(socket) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ClaimError::NotASocket { path: socket.to_owned() });
        }
        Ok(_) => {
            refuse_if_alive(socket)?;
            fs::remove_file(socket).map_err(failed)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let listener = UnixListener::bind(socket).map_err(failed)?;
    // Until now the mode of the directory keeps other users out.
    fs::set_permissions(socket, Permissions::from_mode(0o600)).map_err(failed)?;
    let file = SocketFile::at(socket).map_err(failed)?;
    Ok((listener, file))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;
    use std::sync::Barrier;

    use skills_protocol::socket::{SocketEnvironment, choose};
    use tempfile::TempDir;

    use super::*;
    use crate::needs_root::left_out;

    const NO_TIMEOUT: Duration = Duration::ZERO;

    fn place() -> (TempDir, SocketLocation) {
        let top = TempDir::new().unwrap();
        let xdg_runtime_dir = Some(top.path().into());
        let location =
            choose(&SocketEnvironment { xdg_runtime_dir, ..SocketEnvironment::default() }).unwrap();
        (top, location)
    }

    fn claim(location: &SocketLocation) -> Result<Endpoint, ClaimError> {
        Endpoint::claim_within(location, HandedOver::default(), NO_TIMEOUT)
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn everything_is_private() {
        let (_top, location) = place();
        let endpoint = claim(&location).unwrap();
        assert_eq!(mode(location.directory()), 0o700);
        assert_eq!(mode(location.path()), 0o600);
        assert_eq!(mode(&location.consent_path()), 0o600);
        assert_eq!(mode(&location.daemon_lock()), 0o600);
        UnixStream::connect(location.path()).unwrap();
        UnixStream::connect(location.consent_path()).unwrap();
        drop(endpoint);
        assert!(!location.path().exists() && !location.consent_path().exists());
        assert!(location.daemon_lock().exists());
    }

    #[test]
    fn stale_socket_is_taken_over() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        // Dropping a listener leaves the file, as a killed daemon does.
        drop(UnixListener::bind(location.path()).unwrap());
        assert!(location.path().exists());
        let _endpoint = claim(&location).unwrap();
        UnixStream::connect(location.path()).unwrap();
    }

    #[test]
    fn live_daemon_is_left_alone() {
        let (_top, location) = place();
        let _endpoint = claim(&location).unwrap();
        let error = claim(&location).unwrap_err();
        assert!(matches!(error, ClaimError::AlreadyRunning { .. }), "{error}");
        assert!(error.hint().unwrap().contains("skillsd status"));
        assert!(
            error.to_string().contains(&format!("as process {}", std::process::id())),
            "{error}"
        );
        UnixStream::connect(location.path()).unwrap();
    }

    #[test]
    fn listener_without_the_lock_is_left_alone() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        let _foreign = UnixListener::bind(location.path()).unwrap();
        assert!(matches!(claim(&location), Err(ClaimError::AlreadyRunning { .. })));
        UnixStream::connect(location.path()).unwrap();
    }

    #[test]
    fn concurrent_claims_have_one_winner() {
        let (_top, location) = place();
        let barrier = Barrier::new(8);
        let results: Vec<_> = thread::scope(|scope| {
            let claims: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        // The winner needs a moment until it listens.
                        Endpoint::claim_within(
                            &location,
                            HandedOver::default(),
                            Duration::from_secs(5),
                        )
                    })
                })
                .collect();
            claims.into_iter().map(|claim| claim.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(matches!(error, ClaimError::AlreadyRunning { .. }), "{error}");
        }
        UnixStream::connect(location.path()).unwrap();
    }

    #[test]
    fn successor_waits_for_one_that_is_leaving() {
        let (_top, location) = place();
        let mut leaving = claim(&location).unwrap();
        leaving.retire();
        drop(leaving.take_listeners());
        assert!(matches!(claim(&location), Err(ClaimError::Busy { .. })));
        thread::scope(|scope| {
            let successor = scope.spawn(|| {
                Endpoint::claim_within(&location, HandedOver::default(), Duration::from_secs(5))
            });
            thread::sleep(3 * INTERVAL);
            drop(leaving);
            let _endpoint = successor.join().unwrap().unwrap();
            UnixStream::connect(location.path()).unwrap();
        });
    }

    #[test]
    fn socket_of_a_successor_is_not_removed() {
        let (_top, location) = place();
        let endpoint = claim(&location).unwrap();
        fs::remove_file(location.path()).unwrap();
        let _other = UnixListener::bind(location.path()).unwrap();
        drop(endpoint);
        UnixStream::connect(location.path()).unwrap();
    }

    #[test]
    fn a_socket_that_is_gone_or_replaced_is_noticed() {
        let (_top, location) = place();
        let endpoint = claim(&location).unwrap();
        let socket_identity = endpoint.socket_identity();
        assert!(!socket_identity.is_lost());
        fs::remove_file(location.path()).unwrap();
        assert!(socket_identity.is_lost());
        let _other = UnixListener::bind(location.path()).unwrap();
        assert!(socket_identity.is_lost());
    }

    #[test]
    fn file_in_the_way_is_not_removed() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        fs::write(location.path(), "precious").unwrap();
        assert!(matches!(claim(&location), Err(ClaimError::NotASocket { .. })));
        assert_eq!(fs::read_to_string(location.path()).unwrap(), "precious");
    }

    #[test]
    fn link_in_place_of_the_lock_is_refused() {
        let (top, location) = place();
        directory::prepare(&location).unwrap();
        std::os::unix::fs::symlink(top.path().join("elsewhere"), location.daemon_lock()).unwrap();
        assert!(matches!(claim(&location), Err(ClaimError::Lock { .. })));
        assert!(!top.path().join("elsewhere").exists());
    }

    #[test]
    fn directory_of_another_user_is_refused() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        if chown(location.directory(), Some(65_534), None).is_err() {
            // Only root can give a directory away.
            left_out("directory_of_another_user_is_refused");
            return;
        }
        let error = claim(&location).unwrap_err();
        let expected = format!(
            "the directory `{}` belongs to user 65534, not to you (user 0)",
            location.directory().display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().is_some());
        assert!(!location.daemon_lock().exists());
    }

    #[test]
    fn handed_over_socket_is_kept_at_the_end() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        let managed = UnixListener::bind(location.path()).unwrap();
        let endpoint =
            Endpoint::claim_within(&location, handed_over(&managed), NO_TIMEOUT).unwrap();
        // The consent socket, which the manager did not pass, was created here.
        UnixStream::connect(location.consent_path()).unwrap();
        drop(endpoint);
        UnixStream::connect(location.path()).unwrap();
        assert!(!location.consent_path().exists());
    }

    fn handed_over(main: &UnixListener) -> HandedOver {
        HandedOver { main: Some(main.try_clone().unwrap()), consent: None }
    }

    #[test]
    fn handed_over_consent_socket_at_another_path_is_not_used() {
        let (_top, location) = place();
        directory::prepare(&location).unwrap();
        let main = UnixListener::bind(location.path()).unwrap();
        let other = UnixListener::bind(location.directory().join("other.sock")).unwrap();
        let given = HandedOver { consent: Some(other.try_clone().unwrap()), ..handed_over(&main) };
        let _endpoint = Endpoint::claim_within(&location, given, NO_TIMEOUT).unwrap();
        UnixStream::connect(location.consent_path()).unwrap();
        other.set_nonblocking(true).unwrap();
        assert_eq!(other.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn handed_over_socket_is_not_taken_for_another_daemon() {
        let (_top, location) = place();
        let predecessor = claim(&location).unwrap();
        fs::remove_file(location.path()).unwrap();
        let managed = UnixListener::bind(location.path()).unwrap();
        let claim = |patience| Endpoint::claim_within(&location, handed_over(&managed), patience);
        assert!(matches!(claim(NO_TIMEOUT), Err(ClaimError::Busy { .. })));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| claim(LOCK_TIMEOUT));
            drop(predecessor);
            waiting.join().unwrap().unwrap();
        });
        managed.set_nonblocking(true).unwrap();
        assert_eq!(managed.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
