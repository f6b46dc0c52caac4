//! What is known about the other end of a connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};

use jsonrpsee::ConnectionId;

/// The variables that discovery depends on, as a client sent them.
pub type Environment = BTreeMap<String, OsString>;

/// One connection, as the calls on it see it.
#[derive(Debug)]
pub struct Peer {
    id: ConnectionId,
    environment: OnceLock<Arc<Environment>>,
}

impl Peer {
    pub(crate) fn new(id: usize) -> Self {
        Self { id: ConnectionId(id), environment: OnceLock::new() }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns the environment that the peer introduced itself with, if any.
    pub(crate) fn environment(&self) -> Option<&Arc<Environment>> {
        self.environment.get()
    }

    /// Keeps the environment for the later calls; false when there is another one already.
    pub(crate) fn introduce(&self, environment: Arc<Environment>) -> bool {
        self.environment.get_or_init(|| Arc::clone(&environment)) == &environment
    }
}
