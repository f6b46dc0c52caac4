//! Builds the tree from parser events, with an explicit stack, so that no input can exhaust the
//! thread's stack.
//!
//! Nothing is repaired here except one case: an alias without an anchor becomes text and is
//! recorded, because it is usually a glob such as `**/*.rs`.

use std::borrow::Cow;

use crate::parse::annotations::Annotations;
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::piece::{ParentKind, Piece};
use crate::parse::tree::{Anchor, Entry, Key, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// Maximum nesting depth of lists and mappings.
///
/// Real frontmatters have at most seven levels. The bound keeps recursive walks over the tree, and
/// its drop, within a thread's stack.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of anchors of other pieces compared with an alias.
const MAX_ANCHORS_SEARCHED: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collection {
    Sequence { flow: bool },
    Mapping { flow: bool },
}

/// A scalar event of the YAML library.
pub(super) struct Scalar<'e> {
    pub(super) text: Cow<'e, str>,
    pub(super) style: ScalarStyle,
    pub(super) span: Span,
    /// Its tag, except core tags such as `!!str`.
    pub(super) tag: Option<Span>,
}

/// Builds the tree of one piece.
pub(super) struct Builder<'t, 'n> {
    piece: Piece<'t>,
    /// Everything before this offset has been read.
    cursor: usize,
    frames: Vec<Frame>,
    root: Option<Value>,
    documents: usize,
    /// The library's ids of this piece's anchors, ascending, with their index in the annotations.
    ids: Vec<(usize, usize)>,
    notes: &'n mut Annotations,
}

/// An incomplete list or mapping.
struct Frame {
    kind: FrameKind,
    flow: bool,
    start: usize,
    /// The end of the last complete item.
    end: usize,
    /// Index of its anchor in [`Annotations::anchors`].
    anchor: Option<usize>,
    /// True if an alias in the current entry became text.
    has_recovered_alias: bool,
}

enum FrameKind {
    Sequence(Vec<Value>),
    Mapping { entries: Vec<Entry>, key: Option<Key> },
}

impl<'t, 'n> Builder<'t, 'n> {
    pub(super) fn new(piece: Piece<'t>, notes: &'n mut Annotations) -> Self {
        let cursor = piece.start();
        Self { piece, cursor, frames: Vec::new(), root: None, documents: 0, ids: Vec::new(), notes }
    }

    /// Returns the value, if there is one.
    pub(super) fn finish(self) -> Option<Value> {
        self.root
    }

