//! Processes at the other end of the socket ([`credentials`]) that are daemons of this user
//! ([`daemon`]).
//!
//! The mode of the socket's directory keeps other users out; the kernel's peer credentials confirm
//! this before any message is exchanged.

use rustix::process::Pid;
pub use skills_platform::peer::{PeerCredentials, credentials};
pub use skills_platform::process::runs_this_program;
use skills_platform::process::{CommandLine, command_line};

/// Returns the daemon's process, if the peer is a daemon of this user.
///
/// The kernel reports the process that called `listen`. With socket activation that is the
/// service manager, which must never receive the daemon's signals.
pub fn daemon(peer: &PeerCredentials) -> Option<Pid> {
    let is_ours = peer.uid == rustix::process::getuid().as_raw();
    let pid = peer.pid.filter(|_| is_ours)?;
    is_daemon(&command_line(pid)?).then_some(pid)
}

/// Returns whether a command started this daemon. Others are stopped by those who started them.
pub fn is_spawned(daemon: Pid) -> bool {
    command_line(daemon).is_some_and(|it| it.arguments.split(' ').any(|word| word == "--spawned"))
}

fn is_daemon(line: &CommandLine) -> bool {
    line.program.ends_with("skillsd") && line.arguments.split(' ').any(|word| word == "serve")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_serve_process_is_the_daemon() {
        let is_daemon = |program: &str, arguments: &str| {
            is_daemon(&CommandLine { program: program.into(), arguments: arguments.into() })
        };
        assert!(is_daemon("skillsd", "serve --spawned"));
        assert!(!is_daemon("systemd", "--user"));
        assert!(!is_daemon("skillsd", "list"));
        assert!(!is_daemon("vi", "skillsd serve"));
        assert!(!is_daemon("skillsd", ""));
        let us = PeerCredentials {
            uid: rustix::process::getuid().as_raw(),
            pid: Some(rustix::process::getpid()),
        };
        assert_eq!(daemon(&us), None, "this is a test");
    }
}
