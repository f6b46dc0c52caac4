//! Sessions of agents: touches, the skills that they add, and the store that keeps them.

pub mod session;
pub mod store;
pub mod touch;
