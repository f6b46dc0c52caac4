//! Pure discovery logic: which skills an agent finds, which one wins a name, permissions,
//! activation by path patterns, ranking for search, and registries.
//!
//! Reads the disk only through [`discover::Tree`]; touches no file, clock, environment, thread,
//! process or network itself. Its types are not wire types; the crates that own those convert.

pub mod activate;
pub mod discover;
pub mod levels;
pub mod permission;
pub mod ranking;
pub mod remote;
pub mod search;
