//! Limits that the daemon applies to its clients, as returned by `initialize`.
//!
//! The defaults are part of the protocol; the user's configuration may change them.

use serde::{Deserialize, Serialize};

use crate::bounds;

/// Limits on connections, calls and sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Maximum number of open connections.
    pub connections: u32,
    /// Maximum number of running requests on one connection; the daemon stops reading from it
    /// beyond that.
    pub requests_in_flight: u32,
    /// Maximum bytes in one message to the daemon.
    pub message_bytes_in: u64,
    /// Maximum bytes in one message from the daemon.
    pub message_bytes_out: u64,
    /// Maximum number of subscriptions on one connection.
    pub subscriptions: u32,
    /// Maximum bytes in a path.
    pub path_bytes: u64,
    /// Maximum components in a path.
    pub path_components: u64,
    /// Maximum bytes in an id of a session, agent, subscription or request, and in a profile's
    /// name.
    pub id_bytes: u64,
    /// Maximum characters in a query and in a skill's name.
    pub query_characters: u64,
    /// Maximum items in a list, and variables in `environment`.
    pub list_items: u64,
    /// Maximum bytes in the value of one variable in `environment`; its name is limited like an id.
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
