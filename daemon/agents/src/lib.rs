//! Facts about agents, as data, and a SKILL.md as they read it.
//!
//! Holds the catalog of fields and their typed reading, the profiles, the lenient loaders of each
//! agent, the record of a SKILL.md, commands, hooks, and references to skills in texts. Touches no
//! file, clock, environment, thread, process or network.

pub mod command;
pub mod fence;
pub mod field_table;
pub mod fields;
pub mod hooks;
#[cfg(any(test, feature = "invariants"))]
pub mod invariants;
pub mod listing;
pub mod loaders;
pub mod profile;
pub mod references;
pub mod scalar;
pub mod skill;
pub mod yaml_library;
