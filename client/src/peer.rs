//! Credentials of the process at the other end of a socket ([`Peer`]).
//!
//! The mode of the socket's directory keeps other users out; the kernel's peer credentials confirm
//! this before any message is exchanged.

use std::os::fd::AsFd;
use std::{fs, io};

use rustix::process::Pid;

/// User and process at the other end of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// User id.
    pub uid: u32,
    /// Process that called `listen`.
    pub pid: i32,
}

/// Returns the credentials of the listening process; `None` on systems that do not report them.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn credentials(socket: impl AsFd) -> io::Result<Option<Peer>> {
    let found = rustix::net::sockopt::socket_peercred(socket)?;
    let pid = found.pid.as_raw_nonzero().get();
    Ok(Some(Peer { uid: found.uid.as_raw(), pid }))
}

/// Returns the credentials of the listening process; `None` on systems that do not report them.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn credentials(_socket: impl AsFd) -> io::Result<Option<Peer>> {
    Ok(None)
}

impl Peer {
    /// Returns the daemon's process, if the peer is a daemon of this user.
    ///
    /// The kernel reports the process that called `listen`. With socket activation that is the
    /// service manager, which must never receive the daemon's signals.
    pub fn daemon(&self) -> Option<Pid> {
        let ours = self.uid == rustix::process::getuid().as_raw();
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).ok().filter(|_| ours)?;
        if is_daemon(&line) { Pid::from_raw(self.pid) } else { None }
    }
}

fn is_daemon(command_line: &[u8]) -> bool {
    let mut words = command_line.split(|byte| *byte == 0);
    let program = words.next().and_then(|it| it.rsplit(|byte| *byte == b'/').next());
    let is_ours = program.is_some_and(|name| name.ends_with(b"skillsd"));
    is_ours && words.any(|word| word == b"serve")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn peer_of_a_socket_pair_is_this_process() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        let us = Peer {
            uid: rustix::process::getuid().as_raw(),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
        };
        assert!(credentials(&one).expect("known").is_none_or(|peer| peer == us));
    }

    #[test]
    fn only_a_serve_process_is_the_daemon() {
        assert!(is_daemon(b"/usr/bin/skillsd\0serve\0--spawned\0"));
        assert!(!is_daemon(b"/usr/lib/systemd/systemd\0--user\0"));
        assert!(!is_daemon(b"skillsd\0list\0"));
        assert!(!is_daemon(b"vi\0skillsd\0serve\0"));
        assert!(!is_daemon(b""));
        let us = Peer {
            uid: rustix::process::getuid().as_raw(),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
        };
        assert_eq!(us.daemon(), None, "this is a test");
    }
}
