//! [`Fetching`]: sources that are being fetched for the first time, and limits on the wait for
//! them.

use std::time::Duration;

use crate::health::Health;

/// Sources of a view that are being fetched for the first time.
#[derive(Debug)]
pub(crate) struct Fetching {
    /// One entry for each registry.
    pub(crate) registries: Vec<Health>,
    /// One entry for each MCP server.
    pub(crate) servers: Vec<Health>,
}

impl Fetching {
    /// Returns the entry for an event loop that did not say in time which sources are missing.
    pub(crate) fn unknown() -> Health {
        Health {
            code: "fetching",
            message: "skillsd is busy; skills of registries and MCP servers may be missing".into(),
            hint: "List the skills again; `skillsd status` shows the state.",
            path: None,
        }
    }
}

/// Limits on the wait for sources that are fetched or started for the first time.
#[derive(Clone, Copy, Debug)]
pub struct SourceTimeouts {
    /// For registries.
    pub registries: Duration,
    /// For MCP servers; registries are also waited for while a server starts.
    pub servers: Duration,
}
