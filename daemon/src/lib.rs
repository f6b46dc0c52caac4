//! skillsd: the daemon, and the program that is put together from it and the other crates.
//!
//! The only crate that knows both the engine and the server. From the outside in: the program,
//! the daemon's life, the socket, a connection, a call, a handler, and the two conversions
//! between the wire and the model. `main` is a function here so that another package's tests
//! can build the very same program.

mod serve;

mod local;

mod log;

mod socket;

mod server;

mod connection;

mod outbox;

mod dispatch;

mod answer;

mod refusal;

mod peer;

mod service;

mod handlers;

mod from_wire;

mod to_wire;

mod beneath;

mod memory;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use skills_client::cli::{self, ABOUT, GlobalArgs};

/// The whole command line.
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
    Serve(serve::ServeArgs),
}

/// Runs the program.
pub fn main() -> ExitCode {
    let Program { global, command } = Program::parse();
    match command {
        Command::Ask(command) => cli::run(&global, &command, &local::connect),
        Command::Serve(args) => serve::run(&args),
    }
}
