//! What the tests of skillsd stand on: a home of their own, worktrees from text, a driver for the real
//! binary, and a second opinion.
//!
//! Nothing of the product is used here. The wire client frames by itself, and the plain reader lists
//! skills by itself, so that a fault in the product's codec, parser or profiles cannot hide behind the
//! same fault here.
//! Everything panics on failure with a sentence that says what was expected: this is test code.

#![expect(clippy::missing_panics_doc, reason = "each function here fails the test that calls it")]

pub mod home;

pub mod fixture;

pub mod wait;

pub mod wire;

pub mod daemon;

pub mod catalog;

pub mod corpus;

pub mod mcp;

pub mod plain;

pub mod model;

pub mod literal;

pub mod screen;

pub use catalog::{Catalog, Page};
pub use corpus::Corpus;
pub use daemon::Daemon;
pub use fixture::lay_out;
pub use home::Home;
pub use model::{Model, Turn};
pub use screen::Screen;
pub use wait::wait_for;
pub use wire::{Framing, RpcError, Wire};
