//! `initialize`: who we are and what we can do for this client.

use tower_lsp::ls_types::{InitializeResult, ServerInfo};

use crate::settings::Settings;
use crate::to_proto;

/// Introduces the server to a client with which `settings` were agreed.
pub(crate) fn initialize(settings: Settings) -> InitializeResult {
    InitializeResult {
        capabilities: to_proto::capabilities(settings),
        server_info: Some(ServerInfo {
            name: "skillsd".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        offset_encoding: None,
    }
}
