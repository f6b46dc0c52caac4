//! Methods of the protocol, one file per family.

pub(crate) mod auto_touch;
pub(crate) mod counters;
pub(crate) mod handlers;
pub(crate) mod parts;
mod present_agents;
pub(crate) mod request;
pub(crate) mod session;
