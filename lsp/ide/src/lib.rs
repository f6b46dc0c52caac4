//! What helps somebody who writes a SKILL.md: completion, hover, selection, what stands out, what is
//! shown beside the letters, formatting and refactoring.
//!
//! Pure: a text, a place in it and what is known of its directory go in, items come out. Everything
//! that is offered and explained stands in the catalog ([`skills_agents::catalog`]); nothing is spelled
//! here a second time. What the text means is worked out line by line, because a text that is
//! being typed is seldom YAML.

mod anchors;
mod arguments;
mod beside;
mod complete;
mod convert;
mod describe;
mod extract;
mod format;
mod hints;
mod hover;
mod keys;
mod labels;
mod lens;
pub mod mention;
pub mod moves;
mod patterns;
mod place;
mod refactor;
pub mod rename;
mod sections;
mod selection;
#[cfg(test)]
mod tests;
mod tokens;
mod written;

pub use arguments::{Argument, argument};
pub use beside::complete_paths;
pub use complete::{Completion, Item, Kind, Written, complete, documentation};
pub use convert::{Conversion, conversion};
pub use format::format;
pub use hints::{Hint, hints};
pub use hover::{Hover, hover};
pub use lens::{Lens, Target, lenses};
pub use refactor::{RefactorKind, Refactoring, refactorings};
pub use selection::selection;
pub use tokens::{Token, TokenKind, tokens};
