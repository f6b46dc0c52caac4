//! `skillsd mcp`: a Model Context Protocol server for skills.
//!
//! For agents that speak MCP but do not support skills, or not these. It is an ordinary client of
//! the daemon and has no rules of its own: `skills/list` and `skills/load` decide what a model sees
//! and may load. Supports both the revisions with `initialize` and the one without (2026-07-28).
//! Standard output carries the protocol only; the log goes to files in the state directory.
//! Commands in skills never run here, whatever the configuration says.

mod changes;
mod complete;
mod consent;
mod context;
mod extension;
mod input;
mod names;
mod place;
mod prompts;
mod resources;
mod roots;
mod server;
mod tools;

use std::process::ExitCode;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use skills_cli::GlobalArgs;
use skills_cli::exit::Exit;
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment::{config_file, socket_location};
use skills_client::fallback::Fallback;
use skills_client::spawn::StartOptions;
use skills_config::Config;
use skills_protocol::wire::Shell;
use tokio::runtime;

use crate::lifecycle::in_process::FallbackServer;
use crate::lifecycle::log;
use crate::lifecycle::log::LogTarget;
use crate::lifecycle::settings::Settings;
use context::McpContext;
use input::StdioTransport;
use place::ClientPlace;
use server::{Server, VERSION};

/// Default log filter. `rmcp` is limited to errors because its log lines quote messages.
const DEFAULT_LEVEL: &str = "info,rmcp=error,notify=error";

#[derive(Debug, Clone)]
pub(crate) struct McpOptions {
    pub(crate) session: Option<String>,
    pub(crate) shell: Shell,
}

/// Serves until the client closes standard input.
pub(crate) fn run(global: &GlobalArgs, options: McpOptions) -> ExitCode {
    skills_cli::print_server_note(
        global,
        "this is an MCP server, which an agent starts; `skillsd install --only mcp` registers it with agents, and Ctrl-D ends it",
    );
    let place = match ClientPlace::new(global.clone(), options.session) {
        Ok(place) => place,
        Err(error) => return skills_cli::refuse(global, &error),
    };
    let settings = Settings::load(config_file());
    let mut config = Config::clone(&settings.user());
    config.log_level.get_or_insert_with(|| DEFAULT_LEVEL.to_owned());
    log::init(None, &config, LogTarget::Files);
    log::move_to_state_directory();
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("mcp")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            log::print_error(&error, None);
            return Exit::Bug.into();
        }
    };
    let own = Arc::<FallbackServer>::default();
    let exit = match clients(global, &own) {
        Ok([client, consent]) => {
            let [client, consent] =
                [client, consent].map(|it| it.with_name("skillsd-mcp", VERSION));
            runtime.block_on(serve(McpContext::new(client, consent, place, options.shell)))
        }
        Err(error) => {
            log::print_error(&error, error.hint().as_deref());
            Exit::NoDaemon
        }
    };
    // The thread that reads standard input may block forever.
    runtime.shutdown_background();
    own.stop();
    exit.into()
}

/// Returns the client for ordinary calls and the one that sends the user's approvals.
fn clients(global: &GlobalArgs, own: &Arc<FallbackServer>) -> Result<[Client; 2], ClientError> {
    if global.no_daemon {
        let over = |own: Arc<FallbackServer>| Client::over(move || own.connect());
        return Ok([over(Arc::clone(own)), over(Arc::clone(own))]);
    }
    // Answers while the daemon hangs.
    let in_process = Arc::clone(own);
    let fallback = Fallback::new(move || {
        tracing::warn!("the daemon does not answer; indexing skills in this process");
        in_process.connect()
    });
    let options = StartOptions::new(socket_location()?)?;
    for health in skills_cli::replace_older_daemon(global, &options) {
        tracing::warn!("{}", health.message);
    }
    let clients = [Client::new(options.clone()), Client::for_consent(options)];
    Ok(clients.map(|it| it.with_fallback(Arc::clone(&fallback))))
}

async fn serve(mcp: McpContext) -> Exit {
    let mcp = Arc::new(mcp);
    let following = tokio::spawn(changes::follow(Arc::clone(&mcp)));
    let exit = match Server::new(mcp).serve(StdioTransport::start()).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Exit::Fine,
            Err(error) => {
                tracing::error!(%error, "the MCP server ended");
                Exit::Bug
            }
        },
        // The client disconnected before the handshake.
        Err(ServerInitializeError::ConnectionClosed(_)) => Exit::Fine,
        Err(error) => {
            tracing::warn!("standard input is not Model Context Protocol");
            tracing::debug!(%error);
            log::print_error(&NotMcp, Some(NotMcp::HINT));
            Exit::Usage
        }
    };
    following.abort();
    exit
}

/// Error for input that is not MCP.
#[derive(Debug, thiserror::Error)]
#[error("standard input is not Model Context Protocol")]
struct NotMcp;

impl NotMcp {
    const HINT: &str = "Agents start this command. See the README for how to register it.";
}
