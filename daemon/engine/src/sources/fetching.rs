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

/// Limits on the wait for sources that are fetched or started for the first time.
#[derive(Clone, Copy, Debug)]
pub struct SourceTimeouts {
    /// For registries.
    pub registries: Duration,
    /// For MCP servers; registries are also waited for while a server starts.
    pub servers: Duration,
}
