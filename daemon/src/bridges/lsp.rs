//! `skillsd lsp`: the language server on standard input and output.
//!
//! The server is the crate `skills-lsp`; it reaches the disk through [`backend`]. The log goes to
//! standard error, which many editors show as errors, so it defaults to warnings.

mod backend;
mod backend_calls;
mod dependency_watcher;
pub(crate) mod served;

use std::process::ExitCode;
use std::sync::Arc;

use skills_cli::GlobalArgs;
use skills_cli::exit::Exit;
use skills_client::ClientError;
use skills_client::environment::{config_file, socket_location};
use skills_client::spawn::StartOptions;
use skills_config::Config;
use skills_lsp::{Backend, Ending};
use tokio::io::{stdin, stdout};
use tokio::runtime;

use crate::bridges::lsp::backend::LspBackend;
use crate::bridges::lsp::backend_calls::BackendMode;
use crate::log;
use crate::log::LogTarget;
use crate::request::settings::Settings;

const DEFAULT_LEVEL: &str = "warn";

/// Serves until the editor sends `exit` or closes standard input.
pub(crate) fn run(global: &GlobalArgs) -> ExitCode {
    skills_cli::print_server_note(
        global,
        "this is a language server, which an editor starts; `skillsd check` prints its findings here, and Ctrl-D ends it",
    );
    let settings = Settings::load(config_file());
    let mut config = Config::clone(&settings.user());
    config.log_level.get_or_insert_with(|| DEFAULT_LEVEL.to_owned());
    log::init(None, &config, LogTarget::StandardError);
    // One thread, so that document changes are applied before any analysis starts.
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            log::print_error(&error, None);
            return Exit::Bug.into();
        }
    };
    let backend_mode = backend_mode(global);
    let reports = match &backend_mode {
        BackendMode::Daemon(options) => skills_cli::replace_older_daemon(global, options),
        BackendMode::InProcessServer | BackendMode::Served(..) => Vec::new(),
    };
    let link = Arc::new(LspBackend::new(backend_mode).with_reports(reports));
    let source = Arc::clone(&link) as Arc<dyn Backend>;
    let ending = runtime.block_on(async {
        let ending = skills_lsp::serve(stdin(), stdout(), source).await;
        link.close().await;
        ending
    });
    // After `exit` a thread may still block on standard input.
    runtime.shutdown_background();
    match ending {
        Ending::Orderly => Exit::Fine.into(),
        // The protocol requires 1.
        Ending::Abrupt => ExitCode::FAILURE,
    }
}

fn backend_mode(global: &GlobalArgs) -> BackendMode {
    if global.no_daemon {
        return BackendMode::InProcessServer;
    }
    let options = socket_location().map_err(ClientError::from).and_then(StartOptions::new);
    match options {
        Ok(options) => BackendMode::Daemon(options),
        Err(error) => {
            tracing::info!(%error, "cannot reach or start a daemon; indexing skills in this process");
            BackendMode::InProcessServer
        }
    }
}
