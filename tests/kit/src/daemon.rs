//! Starting real daemons.
//!
//! A [`Daemon`] is a `skillsd serve` that a test started in the foreground.

use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::home::Home;
use crate::wait::wait_for;
use crate::wire::{Framing, Wire};

pub use crate::process::{is_gone, kill, listener};

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

/// Returns the daemon's `server/status` over `socket`.
#[track_caller]
pub fn status(socket: &Path) -> Value {
    let mut wire = Wire::connect(socket, Framing::Lines).expect("a daemon listens");
    wire.call("server/status", &serde_json::json!({}))
}
