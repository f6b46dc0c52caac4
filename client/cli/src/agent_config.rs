//! Configuration files of agents: their directories, and edits that keep comments, order and
//! layout.

pub(crate) mod command;
pub(crate) mod diff;
pub(crate) mod document;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod item;
pub(crate) mod state_record;

mod json;
mod toml;
