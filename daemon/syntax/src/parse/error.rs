//! Why YAML refuses a text, in words of our own.
//!
//! The kinds are what a person can do something about, not what the YAML library calls them:
//! another library could be put behind them.

use std::fmt;

use crate::text::Span;

/// Why and where YAML refuses a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlError {
    /// What is wrong.
    pub kind: YamlErrorKind,
    /// What is wrong, in words: a lower-case fragment without a full stop.
    pub message: String,
    /// Where: the character or the token, on one line.
    pub span: Span,
}

impl YamlError {
    /// Creates an error whose message is that of its kind.
    pub(super) fn new(kind: YamlErrorKind, span: Span) -> Self {
        Self { kind, message: kind.to_string(), span }
    }
}

/// What YAML finds wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YamlErrorKind {
    /// `: ` inside a value without quotes.
    UnquotedColon,
    /// A character that cannot start a value without quotes, such as `@`.
    ReservedStart(char),
    /// A character that may not occur at all.
    ControlCharacter(char),
    /// `*name` without an anchor `&name` before it.
    UnknownAlias,
    /// `*` or `&` without a name.
    MissingAnchorName,
    /// `!tag` that is malformed or not declared.
    BadTag,
    /// A quote that is never closed.
    UnclosedQuote,
    /// A value that goes on in a line that is not indented.
    UnindentedContinuation,
    /// Text after a closing quote.
    TextAfterQuote,
    /// Text after a closing bracket.
    TextAfterBracket,
    /// A backslash before something that is no escape.
    BadEscape,
    /// A bracket that is never closed.
    UnclosedBracket(char),
    /// A closing bracket without an opening one, or of the other kind.
    StrayBracket,
    /// Something other than `,` or the closing bracket after an item in brackets.
    BracketItem,
    /// A tab where only spaces may indent.
    TabIndentation,
    /// Text after `|` or `>`.
    BlockHeader,
    /// `- ` on the line of the key.
    DashOnKeyLine,
    /// A line without a `: `.
    MissingColon,
    /// Lines that are indented as none before.
    Indentation,
    /// A comment in the middle of a value of several lines.
    CommentInside,
    /// More levels than are read.
    TooDeep,
    /// A `%` line.
    Directive,
    /// A second document.
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
            Self::UnquotedColon => "`: ` inside a value without quotes",
            Self::ReservedStart('`') => "a value without quotes cannot start with a backtick",
            Self::ReservedStart(found) => {
                return write!(f, "a value without quotes cannot start with `{found}`");
            }
            Self::ControlCharacter(found) => {
                return write!(f, "control character U+{:04X}", u32::from(*found));
            }
            Self::UnknownAlias => "`*` refers to a name that no `&` defines",
            Self::MissingAnchorName => "`*` or `&` without a name",
            Self::BadTag => "malformed `!` tag",
            Self::UnclosedQuote => "the quote is never closed",
            Self::UnindentedContinuation => "the value goes on in a line that is not indented",
            Self::TextAfterQuote => "text after the closing quote",
            Self::TextAfterBracket => "text after the closing bracket",
            Self::BadEscape => "unknown escape after `\\` in double quotes",
            Self::UnclosedBracket(open) => return write!(f, "`{open}` is never closed"),
            Self::StrayBracket => "closing bracket without its opening one",
            Self::BracketItem => "expected `,` or the closing bracket",
            Self::TabIndentation => "a tab indents this line",
            Self::BlockHeader => "text on the line of the block's `|` or `>`",
            Self::DashOnKeyLine => "`- ` on the line of the key",
            Self::MissingColon => "no `: ` on this line",
            Self::Indentation => "the indentation fits no line above",
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
