//! Finding and ending processes of daemons.
//!
//! A daemon started by a client is not our child, so [`end_at`] finds it by the socket's peer
//! credentials.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::wait::{wait_for, within};
use crate::wire::{Framing, Wire};

/// Returns the id of the process that listens at `socket`, from its peer credentials, or `None` if
/// there is no listener.
#[cfg(target_os = "linux")]
pub fn listener(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

/// Returns the id of the process that listens at `socket`, as `lsof` reports it, or `None` if there
/// is no listener.
#[cfg(not(target_os = "linux"))]
pub fn listener(socket: &Path) -> Option<u32> {
    UnixStream::connect(socket).ok()?;
    let output = std::process::Command::new("lsof").arg("-t").arg(socket).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().next()?.parse().ok()
}

/// Kills process `pid` with `SIGKILL` and waits until it is gone.
#[track_caller]
pub fn kill(pid: u32) {
    signal(pid, Signal::KILL).expect("the process can be killed");
    wait_for("a killed process to go", || is_gone(pid).then_some(()));
}

/// Returns whether process `pid` no longer runs.
pub fn is_gone(pid: u32) -> bool {
    // A zombie, whose parent has not waited for it, counts as gone.
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// Ends the process that listens at `socket`: by `server/shutdown`, then by `SIGKILL`. Does nothing
/// if there is no listener.
pub(crate) fn end_at(socket: &Path) {
    // Never this process, because a test may listen itself.
    let Some(pid) = listener(socket).filter(|pid| *pid != std::process::id()) else { return };
    if let Ok(mut wire) = Wire::connect(socket, Framing::Lines) {
        let _ = wire.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/shutdown\"}\n");
        if within(Duration::from_secs(5), || is_gone(pid).then_some(())).is_some() {
            return;
        }
    }
    let _ = signal(pid, Signal::KILL);
    within(Duration::from_secs(5), || is_gone(pid).then_some(()));
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    kill_process(pid, signal).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn listener_returns_the_pid_behind_a_socket() {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("s");
        assert_eq!(listener(&socket), None);
        let _listening = UnixListener::bind(&socket).expect("a socket can be bound");
        assert_eq!(listener(&socket), Some(std::process::id()));
    }

    #[test]
    fn killed_child_counts_as_gone_before_wait() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat can be run");
        assert!(!is_gone(child.id()));
        kill(child.id());
        child.wait().expect("our child");
    }
}
