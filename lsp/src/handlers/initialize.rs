//! `initialize`: the server's name and capabilities.

use tower_lsp::ls_types::{InitializeResult, ServerInfo};

use crate::settings::Settings;
use crate::to_proto;

/// Returns the result of `initialize` for a client with these `settings`.
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
