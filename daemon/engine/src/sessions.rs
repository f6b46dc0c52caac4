//! Sessions of agents: touches, the skills that they add, and the store that persists them.

pub mod registry;
pub mod session;
pub mod store;
pub mod touch;
pub mod write_trees;
