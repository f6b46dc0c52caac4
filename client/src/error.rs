//! Errors between a client and the daemon ([`ClientError`]).
//!
//! Each variant says what failed; [`ClientError::hint`] says what to do. Causes are in `source` and
//! not repeated in the text.

use std::error::Error;
use std::io;
use std::iter;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::value::RawValue;
use skills_protocol::error::RpcError;
use skills_protocol::frame::FrameError;
use skills_protocol::method::Request;
use skills_protocol::socket::SocketError;
use skills_protocol::{PROTOCOL_VERSION, compatible};

use crate::directory::DirectoryError;

/// Error of a call, or of connecting for it.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No socket path can be chosen.
    #[error(transparent)]
    Location(#[from] SocketError),
    /// The socket's directory is not safe to use.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The socket exists, but connecting to it failed.
    #[error("failed to connect to `{}`", .socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// No daemon listens, and the client was not allowed to start one.
    #[error("no daemon listens on `{}`", .socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// A daemon runs, but does not listen on its consent socket.
    #[error("the daemon does not listen on `{}`", .socket.display())]
    NoConsentSocket {
        /// The socket.
        socket: PathBuf,
    },
    /// Another user listens on our socket.
    #[error("user {uid} listens on `{}`, not you", .socket.display())]
    ForeignPeer {
        /// The socket.
        socket: PathBuf,
        /// User id of the listening process.
        uid: u32,
    },
    /// The start lock could not be taken.
    #[error("failed to take the start lock `{}`", .path.display())]
    StartLock {
        /// The lock file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The file for the starting daemon's log could not be opened.
    #[error("failed to open the start log `{}`", .path.display())]
    StartLog {
        /// The log file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The daemon's program could not be run.
    #[error("failed to run `{}`", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// The daemon ended before it was ready.
    #[error("`{} serve` ended before it was ready ({status})", .program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// Exit status.
        status: String,
        /// The last lines of its standard error; may be empty.
        log: String,
    },
    /// No daemon accepted a connection in time.
    #[error("no daemon answered on `{}` within {} s", .socket.display(), .waited.as_secs())]
    NoAnswer {
        /// The socket.
        socket: PathBuf,
        /// Time limit.
        waited: Duration,
    },
    /// The daemon closed the connection before it answered.
    #[error("the daemon closed the connection before it answered")]
    Closed,
    /// The daemon accepted the call but has not answered.
    #[error("the daemon{} accepted the call but did not answer {}", process(*.pid), within(*.waited))]
    Silent {
        /// Process id of the daemon, if known.
        pid: Option<i32>,
        /// Time limit, if known.
        waited: Option<Duration>,
    },
    /// A call took longer than the caller allows.
    #[error("`{method}` got no answer within {} s", .after.as_secs_f64())]
    TimedOut {
        /// The method called.
        method: &'static str,
        /// Time limit.
        after: Duration,
    },
    /// Reading or writing failed.
    #[error("the connection to the daemon failed")]
    Io(#[from] io::Error),
    /// The stream does not consist of framed messages.
    #[error("the daemon's answer is not a framed message")]
    Frame(#[from] FrameError),
    /// An answer exceeds the size limit.
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
        /// JSON error.
        source: serde_json::Error,
    },
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// Client and daemon speak incompatible protocol versions.
    #[error("the daemon speaks protocol {theirs}, but this program speaks {ours}")]
    Version {
        /// Protocol version of this program.
        ours: String,
        /// Protocol version of the daemon.
        theirs: String,
    },
}

impl ClientError {
    /// Returns a full sentence that says what to do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Directory(error) => error.hint(),
            Self::Rpc(error) => error.hint().map(str::to_owned),
            Self::Location(_) => {
                Some("Set SKILLSD_SOCKET to a short absolute path in a directory that you own.".into())
            }
            Self::NotRunning { .. } => {
                Some("A command that needs the daemon, such as `skillsd list`, starts it.".into())
            }
            Self::ForeignPeer { .. } | Self::Connect { .. } => {
                Some("Set SKILLSD_SOCKET to a path in a directory that you own.".into())
            }
            Self::StartLog { path, .. } => Some(format!(
                "Remove `{}`, or set SKILLSD_SOCKET to a path in another directory that you own.",
                path.display()
            )),
            Self::StartLock { .. } | Self::Start { .. } | Self::Failed { .. } => Some(
                "Run `skillsd serve` to start it in the foreground and see its errors, or pass `--no-daemon`."
                    .into(),
            ),
            Self::Silent { pid: Some(pid), .. } => Some(format!(
                "Run `skillsd stop` to end process {pid}, pass `--no-daemon`, or wait longer with `--timeout`."
            )),
            Self::NoAnswer { .. } | Self::Silent { pid: None, .. } => Some(
                "Run `skillsd stop` and try again, pass `--no-daemon`, or wait longer with `--timeout`.".into(),
            ),
            Self::TimedOut { .. } => {
                Some("Run `skillsd status` to check the daemon.".into())
            }
            Self::Version { .. } | Self::Form { .. } | Self::NoConsentSocket { .. } => Some(
                "Run `skillsd stop`; the next command starts a daemon of this version.".into(),
            ),
            Self::Closed
            | Self::Io(_)
            | Self::Frame(FrameError::Truncated | FrameError::Io(_))
            | Self::TooLarge { .. } => None,
            Self::Frame(_) => {
                Some("Another program may listen on the socket. Run `skillsd doctor`.".to_owned())
            }
        }
    }

    /// Returns the error with the daemon's process id and the time limit, if it is
    /// [`Self::Silent`].
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

    /// Returns whether the connection broke, so that a new connection may succeed.
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

/// Returns the causes of an error, the nearest first.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(error.source(), |it| (*it).source())
}

/// Parses the result of a call.
pub fn parse<M: Request>(result: &RawValue) -> Result<M::Result, ClientError> {
    M::parse_result(result).map_err(|source| ClientError::Form { method: M::METHOD, source })
}

/// Returns the parameters of a call as JSON.
pub fn params_json<M: Request>(params: &M::Params) -> Result<Box<RawValue>, ClientError> {
    M::params_json(params).map_err(|source| ClientError::Form { method: M::METHOD, source })
}

/// Checks that a server's protocol version is compatible with this library's.
pub fn check_version(theirs: &str) -> Result<(), ClientError> {
    if compatible(PROTOCOL_VERSION, theirs) {
        return Ok(());
    }
    let ours = PROTOCOL_VERSION.to_owned();
    Err(ClientError::Version { ours, theirs: theirs.to_owned() })
}
