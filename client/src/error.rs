//! What can go wrong between a client and the daemon.
//!
//! Each variant says what failed; [`ClientError::hint`] says what to do. Causes are in `source`
//! and not repeated in the text.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use skills_protocol::error::RpcError;
use skills_protocol::frame::FrameError;
use skills_protocol::socket::SocketError;

use crate::directory::DirectoryError;

/// Why a call, or a connection for it, failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no place for a socket.
    #[error(transparent)]
    Location(#[from] SocketError),
    /// The socket's directory is not safe.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The socket is there and does not let us in.
    #[error("failed to connect to `{}`", .socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing listens, and we were not to start it.
    #[error("no daemon listens on `{}`", .socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// A daemon runs, and does not listen where consent is given.
    #[error("the daemon does not listen on `{}`", .socket.display())]
    NoConsentSocket {
        /// The socket.
        socket: PathBuf,
    },
    /// Somebody else listens on our socket.
    #[error("whoever listens on `{}` is user {uid}, not you", .socket.display())]
    ForeignPeer {
        /// The socket.
        socket: PathBuf,
        /// Who listens.
        uid: u32,
    },
    /// The start lock could not be taken.
    #[error("failed to take the start lock `{}`", .path.display())]
    StartLock {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The daemon's program could not be run.
    #[error("failed to run `{}`", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The daemon ended before it was ready.
    #[error("`{} serve` ended before it was ready ({status})", .program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// The last lines of its standard error; may be empty.
        log: String,
    },
    /// Nothing was ready in time.
    #[error("no daemon answered on `{}` within {} s", .socket.display(), .waited.as_secs())]
    NoAnswer {
        /// The socket.
        socket: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// The daemon closed the connection before it answered.
    #[error("the daemon closed the connection before it answered")]
    Closed,
    /// The daemon accepted the call and has not answered.
    #[error("the daemon{} accepted the call and did not answer {}", process(*.pid), within(*.waited))]
    Silent {
        /// Its process, where that is known.
        pid: Option<i32>,
        /// How long was waited, where that is known.
        waited: Option<Duration>,
    },
    /// A call took longer than the caller allows.
    #[error("`{method}` was not answered within {} s", .after.as_secs_f64())]
    TimedOut {
        /// The method called.
        method: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// Reading or writing failed.
    #[error("the connection to the daemon failed")]
    Io(#[from] io::Error),
    /// The stream is not made of messages.
    #[error("the daemon's answer is not framed as a message")]
    Frame(#[from] FrameError),
    /// An answer is larger than we hold.
    #[error("the daemon's answer of {length} bytes is too large")]
    TooLarge {
        /// Its length.
        length: u64,
    },
    /// A message could not be read or written as JSON.
    #[error("the daemon's answer to `{method}` has an unexpected form")]
    Form {
        /// The method called.
        method: &'static str,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// Client and daemon do not speak the same protocol.
    #[error("the daemon speaks protocol {theirs}, this program {ours}")]
    Version {
        /// What this program speaks.
        ours: String,
        /// What the daemon speaks.
        theirs: String,
    },
}

impl ClientError {
    /// Returns what to do about it, a full sentence.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Directory(error) => error.hint(),
            Self::Rpc(error) => error.hint().map(str::to_owned),
            Self::Location(_) => {
                Some("Set SKILLSD_SOCKET to a short absolute path in a directory of yours.".into())
            }
            Self::NotRunning { .. } => {
                Some("Any command that needs it starts it, for example `skillsd status`.".into())
            }
            Self::ForeignPeer { .. } | Self::Connect { .. } => {
                Some("Set SKILLSD_SOCKET to a path in a directory of yours.".into())
            }
            Self::StartLock { .. } | Self::Start { .. } | Self::Failed { .. } => Some(
                "Run `skillsd serve` to see it start in the foreground, or pass `--no-daemon`."
                    .into(),
            ),
            Self::Silent { pid: Some(pid), .. } => Some(format!(
                "Run `skillsd stop`, which ends process {pid} also when it hangs, pass `--no-daemon`, or wait longer with `--timeout`."
            )),
            Self::NoAnswer { .. } | Self::Silent { pid: None, .. } => Some(
                "Run `skillsd stop` and try again, pass `--no-daemon`, or wait longer with `--timeout`.".into(),
            ),
            Self::TimedOut { .. } => {
                Some("Run `skillsd status` to see whether the daemon is well.".into())
            }
            Self::Version { .. } | Self::Form { .. } | Self::NoConsentSocket { .. } => Some(
                "Run `skillsd stop`; the next command starts the daemon of this version.".into(),
            ),
            Self::Closed | Self::Io(_) | Self::Frame(_) | Self::TooLarge { .. } => None,
        }
    }

    /// Returns the error with the process that it is about, and how long that was waited for, where
    /// it is about one.
    #[must_use]
    pub fn by_process(
        self,
        process: Option<rustix::process::Pid>,
        waited: Option<Duration>,
    ) -> Self {
        match self {
            Self::Silent { .. } => {
                Self::Silent { pid: process.map(|it| it.as_raw_nonzero().get()), waited }
            }
            other => other,
        }
    }

    /// Returns whether the connection broke, so that another one may do better.
    pub fn is_broken_connection(&self) -> bool {
        matches!(
            self,
            Self::Closed | Self::Io(_) | Self::Frame(FrameError::Truncated | FrameError::Io(_))
        )
    }
}

fn process(pid: Option<i32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

fn within(waited: Option<Duration>) -> String {
    waited.map_or_else(|| "in time".to_owned(), |it| format!("within {} s", it.as_secs_f64()))
}
