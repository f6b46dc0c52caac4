//! The exit codes, which scripts may rely on.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything is fine. Also when the reader of our output has gone.
    Fine = 0,
    /// The answer is a finding: the skill is not active, there is none of that name, or a daemon
    /// runs already that `serve` was to start. Also when the answer could not be written.
    Findings = 1,
    /// The command line cannot be acted on.
    Usage = 2,
    /// No daemon runs and none could be started, or it serves as many as it may.
    NoDaemon = 3,
    /// Daemon and command line do not speak the same protocol.
    VersionMismatch = 4,
    /// A permission, trust or configuration forbids it, or what is said cannot be kept: the state
    /// directory may not be written, or is full.
    Denied = 5,
    /// A bug of ours.
    Bug = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
