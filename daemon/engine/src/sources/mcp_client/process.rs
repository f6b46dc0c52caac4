//! The process of one MCP server: how it is started, and how all of it is ended.
//!
//! It leads a process group of its own, so that what it starts goes with it. It sees few
//! variables besides those it was given: what the daemon's environment holds is not for it.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use skills_config::McpServer;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::sources::mcp_client::meter::{Meter, Metered};

/// The variables that every program needs to find its way.
const VARIABLES: [&str; 13] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// How long a server may take to end once its input has ended, and again once it was told to.
const GRACE: Duration = Duration::from_millis(700);

/// How much of what a server complains about is kept.
const LAST_WORDS: usize = 300;

/// A running server.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    complaint: Arc<Mutex<String>>,
    meter: Arc<Meter>,
}

impl Process {
    /// Starts a server. Returns it with the ends of its output and input; what it sends is metered.
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

    /// Returns the meter of what it sends.
    pub(super) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends it and all that it has started. Its input has ended already.
    ///
    /// One that went over a limit is killed at once.
    pub(super) async fn end(mut self) {
        if self.meter.excess().is_none() {
            for signal in [None, Some(Signal::TERM)] {
                self.signal(signal);
                if timeout(GRACE, self.child.wait()).await.is_ok() {
                    break;
                }
            }
        }
        // Also where the server itself is gone: what it has started may not be.
        self.signal(Some(Signal::KILL));
        // It cannot refuse.
        let _ = timeout(GRACE, self.child.wait()).await;
    }

    fn signal(&self, signal: Option<Signal>) {
        if let (Some(group), Some(signal)) = (self.group, signal) {
            // It fails when nobody is left, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Returns the last line that it complained with, for a person; else nothing.
    pub(super) fn last_words(&self) -> String {
        let text = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let last = text.lines().rev().map(str::trim).find(|it| !it.is_empty());
        last.map(|it| format!(" (it said: {it})")).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Where nobody could wait for it to end in order.
        self.signal(Some(Signal::KILL));
    }
}

/// Keeps the end of what a server prints beside the protocol, as long as that is within its limit.
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
        *complaint.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}
