//! Reasons why a pattern can never match.

use std::fmt;

use super::limits::{LONGEST, MAX_EXPANSIONS, MOST_OF_SKILL};

/// Reason why a pattern can never match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// Begins with `#`, so it is a comment.
    Comment,
    /// Has no text besides slashes and `!`.
    Empty,
    /// Ends with a backslash.
    Backslash,
    /// Has a `[` that is empty or not closed before the next slash.
    Bracket,
    /// Has an escaped `?`.
    QuestionMark,
    /// Has braces that expand to more patterns than the limit.
    Braces,
    /// Has this many bytes, more than the limit.
    Long(usize),
    /// The skill's patterns together expand to more than the limit.
    Many,
    /// Has an empty, `.` or `..` component, which no path has.
    Dots,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comment => f.write_str("begins with `#`, which makes it a comment"),
            Self::Empty => f.write_str("is empty"),
            Self::Backslash => f.write_str("ends with a backslash, which escapes nothing"),
            Self::Bracket => {
                f.write_str("has a `[` that is empty or not closed before the next slash")
            }
            Self::QuestionMark => f.write_str("escapes a `?`, which then matches nothing"),
            Self::Braces => {
                write!(f, "has braces that expand to more than {MAX_EXPANSIONS} patterns")
            }
            Self::Long(length) => {
                write!(f, "has {length} bytes; the limit is {LONGEST}")
            }
            Self::Many => {
                write!(f, "follows patterns that together expand to more than {MOST_OF_SKILL}")
            }
            Self::Dots => {
                f.write_str("has a component that is empty, `.` or `..`, which no path has")
            }
        }
    }
}

impl std::error::Error for PatternError {}
