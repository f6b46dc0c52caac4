//! skillsd: the daemon, and the program that is put together from it and the other crates.
//!
//! The only crate that knows both the engine and the server. From the outside in: the program,
//! the daemon's life, the socket, a connection, a call, a handler, and the two conversions
//! between the wire and the model. `main` is a function here so that another package's tests
//! can build the very same program.

mod cli;

mod serve;

mod shutdown_monitor;

mod watchdog;

mod config_watch;

mod inotify_queue;

mod config_notify;

mod in_process;

mod lsp;

mod mcp;

mod log;

mod settings;

mod rules_page;

mod socket;

mod server;

mod connection;

mod outbox;

mod dispatch;

mod answer;

mod refusal;

mod peer;

mod events;

mod service;

mod handlers;

mod session;

mod auto_touch;

mod paging;

mod page_cache;

mod response_cache;

mod snapshot_index;

mod authorize;

mod approval_prompt;

mod counters;

mod approval_queue;

mod child_process;

mod programs;

mod from_wire;

mod to_wire;

mod confined_dir;

mod sealed_copy;

mod blocking;

mod heavy;

mod resident_memory;

#[cfg(test)]
mod needs_root;

/// Runs the program.
pub fn main() -> std::process::ExitCode {
    cli::run()
}
