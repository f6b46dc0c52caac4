//! Facts about agents, as data, and a SKILL.md as they read it.
//!
//! Holds the catalog of fields and their typed reading, the profiles, the lenient loaders of each
//! agent, the record of a SKILL.md, commands, hooks, and references to skills in texts. Touches no
//! file, clock, environment, thread, process or network.

pub mod catalog;
pub mod command;
pub mod fence;
pub mod fields;
pub mod hooks;
#[cfg(any(test, feature = "invariants"))]
pub mod invariants;
pub mod library;
pub mod listing;
pub mod loaders;
pub mod profile;
pub mod references;
pub mod scalar;
pub mod skill;
