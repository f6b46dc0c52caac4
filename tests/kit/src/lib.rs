//! Test kit of skillsd: isolated homes, worktrees from text, drivers for the real binary, and
//! independent readers.
//!
//! It uses no code of the product. The wire client implements framing, and the plain reader
//! implements discovery, independently, so that a fault in the product cannot be hidden by the same
//! fault here. Every function panics on failure with a message: this is test code.

#![expect(clippy::missing_panics_doc, reason = "each function here fails the test that calls it")]

pub mod home;

pub mod fixture;

pub mod wait;

pub mod wire;

pub mod daemon;

mod process;

pub mod random;
pub mod registry_server;

pub mod corpus;

pub mod mcp;

pub mod plain;

pub mod model;

pub mod literal;

pub mod screen;

pub use corpus::Corpus;
pub use daemon::Daemon;
pub use fixture::lay_out;
pub use home::Home;
pub use model::{Model, ModelRequest, Turn};
pub use registry_server::{Page, RegistryServer};
pub use screen::Screen;
pub use wait::wait_for;
pub use wire::{Framing, RpcError, Wire};
