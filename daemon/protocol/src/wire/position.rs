//! Places in a SKILL.md, and the diagnostics that point to them.
//!
//! Lines and columns are for people: counted from 1, columns in characters (Unicode scalar values).
//! Offsets are for programs: bytes from the start of the file, counted from 0.

use serde::{Deserialize, Serialize};

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The byte offset, counted from 0.
    pub offset: u64,
}

/// A stretch of a file; `end` is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Its first place.
    pub start: Position,
    /// The place after its last.
    pub end: Position,
}

/// Where a field of the frontmatter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldRanges {
    /// The key.
    pub key: Range,
    /// The value; empty and right after the key when there is none.
    pub value: Range,
}

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// An agent drops the skill or a part of it.
    Error,
    /// An agent reads it otherwise than it was probably meant.
    Warning,
    /// Good to know.
    Info,
    /// An offer to improve.
    Hint,
}

/// A finding about a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The rule's stable name.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// What to do about it; null when the message says it all.
    pub help: Option<String>,
    /// Where it is; null when it concerns the whole file.
    pub range: Option<Range>,
}
