//! Methods of the protocol, one file per family, with the conversions between wire and model.

pub(crate) mod auto_touch;
pub(crate) mod counters;
pub(crate) mod from_wire;
pub(crate) mod handlers;
pub(crate) mod parts;
mod present_agents;
pub(crate) mod request;
pub(crate) mod session;
pub(crate) mod to_wire;
