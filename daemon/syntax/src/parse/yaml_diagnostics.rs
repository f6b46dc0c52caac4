//! Constructors of YAML diagnostics: codes, messages and help.
//!
//! One function per diagnostic keeps the wording in one place. Messages do not name agents; callers
//! add the affected agents.

use crate::diagnostic::{Diagnostic, ProblemCode, Severity};
use crate::parse::error::{YamlError, YamlErrorKind as Kind};
use crate::text::Span;

const QUOTE_IT: &str = "Put the whole value in quotes.";

/// A syntax error in a piece.
pub(super) fn syntax_error(error: &YamlError) -> Diagnostic {
    let (code, help) = match error.kind {
        Kind::UnquotedColon => (ProblemCode::UnquotedColon, QUOTE_IT),
        Kind::ReservedStart(_) | Kind::UnknownAlias | Kind::MissingAnchorName | Kind::BadTag => {
            (ProblemCode::UnquotedStart, QUOTE_IT)
        }
        Kind::DashOnKeyLine => (
            ProblemCode::UnquotedStart,
            "Put the value in quotes, or start the list on the next line.",
        ),
        Kind::ControlCharacter(_) => (ProblemCode::ControlCharacter, "Remove the character."),
        Kind::UnclosedQuote => (ProblemCode::Syntax, "Close the quote at the end of the value."),
        Kind::UnindentedContinuation => {
            (ProblemCode::UnindentedContinuation, "Indent every line of the value after its first.")
        }
        Kind::TextAfterQuote => (
            ProblemCode::Syntax,
            "Quote the whole value, and write the quotes inside it as `\\\"`.",
        ),
        Kind::BadEscape => {
            (ProblemCode::Syntax, "Write a backslash as `\\\\`, or use single quotes.")
        }
        Kind::UnclosedBracket(_) => {
            (ProblemCode::Syntax, "Close the bracket, or put the whole value in quotes.")
        }
        Kind::TextAfterBracket => (ProblemCode::UnquotedStart, QUOTE_IT),
        Kind::StrayBracket | Kind::BracketItem => (
            ProblemCode::Syntax,
            "Quote the items that are not single words, or quote the whole value.",
        ),
        Kind::TabIndentation => (ProblemCode::TabIndentation, "Indent with spaces."),
        Kind::BlockHeader => (
            ProblemCode::Syntax,
            "Move the text to the next line and indent it, or drop the `|` or `>`.",
        ),
        Kind::MissingColon => (
            ProblemCode::Syntax,
            "Write `key: value`, or indent the line to continue the value above.",
        ),
        Kind::Indentation => (ProblemCode::Syntax, "Indent the line like the lines around it."),
        Kind::CommentInside => {
            (ProblemCode::Syntax, "Move the comment above the key, or quote the value.")
        }
        Kind::TooDeep => (ProblemCode::TooDeep, "Nest fewer lists and mappings."),
        Kind::Directive => {
            (ProblemCode::Syntax, "Remove the line: a frontmatter has no directives.")
        }
        Kind::SecondDocument => {
            (ProblemCode::Syntax, "Keep everything between one pair of `---` lines.")
        }
        Kind::ByteOrderMark => (ProblemCode::ControlCharacter, "Remove the invisible character."),
        Kind::Other => (ProblemCode::Syntax, "Put the value in quotes, or correct the line."),
    };
    Diagnostic::error(code, error.span, error.message.clone()).with_help(help)
}

/// An indicator such as `[` or `{` at the start of intended text.
pub(super) fn unquoted_start(span: Span, found: &str) -> Diagnostic {
    let message = match found {
        "[" | "{" => format!("`{found}` starts a list or mapping, but text follows its end"),
        "*" => "`*` starts an alias here, not text".to_owned(),
        "&" => "`&` starts an anchor here, not text".to_owned(),
        "!" => "`!` starts a tag here, not text".to_owned(),
        "`" => Kind::ReservedStart('`').to_string(),
        _ => format!("an unquoted value cannot start with `{found}`"),
    };
    Diagnostic::error(ProblemCode::UnquotedStart, span, message).with_help(QUOTE_IT)
}

/// The same, accepted by YAML but read differently than intended.
pub(super) fn surprising_start(span: Span, found: &str) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..unquoted_start(span, found) }
}

/// Lines at the indentation of the keys without a key.
pub(super) fn stray(span: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::Syntax, span, "neither a key nor part of a value")
        .with_help("Write `key: value`, or indent the line to continue the value above.")
}

pub(super) fn missing_colon(span: Span, key: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::Syntax, span, format!("`{key}` has no colon")).with_help(
        format!("Write `{key}: ` and its value, or indent the line to continue the value above."),
    )
}

/// A key without a space after its colon.
pub(super) fn missing_blank(span: Span, key: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::Syntax, span, format!("no space after the colon of `{key}`"))
        .with_help("Put a space after the colon.")
}

/// Unindented lines that continue the plain value above.
pub(super) fn unindented(span: Span) -> Diagnostic {
    syntax_error(&YamlError::new(Kind::UnindentedContinuation, span))
}

/// The same inside quotes, which many YAML parsers accept.
pub(super) fn unindented_in_quotes(span: Span) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..unindented(span) }
}

/// A key indented deeper than those above.
pub(super) fn misplaced_key(span: Span, key: &str) -> Diagnostic {
    Diagnostic::error(
        ProblemCode::Syntax,
        span,
        format!("`{key}` is indented deeper than the keys above"),
    )
    .with_help("Indent all keys alike, or add the parent key on the line above.")
}

/// A first key that is indented deeper than the later ones.
pub(super) fn indented_first(key: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::Syntax, key, "this key is indented deeper than the keys below")
        .with_help("Start all keys in the first column.")
}

pub(super) fn not_a_mapping(span: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::NotAMapping, span, "the frontmatter holds no `key: value` lines")
        .with_help("Write lines of `name: …` and `description: …`.")
}

pub(super) fn duplicate_key(span: Span, key: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::DuplicateKey, span, format!("`{key}` is a duplicate key"))
        .with_help("Keep one of them; readers that accept both use the last.")
}

/// A comment that cuts off the intended value.
pub(super) fn comment_cuts_value(span: Span) -> Diagnostic {
    Diagnostic::warning(
        ProblemCode::CommentCutsValue,
        span,
        "` #` starts a comment and ends the value",
    )
    .with_help("Put the whole value in quotes, or the comment on a line of its own.")
}

/// Aliases whose expansion exceeds the size limit.
pub(super) fn aliases_too_large(span: Span) -> Diagnostic {
    Diagnostic::error(ProblemCode::TooDeep, span, "the expanded aliases exceed the size limit")
        .with_help("Write the values out, or anchor shorter values.")
}

/// An alias inside the value it refers to.
pub(super) fn recursive_alias(span: Span) -> Diagnostic {
    Diagnostic::error(
        ProblemCode::RecursiveAlias,
        span,
        "the alias refers to a value that contains it",
    )
    .with_help("Write the value out.")
}

/// The end of the reported findings.
pub(super) fn too_many(span: Span, more: usize) -> Diagnostic {
    Diagnostic::information(
        ProblemCode::TooMany,
        span,
        format!("{more} more findings are not shown"),
    )
}

/// A frontmatter over the size limit.
pub(super) fn too_large(span: Span, bytes: usize) -> Diagnostic {
    Diagnostic::error(
        ProblemCode::TooLarge,
        span,
        format!("the frontmatter is longer than {bytes} bytes"),
    )
    .with_help("Move long values into the body or into separate files.")
}
