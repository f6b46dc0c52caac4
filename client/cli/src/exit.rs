//! Exit codes ([`Exit`]), which scripts may rely on.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success, including output to a closed pipe.
    Fine = 0,
    /// The answer is negative: the skill is not active or does not exist, or `serve` found a
    /// running daemon. Also: the output could not be written.
    Findings = 1,
    /// Invalid command line.
    Usage = 2,
    /// No daemon runs and none could be started, or it has too many connections.
    NoDaemon = 3,
    /// Daemon and command line speak incompatible protocol versions.
    VersionMismatch = 4,
    /// A permission, missing trust or the configuration forbids the action, or the state directory
    /// is full or not writable.
    Denied = 5,
    /// A bug in skillsd.
    Bug = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
