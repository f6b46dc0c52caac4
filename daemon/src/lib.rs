//! skillsd: the daemon, and the `skillsd` program built from it and the other crates.
//!
//! The only crate that depends on both the engine and the server. From the outside in: the program,
//! the daemon's lifecycle, the socket, a connection, a call, a handler, and the conversions between
//! wire types and the model. [`main`] is a library function so that tests of another package can
//! build the same program.

mod cli;

mod rpc;

mod rules_page;

mod api;

mod convert;

mod access;

mod request;

mod lifecycle;

mod serve;

mod log;

mod bridges;

#[cfg(test)]
mod needs_root;

pub fn main() -> std::process::ExitCode {
    cli::run()
}
