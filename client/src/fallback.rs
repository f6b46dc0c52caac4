//! Replacement server ([`Fallback`]) for a daemon that accepts connections but answers nothing.
//!
//! A daemon that hangs, or was stopped by a signal, accepts connections and is silent. A long-lived
//! client with a [`Fallback`] pings the daemon on a second connection after a call has waited for a
//! while. If the ping fails too, the fallback server answers from then on, and pending calls are
//! repeated there. A daemon that only takes long for one answer still answers the ping.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use skills_protocol::method::ServerStatus;
use skills_protocol::socket::SocketLocation;
use skills_protocol::wire::StatusParams;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::ClientError;
use crate::connection::{CallMonitor, Connection};
use crate::spawn::connect;

/// Time that a call may wait before the daemon is pinged.
const CALL_TIMEOUT: Duration = Duration::from_secs(4);

/// Time limit for the ping, which costs the daemon nothing.
const PING_TIMEOUT: Duration = Duration::from_secs(4);

/// Server that answers when the daemon hangs.
pub struct Fallback {
    connect: Box<dyn Fn() -> io::Result<UnixStream> + Send + Sync>,
    is_needed: watch::Sender<bool>,
}

impl Fallback {
    /// Returns a fallback that `connect` connects to, on a thread that may block. Clients share it:
    /// once one of them finds that the daemon hangs, all use the fallback.
    pub fn new(connect: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { connect: Box::new(connect), is_needed: watch::Sender::new(false) })
    }

    /// Returns whether the daemon hangs and the fallback is in use.
    pub fn is_needed(&self) -> bool {
        *self.is_needed.borrow()
    }

    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        (self.connect)()
    }

    /// Closes a connection to the daemon once this or another client finds that the daemon hangs.
    pub(crate) async fn watch_over(
        self: Arc<Self>,
        monitor: CallMonitor,
        location: SocketLocation,
    ) {
        let mut needed = self.is_needed.subscribe();
        tokio::select! {
            // Never fails: the sender belongs to `self`.
            _ = needed.wait_for(|it| *it) => {}
            hangs = find_hanging(&monitor, &location) => {
                if !hangs {
                    return;
                }
                self.is_needed.send_replace(true);
            }
        }
        monitor.close();
    }
}

/// Returns true once a call and the ping after it get no answer, or false once the connection is
/// closed.
async fn find_hanging(monitor: &CallMonitor, location: &SocketLocation) -> bool {
    while !monitor.is_closed() {
        let Some(call) = monitor.oldest_call() else {
            monitor.next_call().await;
            continue;
        };
        sleep(CALL_TIMEOUT).await;
        if monitor.oldest_call() == Some(call) && !monitor.is_closed() {
            match timeout(PING_TIMEOUT, ping(location.clone())).await {
                // An error response is a sign of life too. A daemon that exited has closed the
                // connection.
                Ok(Err(ClientError::NoAnswer { .. })) | Err(_) => return true,
                Ok(Ok(()) | Err(_)) => {}
            }
        }
    }
    false
}

async fn ping(location: SocketLocation) -> Result<(), ClientError> {
    let connected = spawn_blocking(move || connect(&location, PING_TIMEOUT)).await;
    let stream = connected.map_err(io::Error::from)??;
    stream.set_nonblocking(true)?;
    let connection = Connection::new(tokio::net::UnixStream::from_std(stream)?);
    connection.call::<ServerStatus>(&StatusParams {}).await.map(drop)
}
