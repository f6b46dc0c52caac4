//! Talks to skillsd: finds it, starts it when it does not run, and calls it.
//!
//! Two ways in. [`blocking`] is for a process that asks once and goes: no runtime, one write, one
//! read. [`client`] is for a process that stays: calls side by side over one [`connection`], which is
//! made again after the daemon was restarted; [`subscription`] is told of changes, also across
//! restarts, and [`live`] keeps a list of skills by them;
//! [`fallback`] answers for a daemon that hangs, and [`pages`] puts long answers together.
//! Every method of the protocol is a type in [`skills_protocol::method`], with the types of what it
//! takes and gives: `client.call::<SkillsLoad>(&params)`. The examples begin with `examples/list.rs`.
//! The `skillsd` commands are in the crate `skills-cli`, built on [`blocking`].
//! It never looks at skills itself, and decides nothing that the daemon decides.

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
