//! Positions in a SKILL.md, and diagnostics.
//!
//! Lines and columns are for users: from 1, columns in characters (Unicode scalar values). Offsets
//! are for programs: bytes from the start of the file, from 0.

use serde::{Deserialize, Serialize};

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Line number, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Byte offset, from 0.
    pub offset: u64,
}

/// A range of a file; `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Start of the range.
    pub start: Position,
    /// End of the range, exclusive.
    pub end: Position,
}

/// Positions of a frontmatter field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldRanges {
    /// Range of the key.
    pub key: Range,
    /// Range of the value; empty and directly after the key if none.
    pub value: Range,
}

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// An agent drops the skill or a part of it.
    Error,
    /// An agent probably reads it differently than intended.
    Warning,
    /// Information.
    Info,
    /// Suggested improvement.
    Hint,
}

/// A finding about a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable name of the rule.
    pub code: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Description for users, one sentence.
    pub message: String,
    /// Suggested action; null if the message is enough.
    pub help: Option<String>,
    /// Range in the file; null if it concerns the whole file.
    pub range: Option<Range>,
}
