//! Text of a configuration file: its syntax, its positions, and syntax errors.

use crate::text::{LineColumn, LineIndex};

/// The syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON as `JSON.parse` accepts it.
    Json,
    JsonWithComments,
    /// JSON with comments and trailing commas.
    JsonLoose,
    Toml,
    Yaml,
}

impl Syntax {
    /// The number of variants.
    pub const COUNT: usize = Self::Yaml as usize + 1;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error, as a sentence fragment.
    pub message: String,
    /// The position of the error.
    pub at: LineColumn,
}

/// Converts offsets of one text to positions.
pub(super) struct Locator<'a> {
    pub(super) text: &'a str,
    pub(super) lines: LineIndex,
}

impl Locator<'_> {
    pub(super) fn position(&self, offset: usize) -> LineColumn {
        let (line, column) = self.lines.display(self.text, offset);
        LineColumn { line, column }
    }

    pub(super) fn error(&self, offset: usize, message: String) -> SyntaxError {
        SyntaxError { message, at: self.position(offset) }
    }
}