    /// Starts a document; a second one is an error.
    pub(super) fn document(&mut self, span: Span) -> Result<(), YamlError> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(YamlError::new(YamlErrorKind::SecondDocument, span));
        }
        Ok(())
    }

    pub(super) fn comment(&mut self, span: Span) {
        self.notes.comments.push(span);
    }

    /// Opens a list or mapping.
    pub(super) fn open(&mut self, collection: Collection, span: Span) -> Result<(), YamlError> {
        let (Collection::Sequence { flow } | Collection::Mapping { flow }) = collection;
        if self.frames.len() >= MAX_DEPTH {
            let span = self.piece.visible(span.start);
            return Err(YamlError::new(YamlErrorKind::TooDeep, span));
        }
        // The library starts a block list at its first item, after the dash.
        let start = match collection {
            Collection::Sequence { flow: false } => self.next_token(),
            Collection::Sequence { .. } | Collection::Mapping { .. } => span.start,
        };
        let kind = match collection {
            Collection::Sequence { .. } => FrameKind::Sequence(Vec::new()),
            Collection::Mapping { .. } => FrameKind::Mapping { entries: Vec::new(), key: None },
        };
        self.cursor = if flow { span.end } else { start };
        self.frames.push(Frame {
            kind,
            flow,
            start,
            end: start,
            anchor: None,
            has_recovered_alias: false,
        });
        Ok(())
    }

    /// Closes the innermost list or mapping.
    pub(super) fn close(&mut self, span: Span) {
        let Some(frame) = self.frames.pop() else { return };
        let flow = frame.flow;
        // A block collection, and a bare pair in a flow list, have no closing bracket.
        let end = if flow && !span.is_empty() { span.end } else { frame.end };
        self.cursor = self.cursor.max(end);
        let span = Span::new(frame.start, end);
        if let Some(anchor) = frame.anchor {
            self.notes.anchors[anchor].value = span;
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.has_recovered_alias |= frame.has_recovered_alias;
        }
        let kind = match frame.kind {
            FrameKind::Sequence(items) => ValueKind::Sequence { flow, items },
            FrameKind::Mapping { entries, .. } => ValueKind::Mapping { flow, entries },
        };
        self.value(Value { span, kind });
    }

    /// Adds a complete value to its parent.
    fn value(&mut self, value: Value) {
        self.cursor = self.cursor.max(value.span.end);
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(value);
            return;
        };
        frame.end = frame.end.max(value.span.end);
        match &mut frame.kind {
            FrameKind::Sequence(items) => items.push(value),
            FrameKind::Mapping { entries, key } => match key.take() {
                None => *key = Some(into_key(value, self.piece)),
                Some(key) => {
                    let span = Span::new(key.span.start, value.span.end.max(key.span.end));
                    let recovered = std::mem::take(&mut frame.has_recovered_alias);
                    entries.push(Entry { key, value, span, duplicate_of: None, recovered });
                }
            },
        }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar<'_>) {
        let Scalar { text, style, mut span, tag } = scalar;
        let value = match style {
            ScalarStyle::Plain if tag.is_some() => self.tagged(&text, tag.unwrap_or(span), span),
            ScalarStyle::Plain if span.is_empty() => {
                Value::null(self.piece.null_offset(self.cursor, self.parent_kind(), span.start))
            }
            ScalarStyle::Plain if is_null(&text) => Value { span, kind: ValueKind::Null },
            ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                Value { span, kind: ValueKind::Scalar { style, text: text.into_owned() } }
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                // The library's span omits the header and includes trailing blank lines.
                let start = self.next_token();
                let written = self.piece.slice(Span::new(start, span.end));
                let written = written.trim_end_matches([' ', '\t', '\n', '\r']);
                span = Span::new(start, start + written.len());
                Value { span, kind: ValueKind::Scalar { style, text: text.into_owned() } }
            }
        };
        self.value(value);
    }

    /// Reads a plain value with a custom tag, such as `!important use this`, as text.
    fn tagged(&self, text: &str, tag: Span, span: Span) -> Value {
        let mut whole = self.piece.slice(tag).to_owned();
        if span.is_empty() {
            return Value::plain(tag, whole);
        }
        whole.push(' ');
        whole.push_str(text);
        Value::plain(Span::new(tag.start, span.end), whole)
    }

    /// Attaches an anchor to the node added or opened last.
    pub(super) fn anchor(&mut self, id: usize, name: &str, span: Span) {
        let index = self.notes.anchors.len();
        let mut value = Span::empty(span.end);
        // A list or mapping has just been opened and is empty; a scalar is complete.
        match self.frames.last_mut() {
            Some(frame) if frame.is_fresh() => frame.anchor = Some(index),
            Some(frame) => value = frame.latest().unwrap_or(value),
            None => value = self.root.as_ref().map_or(value, |root| root.span),
        }
        self.notes.anchors.push(Anchor { name: name.to_owned(), span, value });
        self.ids.push((id, index));
    }

    /// Adds an alias of the anchor with the library's `id`.
    pub(super) fn alias(&mut self, id: usize, span: Span) {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok();
        let target = at.map(|at| self.ids[at].1);
        if target.is_some() && self.frames.iter().any(|frame| frame.anchor == target) {
            self.notes.recursive_aliases.push(span);
        }
        let target = target.map(|index| self.notes.anchors[index].span);
        self.notes.aliases.push(span);
        self.value(Value { span, kind: ValueKind::Alias { target } });
    }

    /// Adds an alias without an anchor in this piece: resolves it in other pieces, or reads it as
    /// text.
    pub(super) fn unresolved_alias(&mut self, name: &str, span: Span) {
        let mut known = self.notes.anchors.iter().rev().take(MAX_ANCHORS_SEARCHED);
        if let Some(anchor) = known.find(|anchor| anchor.name == name) {
            let target = Some(anchor.span);
            self.notes.aliases.push(span);
            self.value(Value { span, kind: ValueKind::Alias { target } });
            return;
        }
        self.notes.unknown_aliases.push(span);
        if let Some(frame) = self.frames.last_mut() {
            frame.has_recovered_alias = true;
        }
        self.value(Value::plain(span, self.piece.slice(span).to_owned()));
    }

    /// Moves an error to the token that causes it, which may precede the reported offset.
    pub(super) fn error(&self, kind: YamlErrorKind, offset: usize) -> YamlError {
        use YamlErrorKind as Kind;
        let piece = self.piece;
        let line_ends = |from: usize| piece.slice(Span::new(from, offset)).contains(['\n', '\r']);
        let after_bracket =
            piece.slice(Span::new(piece.start(), self.cursor)).ends_with([']', '}']);
        let flow = self.frames.last().filter(|frame| frame.flow).map(|frame| frame.start);
        match (kind, flow) {
            (Kind::UnquotedColon | Kind::BracketItem, Some(start)) if line_ends(start) => {
                let open = piece.visible(start);
                let bracket = piece.slice(open).chars().next().unwrap_or('[');
                YamlError::new(Kind::UnclosedBracket(bracket), open)
            }
            (Kind::Indentation, None) if after_bracket && !line_ends(self.cursor) => {
                YamlError::new(Kind::TextAfterBracket, piece.rest_of_line(offset))
            }
            (Kind::TextAfterQuote | Kind::BlockHeader | Kind::MissingColon, _) => {
                YamlError::new(kind, piece.rest_of_line(offset))
            }
            (Kind::ControlCharacter(found), _) => {
                let found = piece.find(offset, found);
                YamlError::new(kind, found.unwrap_or_else(|| piece.visible(offset)))
            }
            (Kind::TabIndentation, _) => {
                YamlError::new(kind, piece.tab(offset).unwrap_or_else(|| piece.visible(offset)))
            }
            _ => YamlError::new(kind, piece.visible(offset)),
        }
    }

    /// Advances to the next token and returns its start.
    fn next_token(&mut self) -> usize {
        self.cursor = self.piece.next_token(self.cursor, self.parent_kind());
        self.cursor
    }

    fn parent_kind(&self) -> ParentKind {
        match self.frames.last() {
            Some(Frame { flow: false, kind: FrameKind::Sequence(_), .. }) => {
                ParentKind::InBlockList
            }
            Some(_) | None => ParentKind::Other,
        }
    }
}

impl Frame {
    fn is_fresh(&self) -> bool {
        match &self.kind {
            FrameKind::Sequence(items) => items.is_empty() && self.anchor.is_none(),
            FrameKind::Mapping { entries, key } => {
                entries.is_empty() && key.is_none() && self.anchor.is_none()
            }
        }
    }

    /// Returns the span of the last value.
    fn latest(&self) -> Option<Span> {
        match &self.kind {
            FrameKind::Sequence(items) => items.last().map(|item| item.span),
            FrameKind::Mapping { key: Some(key), .. } => Some(key.span),
            FrameKind::Mapping { entries, key: None } => entries.last().map(|it| it.value.span),
        }
    }
}

fn into_key(value: Value, piece: Piece<'_>) -> Key {
    let span = value.span;
    match value.kind {
        ValueKind::Scalar { style, text } => Key { span, text, style },
        ValueKind::Null
        | ValueKind::Sequence { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Alias { .. } => {
            Key { span, text: piece.slice(span).to_owned(), style: ScalarStyle::Plain }
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
