//! Who is at the other end of a socket.
//!
//! The directory's mode keeps others out; this says it a second time, from the kernel, before a
//! word is exchanged.

use std::os::fd::AsFd;
use std::{fs, io};

use rustix::process::Pid;

/// Who listens at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The user.
    pub uid: u32,
    /// The process that began to listen.
    pub pid: i32,
}

/// Returns who listens at the other end, where the system tells.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn of(socket: impl AsFd) -> io::Result<Option<Peer>> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    let pid = credentials.pid.as_raw_nonzero().get();
    Ok(Some(Peer { uid: credentials.uid.as_raw(), pid }))
}

/// Returns who listens at the other end, where the system tells.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn of(_socket: impl AsFd) -> io::Result<Option<Peer>> {
    Ok(None)
}

impl Peer {
    /// Returns the daemon's process, where the peer is one.
    ///
    /// The kernel names who began to listen. Under a service manager that is the manager, and
    /// nothing may ever be sent to that one in the daemon's place.
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
    fn the_other_end_of_our_own_pair_is_us() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        let us = Peer {
            uid: rustix::process::getuid().as_raw(),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
        };
        assert!(of(&one).expect("known").is_none_or(|peer| peer == us));
    }

    #[test]
    fn only_the_daemon_itself_is_taken_for_it() {
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
