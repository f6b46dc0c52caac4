//! Discovery of skills: resolution, explanation, precedence, permission, activation and search.
//!
//! Asks a [`discover::Tree`] about the disk; touches no file, clock, environment, thread, process or
//! network itself. Its model types are not wire types: the crates that own those convert.

pub mod activate;
pub mod discover;
pub mod levels;
pub mod permission;
pub mod ranking;
pub mod remote;
pub mod search;
