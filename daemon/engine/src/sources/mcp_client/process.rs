//! The process of one MCP server: start, and end of the whole process group.
//!
//! It leads its own process group, so that its children end with it. It gets few environment
//! variables besides the configured ones, so that the daemon's environment does not leak.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use skills_config::McpServer;
use skills_platform::descriptors::restore_limit;
use skills_platform::lock::lock;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::sources::mcp_client::meter::{Meter, Metered};

/// Environment variables passed to every server.
const VARIABLES: [&str; 13] = [
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
];

/// Time for a server to end after its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(700);

/// Length kept of a server's standard error.
const LAST_WORDS: usize = 300;

/// A running server.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    complaint: Arc<Mutex<String>>,
    meter: Arc<Meter>,
}

impl Process {
    /// Starts a server. Returns it with its metered output and its input.
    pub(super) fn start(spec: &McpServer) -> io::Result<(Self, Metered<ChildStdout>, ChildStdin)> {
        let mut command = Command::new(&spec.command);
        command
            .args(&spec.args)
            .env_clear()
            .envs(VARIABLES.iter().filter_map(|it| Some((it, std::env::var_os(it)?))))
            .envs(&spec.env)
            .current_dir(std::env::var_os("HOME").unwrap_or_else(|| "/".into()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let group = child.id().and_then(|it| Pid::from_raw(it.cast_signed()));
        if let Some(pid) = group {
            restore_limit(pid);
        }
        let (complaint, meter) = (Arc::default(), Arc::<Meter>::default());
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(listen(stderr, Arc::clone(&complaint), Arc::clone(&meter)));
        }
        let missing = || io::Error::other("the process has no standard streams");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = Metered::new(stdout, Arc::clone(&meter));
        Ok((Self { child, group, complaint, meter }, stdout, stdin))
    }

    /// Returns the meter of its outputs.
    pub(super) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Waits until the process has ended by itself.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the process group; its input has been closed already.
    ///
    /// A server that exceeded a limit is killed at once.
    pub(super) async fn end(mut self) {
        if self.meter.excess().is_none() {
            for signal in [None, Some(Signal::TERM)] {
                self.signal(signal);
                if timeout(GRACE, self.child.wait()).await.is_ok() {
                    break;
                }
            }
        }
        // Also if the server itself has ended: its children may still run.
        self.signal(Some(Signal::KILL));
        // SIGKILL cannot be ignored.
        let _ = timeout(GRACE, self.child.wait()).await;
    }

    fn signal(&self, signal: Option<Signal>) {
        if let (Some(group), Some(signal)) = (self.group, signal) {
            // Fails if the group is empty.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Returns the last line of its standard error for a message; may be empty.
    pub(super) fn last_words(&self) -> String {
        let text = lock(&self.complaint);
        let last = text.lines().rev().map(str::trim).find(|it| !it.is_empty());
        last.map(|it| format!(" (its last output: {it})")).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // For exits without a call of `end`.
        self.signal(Some(Signal::KILL));
    }
}

/// Keeps the end of a server's standard error, within its limit.
async fn listen(mut stderr: ChildStderr, complaint: Arc<Mutex<String>>, meter: Arc<Meter>) {
    let mut buffer = vec![0; 4096];
    let mut tail: Vec<u8> = Vec::new();
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        if !meter.count_errors(length) {
            return;
        }
        tail.extend_from_slice(&buffer[..length]);
        if tail.len() > LAST_WORDS {
            tail.drain(..tail.len() - LAST_WORDS);
        }
        let text: String = String::from_utf8_lossy(&tail)
            .chars()
            .filter(|it| !it.is_control() || *it == '\n')
            .collect();
        *lock(&complaint) = text;
    }
}
