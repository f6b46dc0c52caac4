//! What helps somebody who writes a SKILL.md: completion, hover, selection, what stands out, what is
//! shown beside the letters, formatting and refactoring.
//!
//! Pure: a text, a place in it and what is known of its directory go in, items come out. Everything
//! that is offered and explained stands in the field table ([`skills_agents::field_table`]); nothing is spelled
//! here a second time. What the text means is worked out line by line, because a text that is
//! being typed is seldom YAML.

mod anchors;
mod arguments;
mod complete;
mod complete_paths;
mod convert;
mod cursor_context;
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
mod quote_value;
mod refactor;
pub mod rename;
mod sections;
mod selection;
#[cfg(test)]
mod tests;
mod tokens;

pub use arguments::{Argument, argument};
pub use complete::{Completion, FileKind, Suggestion, SuggestionKind, complete, documentation};
pub use complete_paths::complete_paths;
pub use convert::{Conversion, conversion};
pub use format::format;
pub use hints::{Hint, hints};
pub use hover::{Hover, hover};
pub use lens::{Lens, LensTarget, lenses};
pub use refactor::{RefactorKind, Refactoring, refactorings};
pub use selection::selection;
pub use tokens::{Token, TokenKind, tokens};
