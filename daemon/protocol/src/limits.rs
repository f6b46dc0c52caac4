//! The bounds that the daemon holds its peers to, as told in `initialize`.
//!
//! The defaults are part of the contract; a user's configuration may change them.

use serde::{Deserialize, Serialize};

use crate::bounds;

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
    /// Bytes in a path.
    pub path_bytes: u64,
    /// Components in a path.
    pub path_components: u64,
    /// Bytes in an id of a session, agent, subscription or request, and in a profile's name.
    pub id_bytes: u64,
    /// Characters in a query, and in a skill's name.
    pub query_characters: u64,
    /// Items in a list, and variables in `environment`.
    pub list_items: u64,
    /// Bytes in the value of one variable in `environment`; its name is bounded as an id.
    pub environment_value_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            requests_in_flight: 32,
            message_bytes_in: 1024 * 1024,
            message_bytes_out: 8 * 1024 * 1024,
            subscriptions: 8,
            path_bytes: bounds::PATH_BYTES as u64,
            path_components: bounds::PATH_COMPONENTS as u64,
            id_bytes: bounds::ID_BYTES as u64,
            query_characters: bounds::QUERY_CHARACTERS as u64,
            list_items: bounds::LIST_ITEMS as u64,
            environment_value_bytes: bounds::ENVIRONMENT_VALUE_BYTES as u64,
        }
    }
}
