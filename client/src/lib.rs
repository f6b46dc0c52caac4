//! Talks to skillsd: finds it, starts it when it does not run, and calls it.
//!
//! Two ways in. [`blocking`] is for a process that asks once and goes: no runtime, one write, one
//! read. [`connection`] is for a process that stays: calls in parallel, cancellation, and
//! [`client`] above it, which connects again after the daemon was restarted, and
//! [`subscription`], which subscribes again.
//! Feature `cli` adds the `skillsd` commands that are built on the first.
//! It never looks at skills itself, and decides nothing that the daemon decides.

pub mod blocking;
pub mod client;
pub mod connection;
pub mod directory;
pub mod environment;
pub mod error;
pub mod logs;
pub mod peer;
pub mod spawn;
pub mod subscription;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(test)]
mod script;

pub use error::ClientError;
