//! The bounds that the daemon holds its peers to, as told in `initialize`.
//!
//! The defaults are part of the contract; a user's configuration may change them.

use serde::{Deserialize, Serialize};

/// Bounds on connections, calls and sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Connections served at the same time.
    pub connections: u32,
    /// Requests in flight on one connection; beyond it the daemon stops reading from it.
    pub requests_in_flight: u32,
    /// Bytes in one message to the daemon.
    pub message_bytes_in: u64,
    /// Bytes in one message from the daemon.
    pub message_bytes_out: u64,
    /// Subscriptions on one connection.
    pub subscriptions: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            requests_in_flight: 32,
            message_bytes_in: 1024 * 1024,
            message_bytes_out: 8 * 1024 * 1024,
            subscriptions: 8,
        }
    }
}
