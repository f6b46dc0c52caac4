//! The whole command line: the commands of the client, and those that are a server.
//!
//! Reads flags and hands them on; nothing happens here.

use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use skills_client::cli::{self, ABOUT, Binary, GlobalArgs};

use crate::serve::{self, ServeOptions};
use crate::{local, lsp};

/// The program's arguments.
#[derive(Debug, Parser)]
#[command(name = "skillsd", version, about = ABOUT, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Ask(cli::Command),
    /// Run the daemon in the foreground
    ///
    /// Commands start it by themselves. It ends at `skillsd stop`, SIGTERM or SIGINT, and answers
    /// first what it was asked before.
    Serve(ServeArgs),
    /// Run the language server on standard input and output
    ///
    /// For an editor that starts it, for files named SKILL.md. Needs no daemon.
    Lsp(LspArgs),
}

/// How the daemon is run.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Say on standard output that it listens, and log to the state directory from then on
    ///
    /// For a client that starts the daemon and goes.
    #[arg(long, hide = true)]
    spawned: bool,
    /// How much to log, for example `debug` or `warn,skills_engine=debug`
    ///
    /// The filters of `tracing`. Without it the variable SKILLSD_LOG counts, then `log.level` of
    /// the configuration, then `info`.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// How the language server is run.
#[derive(Debug, Args)]
struct LspArgs {
    /// Use standard input and output, as it does anyway
    ///
    /// Many editors say so to every language server.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs what the arguments of this process say.
pub(crate) fn run() -> ExitCode {
    let Program { global, command } = Program::parse();
    match command {
        Command::Ask(command) => {
            let binary = Binary { local: &local::connect, definition: Program::command };
            cli::run(&global, &command, binary)
        }
        Command::Serve(ServeArgs { spawned, log }) => serve::run(&ServeOptions { spawned, log }),
        Command::Lsp(LspArgs { stdio: _ }) => lsp::run(),
    }
}
