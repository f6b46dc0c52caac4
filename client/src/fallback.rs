//! Who answers in the place of a daemon that is there and answers nothing any more.
//!
//! A daemon that was stopped by a signal, or hangs, accepts connections and is silent. A client that
//! stays and has a [`Fallback`] looks after a while whether the daemon gives any sign of life, on a
//! connection of its own; where it does not, the stand-in answers from then on, and what was under
//! way begins anew there. A daemon that works long on one answer is no such daemon.

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
use crate::connection::{Connection, Pulse};
use crate::spawn::connect;

/// How long one call may be without an answer before the daemon is asked how it is.
const QUIET: Duration = Duration::from_secs(4);

/// How long a sign of life is waited for, which takes a daemon nothing.
const SIGN: Duration = Duration::from_secs(4);

/// Who answers where the daemon does not.
pub struct Fallback {
    connect: Box<dyn Fn() -> io::Result<UnixStream> + Send + Sync>,
    is_needed: watch::Sender<bool>,
}

impl Fallback {
    /// Returns one that is connected to by this, on a thread that may wait. Clients share it: where
    /// one of them finds that the daemon hangs, all turn to it.
    pub fn new(connect: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { connect: Box::new(connect), is_needed: watch::Sender::new(false) })
    }

    /// Returns whether it answers.
    pub fn is_needed(&self) -> bool {
        *self.is_needed.borrow()
    }

    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        (self.connect)()
    }

    /// Closes a connection to the daemon once that one is found to hang, by it or by another.
    pub(crate) async fn watch_over(self: Arc<Self>, pulse: Pulse, location: SocketLocation) {
        let mut needed = self.is_needed.subscribe();
        tokio::select! {
            // It fails never: the sender is ours.
            _ = needed.wait_for(|it| *it) => {}
            hangs = find_hanging(&pulse, &location) => {
                if !hangs {
                    return;
                }
                self.is_needed.send_replace(true);
            }
        }
        pulse.close();
    }
}

/// Returns true once a call is not answered and the daemon gives no sign of life either, or false
/// once the connection is closed.
async fn find_hanging(pulse: &Pulse, location: &SocketLocation) -> bool {
    while !pulse.is_closed() {
        let Some(call) = pulse.oldest_call() else {
            pulse.next_call().await;
            continue;
        };
        sleep(QUIET).await;
        if pulse.oldest_call() == Some(call) && !pulse.is_closed() {
            match timeout(SIGN, sign(location.clone())).await {
                // Also a refusal is one. One that has gone has closed the connection.
                Ok(Err(ClientError::NoAnswer { .. })) | Err(_) => return true,
                Ok(Ok(()) | Err(_)) => {}
            }
        }
    }
    false
}

async fn sign(location: SocketLocation) -> Result<(), ClientError> {
    let connected = spawn_blocking(move || connect(&location, SIGN)).await;
    let stream = connected.map_err(io::Error::from)??;
    stream.set_nonblocking(true)?;
    let connection = Connection::new(tokio::net::UnixStream::from_std(stream)?);
    connection.call::<ServerStatus>(&StatusParams {}).await.map(drop)
}
