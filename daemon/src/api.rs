//! Methods of the protocol, one file per family.

pub(crate) mod auto_touch;
pub(crate) mod handlers;
pub(crate) mod parts;
pub(crate) mod session;
