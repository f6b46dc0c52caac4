//! The spanned tree of a frontmatter ([`Entry`], [`Value`]).
//!
//! Nothing is interpreted: a scalar is its text (folded and unescaped, never converted to a number,
//! boolean or date), duplicate keys are kept, and aliases are not expanded. The reader of a field
//! decides the meaning of its value.

use crate::text::Span;

/// One `key: value` of a mapping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub key: Key,
    /// The value; [`ValueKind::Null`] with an empty span if omitted.
    pub value: Value,
    /// From the start of the key to the end of the value.
    pub span: Span,
    /// Index of the first entry with the same key in the same mapping, for duplicates.
    pub duplicate_of: Option<usize>,
    /// True if the value, or part of it, is invalid YAML and was read as text.
    pub recovered: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// Its span, including quotes.
    pub span: Span,
    /// Its text; for a key that is a list, mapping or alias, its source.
    pub text: String,
    pub style: ScalarStyle,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// The span of the value, including quotes, brackets, block header, and a tag read as text;
    /// excluding the line end, an anchor, and a core tag such as `!!str`.
    pub span: Span,
    pub kind: ValueKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// Nothing, `~` or `null`.
    Null,
    /// A text.
    Scalar {
        style: ScalarStyle,
        /// The text: lines folded, escapes replaced, the final line break of a block kept.
        text: String,
    },
    Sequence {
        /// True if written in brackets.
        flow: bool,
        /// The items, in order.
        items: Vec<Value>,
    },
    Mapping {
        /// True if written in braces.
        flow: bool,
        /// The entries in order, including duplicates.
        entries: Vec<Entry>,
    },
    /// A reference `*name` to an anchor.
    Alias {
        /// The [`Anchor::span`] it refers to; `None` if the alias of a mapping key was lost.
        target: Option<Span>,
    },
}

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
    /// Span of `&name`.
    pub span: Span,
    /// The value it refers to.
    pub value: Span,
}

impl Value {
    /// Creates an omitted value.
    pub(super) fn null(at: usize) -> Self {
        Self { span: Span::empty(at), kind: ValueKind::Null }
    }

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

    pub fn items(&self) -> Option<&[Value]> {
        match &self.kind {
            ValueKind::Sequence { items, .. } => Some(items),
            ValueKind::Null
            | ValueKind::Scalar { .. }
            | ValueKind::Mapping { .. }
            | ValueKind::Alias { .. } => None,
        }
    }

    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            ValueKind::Mapping { entries, .. } => Some(entries),
            ValueKind::Null
            | ValueKind::Scalar { .. }
            | ValueKind::Sequence { .. }
            | ValueKind::Alias { .. } => None,
        }
    }

    /// Returns whether the value is omitted, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, ValueKind::Null)
    }

    /// Returns the text of a scalar, or the source of a flow list or mapping, because authors write
    /// `argument-hint: [x]` literally.
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

/// Returns the entry of `key`; the last one of duplicates.
///
/// PyYAML and other parsers that accept duplicates use the last one. The others reject the file,
/// which the diagnostic says.
pub fn find<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().rev().find(|entry| entry.key.text == key)
}
