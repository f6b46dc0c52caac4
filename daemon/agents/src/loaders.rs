//! The leniency ladder: what each agent makes of a frontmatter, healthy or not.
//!
//! Agents read the same bytes with different YAML libraries, and when the library refuses them
//! each has its own repair. A [`rung`](crate::profile::Rung) is one such way of reading: a pure
//! function from the text between the `---` lines to another text, or to fields. Every rung says
//! whether it applies and which bytes it changed, and changes nothing but the value it repairs.
//! [`read_as`] climbs the rungs a profile has, in its order, then asks what that agent asks of a
//! name and a description. Nothing here coerces for anybody else: our own reading is
//! [`crate::fields`].

mod block;
mod climb;
mod demand;
mod dialect;
mod lines;
mod quote;
mod reading;
mod repair;
mod requirement;

pub use block::block;
pub use dialect::{Mapping, Refusal, strict};
pub use lines::{Rescue, lines};
pub use quote::quote;
pub use reading::{Reading, Remark, Verdict, read_as, verdicts};
pub use repair::{Change, Repair};

#[cfg(test)]
mod tests;
