//! `skillsd lsp`: the language server on standard input and output.
//!
//! Only this file knows that they are the streams; the server is in its own crate. Standard error
//! is the log, which many editors show as errors, so nothing is said there that is none.

use std::process::ExitCode;

use skills_client::cli::exit::Exit;
use skills_client::environment::config_file;
use skills_core::config::Config;
use skills_lsp::Ending;
use tokio::io::{stdin, stdout};
use tokio::runtime;

use crate::log;
use crate::settings::Settings;

/// What is logged when nobody says how much.
const DEFAULT_LEVEL: &str = "warn";

/// Serves until the editor says `exit` or goes.
pub(crate) fn run() -> ExitCode {
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
    let ending = runtime.block_on(skills_lsp::serve(stdin(), stdout()));
    // After `exit` a thread may still wait for input, which an editor need not end.
    runtime.shutdown_background();
    match ending {
        Ending::Orderly => Exit::Fine.into(),
        // The protocol wants 1.
        Ending::Abrupt => ExitCode::FAILURE,
    }
}
