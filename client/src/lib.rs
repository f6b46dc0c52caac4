//! Client library of skillsd: connects to the daemon, starts it when it does not run, and calls it.
//!
//! [`blocking`] is for a process that makes a few calls and exits: no runtime, one write, one read.
//! [`client`] is for a long-running process: concurrent calls over one [`connection`], which is
//! replaced after the daemon restarts. [`subscription`] receives change events across restarts, and
//! [`live`] keeps a list of skills up to date with them. [`fallback`] replaces a daemon that hangs,
//! and [`pages`] joins paged answers.
//! Every method of the protocol is a type in [`skills_protocol::method`], with its parameter and
//! result types: `client.call::<SkillsLoad>(&params)`. Start with `examples/list.rs`.
//! The `skillsd` commands are in the crate `skills-cli`, built on [`blocking`].
//! This crate never reads skills and decides nothing that the daemon decides.

pub mod blocking;
pub mod client;
pub mod connection;
pub mod directory;
pub mod environment;
pub mod error;
pub mod fallback;
pub mod live;
pub mod logs;
pub mod pages;
pub mod peer;
pub mod spawn;
pub mod subscription;

#[cfg(any(test, feature = "testing"))]
pub mod script;

pub use error::ClientError;
