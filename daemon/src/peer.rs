//! What is known about the other end of a connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use jsonrpsee::ConnectionId;

/// The variables that discovery depends on, as a client sent them.
pub(crate) type Environment = BTreeMap<String, OsString>;

/// One connection, as the calls on it see it.
#[derive(Debug)]
pub(crate) struct Peer {
    id: ConnectionId,
    environment: OnceLock<Environment>,
}

impl Peer {
    pub(crate) fn new(id: usize) -> Self {
        Self { id: ConnectionId(id), environment: OnceLock::new() }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns the environment that the peer introduced itself with, if any.
    pub(crate) fn environment(&self) -> Option<&Environment> {
        self.environment.get()
    }

    /// Keeps the environment for the later calls. A connection introduces itself once; what it
    /// says after that is not heard, so that its views stay the same.
    pub(crate) fn introduce(&self, environment: Environment) {
        self.environment.get_or_init(|| environment);
    }
}
