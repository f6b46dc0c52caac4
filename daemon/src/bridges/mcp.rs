//! `skillsd mcp`: the skills as a server of the Model Context Protocol.
//!
//! For agents that speak MCP and know no skills, or other ones. It is a client of the daemon like
//! any other and decides nothing: what a model sees and may load is what `skills/list` and
//! `skills/load` say. Both lives of the protocol are served, that with `initialize` and the one
//! without (2026-07-28). Standard output is the protocol's alone; the log goes to the files of the
//! state directory. Commands in a skill are never run here, whatever the configuration says.

mod changes;
mod complete;
mod consent;
mod context;
mod extension;
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
use crate::lifecycle::settings::Settings;
use context::McpContext;
use place::Place;
use server::Server;

/// How this program calls itself.
const NAME: &str = "skillsd";

/// This program's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is logged when nobody says how much: the library's own lines quote messages.
const DEFAULT_LEVEL: &str = "info,rmcp=error,notify=error";

/// How the server is run.
#[derive(Debug, Clone)]
pub(crate) struct McpOptions {
    /// The conversation that its calls are part of.
    pub(crate) session: Option<String>,
    /// What becomes of commands in skills.
    pub(crate) shell: Shell,
}

/// Serves until the client closes standard input.
pub(crate) fn run(global: &GlobalArgs, options: McpOptions) -> ExitCode {
    let place = match Place::new(global.clone(), options.session) {
        Ok(place) => place,
        Err(error) => return skills_cli::refuse(global, &error),
    };
    let settings = Settings::load(config_file());
    let mut config = Config::clone(&settings.user());
    config.log_level.get_or_insert_with(|| DEFAULT_LEVEL.to_owned());
    log::init(None, &config, true);
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
    // The thread that waits for input may wait for ever.
    runtime.shutdown_background();
    own.stop();
    exit.into()
}

/// Returns the client that asks and the one that answers for the user.
fn clients(global: &GlobalArgs, own: &Arc<FallbackServer>) -> Result<[Client; 2], ClientError> {
    if global.no_daemon {
        let over = |own: Arc<FallbackServer>| Client::over(move || own.connect());
        return Ok([over(Arc::clone(own)), over(Arc::clone(own))]);
    }
    // Answers in place of a daemon that hangs.
    let standby = Arc::clone(own);
    let stand_in = Fallback::new(move || {
        tracing::warn!("the daemon does not answer; skills are indexed here");
        standby.connect()
    });
    let options = StartOptions::new(socket_location()?)?;
    let clients = [Client::new(options.clone()), Client::for_consent(options)];
    Ok(clients.map(|it| it.with_fallback(Arc::clone(&stand_in))))
}

async fn serve(desk: McpContext) -> Exit {
    let desk = Arc::new(desk);
    let following = tokio::spawn(changes::follow(Arc::clone(&desk)));
    let exit = match Server::new(desk).serve(rmcp::transport::stdio()).await {
        Ok(running) => match running.waiting().await {
            Ok(_) => Exit::Fine,
            Err(error) => {
                tracing::error!(%error, "the MCP server ended");
                Exit::Bug
            }
        },
        // Whoever started it has gone again.
        Err(ServerInitializeError::ConnectionClosed(_)) => Exit::Fine,
        Err(error) => {
            tracing::warn!("what came on standard input is not the Model Context Protocol");
            tracing::debug!(%error);
            log::print_error(&NotMcp, Some(NotMcp::HINT));
            Exit::Usage
        }
    };
    following.abort();
    exit
}

/// What is said where something else than MCP came.
#[derive(Debug, thiserror::Error)]
#[error("what came on standard input is not the Model Context Protocol")]
struct NotMcp;

impl NotMcp {
    const HINT: &str = "Agents start this command; the README says how it is registered.";
}
