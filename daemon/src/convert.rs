//! Conversions between the types of the wire and those of the model.
//!
//! They depend on no other module of this crate.

pub(crate) mod from_wire;
pub(crate) mod to_wire;
