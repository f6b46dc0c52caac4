//! The spanned tree of a frontmatter: what was written, and where.
//!
//! Nothing is interpreted here. A scalar is its text (folded and unescaped, never turned into a
//! number, a boolean or a date), duplicate keys are all kept, aliases are not expanded. What a
//! value means for a field is decided by whoever reads the field.

use crate::text::Span;

/// One `key: value` of a mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value; [`ValueKind::Null`] with an empty span when nothing is written.
    pub value: Value,
    /// From the start of the key to the end of the value.
    pub span: Span,
    /// The index of the first entry of the same mapping with the same key, when there is one.
    pub duplicate_of: Option<usize>,
    /// Whether YAML refused the value, or a part of it, and it was read as text instead.
    pub recovered: bool,
}

/// The key of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// Where it is written, with its quotes.
    pub span: Span,
    /// Its text; the source text of a key that is a list, a mapping or an alias.
    pub text: String,
    /// How it is written.
    pub style: ScalarStyle,
}

/// A value and where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The whole of the value: quotes, brackets, the header of a block and a tag that is read as
    /// text are in it; the line end after it, an anchor and a core tag such as `!!str` are not.
    pub span: Span,
    /// What it is.
    pub kind: ValueKind,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Nothing, `~` or `null`.
    Null,
    /// A text.
    Scalar {
        /// How it is written.
        style: ScalarStyle,
        /// The text: lines folded, escapes replaced, the final line break of a block kept.
        text: String,
    },
    /// A list.
    Sequence {
        /// Whether it is written in brackets.
        flow: bool,
        /// The items, in order.
        items: Vec<Value>,
    },
    /// A mapping.
    Mapping {
        /// Whether it is written in braces.
        flow: bool,
        /// The entries, in order, duplicates among them.
        entries: Vec<Entry>,
    },
    /// A reference `*name` to an anchor.
    Alias {
        /// The [`Anchor::span`] it refers to; nothing when a mapping key's alias was lost.
        target: Option<Span>,
    },
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`.
    SingleQuoted,
    /// `"…"`.
    DoubleQuoted,
    /// A block after `|`.
    Literal,
    /// A block after `>`.
    Folded,
}

/// An anchor `&name`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The name without its `&`.
    pub name: String,
    /// Where `&name` is written.
    pub span: Span,
    /// The value it names.
    pub value: Span,
}

impl Value {
    /// Creates a null that is written nowhere.
    pub(super) fn null(at: usize) -> Self {
        Self { span: Span::empty(at), kind: ValueKind::Null }
    }

    /// Creates a plain text.
    pub(super) fn plain(span: Span, text: String) -> Self {
        Self { span, kind: ValueKind::Scalar { style: ScalarStyle::Plain, text } }
    }

    /// Returns the text of a scalar.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            ValueKind::Scalar { text, .. } => Some(text),
            ValueKind::Null
            | ValueKind::Sequence { .. }
            | ValueKind::Mapping { .. }
            | ValueKind::Alias { .. } => None,
        }
    }

    /// Returns the items of a list.
    pub fn items(&self) -> Option<&[Value]> {
        match &self.kind {
            ValueKind::Sequence { items, .. } => Some(items),
            ValueKind::Null
            | ValueKind::Scalar { .. }
            | ValueKind::Mapping { .. }
            | ValueKind::Alias { .. } => None,
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            ValueKind::Mapping { entries, .. } => Some(entries),
            ValueKind::Null
            | ValueKind::Scalar { .. }
            | ValueKind::Sequence { .. }
            | ValueKind::Alias { .. } => None,
        }
    }

    /// Returns whether nothing, `~` or `null` is written.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, ValueKind::Null)
    }

    /// Returns what a person would call the text of the value: that of a scalar, and the source
    /// of a list or mapping in brackets, since `argument-hint: [x]` means its own spelling.
    pub fn text_or_source<'a>(&'a self, source: &'a str) -> Option<&'a str> {
        match &self.kind {
            ValueKind::Scalar { text, .. } => Some(text),
            ValueKind::Sequence { flow: true, .. } | ValueKind::Mapping { flow: true, .. } => {
                Some(self.span.slice(source))
            }
            ValueKind::Null
            | ValueKind::Sequence { flow: false, .. }
            | ValueKind::Mapping { flow: false, .. }
            | ValueKind::Alias { .. } => None,
        }
    }
}

/// Returns the value that an entry named `key` has: of several the last.
///
/// PyYAML and the YAML readers that accept duplicates agree on the last one; the others refuse
/// the file, and the diagnostic says so.
pub fn find<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().rev().find(|entry| entry.key.text == key)
}
