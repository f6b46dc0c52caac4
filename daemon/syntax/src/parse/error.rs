//! YAML syntax errors, independent of the YAML library.
//!
//! Kinds are distinguished by their remedy, not by the library's error codes, so that the library
//! can be replaced.

use std::fmt;

use crate::text::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlError {
    pub kind: YamlErrorKind,
    /// The message: a lower-case fragment without a full stop.
    pub message: String,
    /// The character or token, on one line.
    pub span: Span,
}

impl YamlError {
    /// Creates an error with the message of its kind.
    pub(super) fn new(kind: YamlErrorKind, span: Span) -> Self {
        Self { kind, message: kind.to_string(), span }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YamlErrorKind {
    /// `: ` inside an unquoted value.
    UnquotedColon,
    /// A character that cannot start an unquoted value, such as `@`.
    ReservedStart(char),
    ControlCharacter(char),
    /// `*name` without an anchor `&name` before it.
    UnknownAlias,
    /// `*` or `&` without a name.
    MissingAnchorName,
    /// `!tag` that is malformed or not declared.
    BadTag,
    /// A quote that is never closed.
    UnclosedQuote,
    /// A value that continues on an unindented line.
    UnindentedContinuation,
    TextAfterQuote,
    TextAfterBracket,
    /// An unknown backslash escape.
    BadEscape,
    /// A bracket that is never closed.
    UnclosedBracket(char),
    /// A closing bracket without an opening one, or of another kind.
    StrayBracket,
    /// Text other than `,` or the closing bracket after a flow item.
    BracketItem,
    /// A tab where only spaces may indent.
    TabIndentation,
    /// Text after `|` or `>`.
    BlockHeader,
    /// `- ` on the same line as the key.
    DashOnKeyLine,
    /// A line without a `: `.
    MissingColon,
    /// Indentation that matches no earlier line.
    Indentation,
    /// A comment inside a multi-line value.
    CommentInside,
    /// Nesting over the depth limit.
    TooDeep,
    /// A `%` line.
    Directive,
    SecondDocument,
    /// A byte order mark inside the text.
    ByteOrderMark,
    /// Anything else.
    Other,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

impl fmt::Display for YamlErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::UnquotedColon => "`: ` inside an unquoted value",
            Self::ReservedStart('`') => "an unquoted value cannot start with a backtick",
            Self::ReservedStart(found) => {
                return write!(f, "an unquoted value cannot start with `{found}`");
            }
            Self::ControlCharacter(found) => {
                return write!(f, "control character U+{:04X}", u32::from(*found));
            }
            Self::UnknownAlias => "`*` refers to an anchor that no `&` defines",
            Self::MissingAnchorName => "`*` or `&` without a name",
            Self::BadTag => "malformed `!` tag",
            Self::UnclosedQuote => "the quote is never closed",
            Self::UnindentedContinuation => "the value continues on an unindented line",
            Self::TextAfterQuote => "text after the closing quote",
            Self::TextAfterBracket => "text after the closing bracket",
            Self::BadEscape => "unknown escape after `\\` in double quotes",
            Self::UnclosedBracket(open) => return write!(f, "`{open}` is never closed"),
            Self::StrayBracket => "closing bracket without its opening one",
            Self::BracketItem => "expected `,` or the closing bracket",
            Self::TabIndentation => "a tab indents this line",
            Self::BlockHeader => "text after the block header `|` or `>`",
            Self::DashOnKeyLine => "`- ` on the same line as the key",
            Self::MissingColon => "no `: ` on this line",
            Self::Indentation => "the indentation matches no line above",
            Self::CommentInside => "a comment interrupts the value",
            Self::TooDeep => "nested too deep",
            Self::Directive => "a `%` directive",
            Self::SecondDocument => "a second YAML document",
            Self::ByteOrderMark => "a byte order mark inside the text",
            Self::Other => "malformed YAML",
        };
        f.write_str(message)
    }
}
