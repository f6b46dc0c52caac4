//! [`CursorContext`]: the syntactic context of a cursor position.

use skills_syntax::text::Span;

/// The syntactic context of a cursor position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CursorContext<'a> {
    /// The file is empty or blank.
    Empty,
    /// On a frontmatter key, or where a key may be written.
    Key {
        /// The parent keys, outermost first.
        path: Vec<&'a str>,
        /// The key typed so far.
        word: Span,
        /// True if completion must not add a colon: a colon follows, or the key is quoted.
        has_colon: bool,
        /// True inside a flow mapping, `{…}`.
        in_flow: bool,
    },
    /// In a frontmatter value, or where a value may be written.
    Value {
        /// The keys of the value, outermost first; the last one is its own key.
        path: Vec<&'a str>,
        /// The list item under the cursor, or the whole value.
        word: Span,
        /// The YAML context of inserted text.
        style: InsertStyle,
        /// True if the value consists of the word only.
        is_alone: bool,
    },
    /// On a variable of the body.
    Variable {
        /// The variable, including `$` and braces.
        word: Span,
    },
    /// Anywhere else.
    Other,
}

/// The YAML context of a position in a value; decides how inserted text is quoted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InsertStyle {
    /// As the start of a value or of a flow list item.
    Start {
        /// True inside brackets or braces.
        in_flow: bool,
    },
    /// As the continuation of an unquoted value.
    Continuation {
        /// True inside brackets or braces.
        in_flow: bool,
    },
    /// Literally, up to this closing quote.
    Quoted(char),
    /// Literally, as text of a block scalar.
    Block,
    /// Not as part of the value: the position is past its end, or on a block header.
    Outside,
}
