//! Reasons why a pattern can never match.

use thiserror::Error;

use super::limits::{LONGEST, MAX_EXPANSIONS, MOST_OF_SKILL};

/// Reason why a pattern can never match.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PatternError {
    #[error("begins with `#`, which makes it a comment")]
    Comment,
    /// Has no text besides slashes and `!`.
    #[error("is empty")]
    Empty,
    #[error("ends with a backslash, which escapes nothing")]
    Backslash,
    #[error("has a `[` that is empty or not closed before the next slash")]
    Bracket,
    #[error("escapes a `?`, which then matches nothing")]
    QuestionMark,
    #[error("has braces that expand to more than {MAX_EXPANSIONS} patterns")]
    Braces,
    /// Has this many bytes.
    #[error("has {0} bytes; the limit is {LONGEST}")]
    Long(usize),
    #[error("follows patterns that together expand to more than {MOST_OF_SKILL}")]
    Many,
    #[error("has a component that is empty, `.` or `..`, which no path has")]
    Dots,
}
