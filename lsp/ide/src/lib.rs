//! Editor features for SKILL.md and command files: completion, hover, selection ranges, semantic
//! tokens, inlay hints, code lenses, formatting, refactoring and rename.
//!
//! All functions are pure: they take a text, an offset and an
//! [`FsContext`](skills_lint::FsContext), and return values without LSP types. Fields, tools,
//! events and variables come from the field table ([`skills_agents::field_table`]); none is
//! repeated here. The text under the cursor is analysed line by line, because a text that is being
//! typed is rarely valid YAML.

mod anchors;
mod arguments;
mod complete;
mod complete_paths;
mod config_files;
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
pub mod markup;
pub mod mention;
pub mod moves;
mod patterns;
mod quote_value;
mod refactor;
mod refactoring;
pub mod rename;
mod sections;
mod selection;
mod suggestion;
#[cfg(test)]
mod tests;
mod tokens;

pub use arguments::{Argument, argument, argument_name_obstacle};
pub use complete::{Completion, FileKind, can_name_tool, complete, documentation};
pub use complete_paths::complete_paths;
pub use config_files::{
    ConfigChanges, OldNames, config_changes, config_files, config_project, is_plugin_directory,
    manifest_changes, manifests,
};
pub use convert::{Conversion, convert_command};
pub use format::format;
pub use hints::{Hint, hints};
pub use hover::{Hover, hover};
pub use lens::{Lens, LensTarget, lenses};
pub use refactor::refactorings;
pub use refactoring::{Change, RefactorKind, Refactoring};
pub use sections::{Section, sections};
pub use selection::selection_ranges;
pub use suggestion::{Suggestion, SuggestionKind};
pub use tokens::{Token, TokenKind, tokens};
