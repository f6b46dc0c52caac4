//! What helps somebody who writes a SKILL.md: completion and hover.
//!
//! Pure: a text, a place in it and what is known of its directory go in, items come out. Everything
//! that is offered and explained stands in the catalog ([`crate::catalog`]); nothing is spelled
//! here a second time. What the text means is worked out line by line, because a text that is
//! being typed is seldom YAML.

mod complete;
mod describe;
mod hover;
mod place;
#[cfg(test)]
mod tests;

pub use complete::{Completion, Item, Kind, complete, documentation};
pub use hover::{Hover, hover};
