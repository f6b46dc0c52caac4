//! skillsd: the daemon, and the program that is put together from it and the other crates.
//!
//! The only crate that knows both the engine and the server. From the outside in: the program,
//! the daemon's life, the socket, a connection, a call, a handler, and the two conversions
//! between the wire and the model. `main` is a function here so that another package's tests
//! can build the very same program.

mod cli;

mod service;

mod rpc;

mod api;

mod access;

mod lifecycle;

mod bridges;

#[cfg(test)]
mod needs_root;

/// Runs the program.
pub fn main() -> std::process::ExitCode {
    cli::run()
}
