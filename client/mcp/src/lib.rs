//! A Model Context Protocol server for skills.
//!
//! For agents that speak MCP but do not support skills, or not these. It is an ordinary client of
//! the daemon and has no rules of its own: `skills/list` and `skills/load` decide what a model sees
//! and may load. Supports both the revisions with `initialize` and the one without (2026-07-28).
//! Commands in skills never run here, whatever the configuration says.

mod changes;
mod client_directory;
mod complete;
mod consent;
mod context;
mod extension;
mod input;
mod names;
mod prompts;
mod resources;
mod roots;
mod server;
mod tools;

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use skills_client::client::Client;
use skills_protocol::wire::Shell;

pub use client_directory::{ClientDirectory, ContextOfRoots};
use context::McpContext;
use input::StdioTransport;
use server::{Server, VERSION};

/// Connections of the server to the daemon.
pub struct Clients {
    /// For ordinary calls.
    pub calls: Client,
    /// Sends the user's approvals.
    pub consent: Client,
}

/// Reason why the server ended before its client closed standard input.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The first message is not part of the protocol.
    #[error("standard input is not Model Context Protocol")]
    NotMcp,
    /// The task that serves the client panicked or was aborted.
    #[error("the MCP server ended: {0}")]
    Ended(#[from] tokio::task::JoinError),
}

/// Serves one client on standard input and output until it closes standard input.
///
/// `directory` provides the working directory of calls. `shell` says whether loaded skills list the
/// commands in their text.
pub async fn serve(
    clients: Clients,
    directory: ClientDirectory,
    shell: Shell,
) -> Result<(), ServeError> {
    let [calls, consent] =
        [clients.calls, clients.consent].map(|it| it.with_name("skillsd-mcp", VERSION));
    let mcp = Arc::new(McpContext::new(calls, consent, directory, shell));
    let following = tokio::spawn(changes::follow(Arc::clone(&mcp)));
    let ended = match Server::new(mcp).serve(StdioTransport::start()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(ServeError::from),
        // The client disconnected before the handshake.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => {
            tracing::debug!(%error);
            Err(ServeError::NotMcp)
        }
    };
    following.abort();
    ended
}
