//! Starting, finding and ending real daemons.
//!
//! A [`Daemon`] is a `skillsd serve` that a test started in the foreground. A daemon started by a
//! client is not our child, so `end_at` finds it by the socket's peer credentials.

use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::Home;
use crate::wait::{wait_for, within};
use crate::wire::{Framing, Wire};

/// A `skillsd serve` run by a test, killed when dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    socket: PathBuf,
    log: PathBuf,
}

impl Daemon {
    /// Starts `exe serve` in `home` and returns when it accepts connections.
    #[track_caller]
    pub fn start(home: &Home, exe: impl AsRef<Path>) -> Daemon {
        Daemon::start_with(home, exe, &[])
    }

    /// Starts `exe serve` in `home` with more variables, as [`Daemon::start`] does.
    #[track_caller]
    pub fn start_with(home: &Home, exe: impl AsRef<Path>, variables: &[(&str, &Path)]) -> Daemon {
        let log = home.runtime_dir().join("serve.log");
        let file = File::create(&log).expect("a log can be written");
        let child = home
            .command(exe.as_ref())
            .arg("serve")
            .envs(variables.iter().copied())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .expect("the daemon's program can be run");
        let mut daemon = Daemon { child, socket: home.socket(), log };
        let socket = daemon.socket.clone();
        wait_for("the daemon to accept a connection", || {
            if let Some(status) = daemon.child.try_wait().expect("our child can be waited for") {
                panic!("the daemon ended with {status}: {}", daemon.log());
            }
            UnixStream::connect(&socket).ok()
        });
        daemon
    }

    /// Opens a new connection.
    #[track_caller]
    pub fn connect(&self, framing: Framing) -> Wire {
        Wire::connect(&self.socket, framing).expect("a running daemon accepts connections")
    }

    /// Opens a new connection to the consent socket, which accepts granting methods.
    #[track_caller]
    pub fn connect_consent(&self, framing: Framing) -> Wire {
        let socket = self.socket.with_file_name("v1-consent.sock");
        Wire::connect(&socket, framing).expect("a running daemon accepts connections")
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns what the daemon wrote to its standard error.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Kills the daemon with no warning, as a crash or the kernel would.
    #[track_caller]
    pub fn kill(mut self) {
        self.child.kill().expect("our child can be killed");
        self.child.wait().expect("our child can be waited for");
    }

    /// Waits for the daemon to exit, and returns its exit code.
    #[track_caller]
    pub fn wait(mut self) -> Option<i32> {
        let child = &mut self.child;
        let status = wait_for("the daemon to end", || child.try_wait().expect("it is our child"));
        status.code()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail if the process has already exited, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the id of the process that listens at `socket`, from its peer credentials, or `None` if
/// there is no listener.
pub fn listener(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
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

/// Returns the daemon's `server/status` over `socket`.
#[track_caller]
pub fn status(socket: &Path) -> Value {
    let mut wire = Wire::connect(socket, Framing::Lines).expect("a daemon listens");
    wire.call("server/status", &serde_json::json!({}))
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    kill_process(pid, signal).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::Command;

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
