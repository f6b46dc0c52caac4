//! Credentials of the process at the other end of a socket ([`PeerCredentials`]).

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Pid;

/// User and process at the other end of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerCredentials {
    /// User id.
    pub uid: u32,
    /// Process that called `listen`, or that connected; none where the system does not report it.
    pub pid: Option<Pid>,
}

/// Returns the credentials of the process at the other end.
///
/// # Errors
/// The system refuses.
#[cfg(target_os = "linux")]
pub fn credentials(socket: &UnixStream) -> io::Result<PeerCredentials> {
    let found = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(PeerCredentials { uid: found.uid.as_raw(), pid: Some(found.pid) })
}

/// Returns the credentials of the process at the other end.
///
/// # Errors
/// The system refuses.
#[cfg(not(target_os = "linux"))]
pub fn credentials(socket: &UnixStream) -> io::Result<PeerCredentials> {
    use nix::sys::socket::{getsockopt, sockopt::LocalPeerPid};

    let (uid, _) = nix::unistd::getpeereid(socket)?;
    let pid = getsockopt(socket, LocalPeerPid).ok().and_then(Pid::from_raw);
    Ok(PeerCredentials { uid: uid.as_raw(), pid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_of_a_socket_pair_is_this_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        let us = PeerCredentials {
            uid: rustix::process::getuid().as_raw(),
            pid: Some(rustix::process::getpid()),
        };
        assert_eq!(credentials(&one).unwrap(), us);
    }
}
