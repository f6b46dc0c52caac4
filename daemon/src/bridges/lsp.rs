//! `skillsd lsp`: the language server on standard input and output.
//!
//! Only this file knows that they are the streams; the server is in its own crate, and learns what
//! is on the disk over [`link`]. Standard error
//! is the log, which many editors show as errors, so nothing is said there that is none.

mod dependency_watcher;
mod link;
pub(crate) mod served;

use std::process::ExitCode;
use std::sync::Arc;

use skills_cli::exit::Exit;
use skills_client::ClientError;
use skills_client::environment::{config_file, socket_location};
use skills_client::spawn::StartOptions;
use skills_config::Config;
use skills_lsp::{Backend, Ending};
use tokio::io::{stdin, stdout};
use tokio::runtime;

use crate::bridges::lsp::link::{BackendMode, Link};
use crate::lifecycle::log;
use crate::lifecycle::settings::Settings;

/// What is logged when nobody says how much.
const DEFAULT_LEVEL: &str = "warn";

/// Serves until the editor says `exit` or goes.
pub(crate) fn run(no_daemon: bool) -> ExitCode {
    let settings = Settings::load(config_file());
    let mut config = Config::clone(&settings.user());
    config.log_level.get_or_insert_with(|| DEFAULT_LEVEL.to_owned());
    log::init(None, &config, false);
    // One thread: what has arrived is applied before anything is made of it.
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            log::print_error(&error, None);
            return Exit::Bug.into();
        }
    };
    let link = Arc::new(Link::new(reach(no_daemon)));
    let source = Arc::clone(&link) as Arc<dyn Backend>;
    let ending = runtime.block_on(async {
        let ending = skills_lsp::serve(stdin(), stdout(), source).await;
        link.close().await;
        ending
    });
    // After `exit` a thread may still wait for input, which an editor need not end.
    runtime.shutdown_background();
    match ending {
        Ending::Orderly => Exit::Fine.into(),
        // The protocol wants 1.
        Ending::Abrupt => ExitCode::FAILURE,
    }
}

/// Returns who answers for the disk.
fn reach(no_daemon: bool) -> BackendMode {
    if no_daemon {
        return BackendMode::InProcessServer;
    }
    let options = socket_location().map_err(ClientError::from).and_then(StartOptions::new);
    match options {
        Ok(options) => BackendMode::Daemon(options),
        Err(error) => {
            tracing::info!(%error, "no daemon can be reached; skills are indexed here");
            BackendMode::InProcessServer
        }
    }
}
