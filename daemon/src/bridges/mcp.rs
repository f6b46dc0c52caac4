//! `skillsd mcp`: a Model Context Protocol server for skills.
//!
//! The server is the crate `skills-mcp`. Standard output carries the protocol only; the log goes to
//! files in the state directory.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use skills_cli::exit::Exit;
use skills_cli::{CommandError, GlobalArgs};
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::environment::{config_file, socket_location};
use skills_client::fallback::Fallback;
use skills_client::spawn::StartOptions;
use skills_config::Config;
use skills_mcp::{ClientDirectory, Clients, ContextOfRoots, ServeError};
use skills_protocol::wire::{Context, Shell};
use tokio::runtime;

use crate::lifecycle::in_process::FallbackServer;
use crate::log;
use crate::log::LogTarget;
use crate::request::settings::Settings;

/// Default log filter. `rmcp` is limited to errors because its log lines quote messages.
const DEFAULT_LEVEL: &str = "info,rmcp=error,notify=error";

#[derive(Debug, Clone)]
pub(crate) struct McpOptions {
    pub(crate) session: Option<String>,
    pub(crate) shell: Shell,
}

/// Returns the directory of the command line, or else the one that the client's roots replace.
fn client_directory(
    global: &GlobalArgs,
    session: Option<String>,
) -> Result<ClientDirectory, CommandError> {
    let context = move |global: &GlobalArgs| {
        Ok(Context { session: session.clone(), ..skills_cli::context(global)? })
    };
    let start = context(global)?;
    let context_of_roots = global.cwd.is_none().then(|| {
        let global = global.clone();
        let of_roots = move |dirs: Vec<PathBuf>| {
            let mut dirs = dirs.into_iter();
            let mut global = GlobalArgs { cwd: dirs.next(), ..global.clone() };
            global.add_dirs.extend(dirs);
            context(&global).map_err(|error: CommandError| error.message().to_owned())
        };
        Box::new(of_roots) as ContextOfRoots
    });
    Ok(ClientDirectory::new(start, context_of_roots))
}

/// Serves until the client closes standard input.
pub(crate) fn run(global: &GlobalArgs, options: McpOptions) -> ExitCode {
    skills_cli::print_server_note(
        global,
        "this is an MCP server, which an agent starts; `skillsd install --only mcp` registers it with agents, and Ctrl-D ends it",
    );
    let directory = match client_directory(global, options.session) {
        Ok(directory) => directory,
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
        Ok(clients) => {
            exit_of(runtime.block_on(skills_mcp::serve(clients, directory, options.shell)))
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

/// Returns connections to the daemon, or to the server in this process with `--no-daemon`.
fn clients(global: &GlobalArgs, own: &Arc<FallbackServer>) -> Result<Clients, ClientError> {
    if global.no_daemon {
        let over = |own: Arc<FallbackServer>| Client::over(move || own.connect());
        return Ok(Clients { calls: over(Arc::clone(own)), consent: over(Arc::clone(own)) });
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
    Ok(Clients {
        calls: Client::new(options.clone()).with_fallback(Arc::clone(&fallback)),
        consent: Client::for_consent(options).with_fallback(fallback),
    })
}

/// Prints why the server ended early, and returns the exit code.
fn exit_of(served: Result<(), ServeError>) -> Exit {
    match served {
        Ok(()) => Exit::Fine,
        Err(error @ ServeError::Ended(_)) => {
            tracing::error!("{error}");
            Exit::Bug
        }
        Err(error @ ServeError::NotMcp) => {
            tracing::warn!("{error}");
            log::print_error(&error, Some(NOT_MCP_HINT));
            Exit::Usage
        }
    }
}

const NOT_MCP_HINT: &str = "Agents start this command. See the README for how to register it.";
