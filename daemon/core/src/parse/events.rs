//! YAML events into the spanned tree: the only file that knows the YAML library.
//!
//! It reads one piece of the text, strictly. Nothing is repaired here, with one exception: an
//! alias without an anchor becomes the text it is written as, and is noted, because a glob such
//! as `**/*.rs` is meant by it and the rest of the tree is sound. The work is a loop over events
//! with a stack of its own, so that no input can exhaust the thread's.

use std::borrow::Cow;

use granit_parser::{
    ErrorKind, Event, Options, Parser, ScalarStyle as Style, ScanError, Span as Mark,
    StructureStyle, Tag, options,
};

use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::line::is_blank;
use crate::parse::tree::{Anchor, Entry, Key, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// How many levels of lists and mappings are read.
///
/// Real frontmatters have at most seven. The bound keeps every later walk over the tree, its
/// drop among them, far from the end of a thread's stack.
pub const MAX_DEPTH: usize = 64;

/// How many of the anchors of other pieces an alias is compared with.
const MAX_ANCHORS_SEARCHED: usize = 256;

/// What the pieces of a frontmatter hold besides their values.
#[derive(Default, Debug)]
pub(super) struct Notes {
    pub(super) comments: Vec<Span>,
    pub(super) anchors: Vec<Anchor>,
    /// Aliases that were read as text.
    pub(super) unknown_aliases: Vec<Span>,
    /// Aliases that lie inside the value they refer to.
    pub(super) recursive_aliases: Vec<Span>,
}

/// A place in [`Notes`] to go back to.
#[derive(Clone, Copy, Debug)]
struct Savepoint([usize; 4]);

impl Notes {
    fn savepoint(&self) -> Savepoint {
        Savepoint([
            self.comments.len(),
            self.anchors.len(),
            self.unknown_aliases.len(),
            self.recursive_aliases.len(),
        ])
    }

    fn go_back(&mut self, Savepoint(lengths): Savepoint) {
        self.comments.truncate(lengths[0]);
        self.anchors.truncate(lengths[1]);
        self.unknown_aliases.truncate(lengths[2]);
        self.recursive_aliases.truncate(lengths[3]);
    }
}

/// Reads the piece of `text` at `span` as one YAML document; nothing when it is empty.
///
/// On an error `notes` is as it was before.
pub(super) fn read(text: &str, span: Span, notes: &mut Notes) -> Result<Option<Value>, YamlError> {
    let savepoint = notes.savepoint();
    let mut builder = Builder {
        text,
        piece: span,
        cursor: span.start,
        frames: Vec::new(),
        root: None,
        documents: 0,
        ids: Vec::new(),
        notes,
    };
    let mut outcome = Ok(());
    for event in Parser::new_from_str_with_options(span.slice(text), library_options()) {
        outcome = match event {
            Ok((event, mark)) => builder.event(event, &mark),
            Err(error) => Err(builder.error(&error)),
        };
        if outcome.is_err() {
            break;
        }
    }
    let root = builder.root;
    if let Err(error) = outcome {
        notes.go_back(savepoint);
        return Err(error);
    }
    Ok(root)
}

fn library_options() -> Options {
    options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
        // The size of the input bounds it already.
        max_buffered_comment_events: usize::MAX,
    }
}

/// A list or mapping that is not complete yet.
struct Frame {
    kind: FrameKind,
    flow: bool,
    start: usize,
    /// Where the last complete part ends.
    end: usize,
    /// The index in [`Notes::anchors`] of its anchor.
    anchor: Option<usize>,
    /// Whether an alias in the part that is being read became text.
    recovered: bool,
}

enum FrameKind {
    Sequence(Vec<Value>),
    Mapping { entries: Vec<Entry>, key: Option<Key> },
}

struct Builder<'t, 'n> {
    text: &'t str,
    piece: Span,
    /// Everything before it has been read.
    cursor: usize,
    frames: Vec<Frame>,
    root: Option<Value>,
    documents: usize,
    /// The library's ids of the anchors of this piece, ascending, with their index in the notes.
    ids: Vec<(usize, usize)>,
    notes: &'n mut Notes,
}

impl Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>, mark: &Mark) -> Result<(), YamlError> {
        let span = self.locate(mark);
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(YamlError::new(YamlErrorKind::SecondDocument, span));
                }
            }
            Event::Comment(..) => self.notes.comments.push(span),
            Event::Anchor(id, name) => self.anchor(id, &name, span),
            Event::Alias(id) => {
                let target = self.target(id);
                self.alias(span, target);
            }
            Event::UnresolvedAlias(name) => self.unresolved(span, &name),
            Event::Scalar(text, style, _, tag) => {
                let value = self.scalar(text, style, span, tag.as_deref(), mark);
                self.value(value);
            }
            Event::SequenceStart(style, ..) => {
                self.open(style, span, FrameKind::Sequence(Vec::new()))?;
            }
            Event::MappingStart(style, ..) => {
                self.open(style, span, FrameKind::Mapping { entries: Vec::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            // The library may grow events; they would be metadata as those above are.
            _ => {}
        }
        Ok(())
    }

    fn locate(&self, mark: &Mark) -> Span {
        let range = mark.byte_range().unwrap_or_default();
        Span::new(self.piece.start + range.start, self.piece.start + range.end)
    }

    fn open(
        &mut self,
        style: StructureStyle,
        span: Span,
        kind: FrameKind,
    ) -> Result<(), YamlError> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(YamlError::new(YamlErrorKind::TooDeep, self.at(span.start)));
        }
        let flow = style == StructureStyle::Flow;
        // The library puts the start of a block list at its first item, after the dash.
        let start = match kind {
            FrameKind::Sequence(_) if !flow => self.next_token(),
            FrameKind::Sequence(_) | FrameKind::Mapping { .. } => span.start,
        };
        self.cursor = if flow { span.end } else { start };
        self.frames.push(Frame { kind, flow, start, end: start, anchor: None, recovered: false });
        Ok(())
    }

    fn close(&mut self, span: Span) {
        let Some(frame) = self.frames.pop() else { return };
        let flow = frame.flow;
        let end = if flow { span.end } else { frame.end };
        self.cursor = self.cursor.max(end);
        let span = Span::new(frame.start, end);
        if let Some(anchor) = frame.anchor {
            self.notes.anchors[anchor].value = span;
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.recovered |= frame.recovered;
        }
        let kind = match frame.kind {
            FrameKind::Sequence(items) => ValueKind::Sequence { flow, items },
            FrameKind::Mapping { entries, .. } => ValueKind::Mapping { flow, entries },
        };
        self.value(Value { span, kind });
    }

    /// Puts a complete value where it belongs.
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
                None => *key = Some(into_key(value, self.text)),
                Some(key) => {
                    let span = Span::new(key.span.start, value.span.end.max(key.span.end));
                    let recovered = std::mem::take(&mut frame.recovered);
                    entries.push(Entry { key, value, span, duplicate_of: None, recovered });
                }
            },
        }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: Style,
        mut span: Span,
        tag: Option<&Tag>,
        mark: &Mark,
    ) -> Value {
        let style = match style {
            Style::Plain => ScalarStyle::Plain,
            Style::SingleQuoted => ScalarStyle::SingleQuoted,
            Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
            Style::Literal => ScalarStyle::Literal,
            Style::Folded => ScalarStyle::Folded,
        };
        if let Some(tag) =
            tag.filter(|tag| !tag.is_yaml_core_schema() && style == ScalarStyle::Plain)
            && let Some(written) = mark.tag_span().map(|tag| self.locate(&tag))
        {
            return self.tagged(&text, written, span, tag);
        }
        match style {
            ScalarStyle::Plain if span.is_empty() => {
                return Value::null(self.place_of_null(span.start));
            }
            ScalarStyle::Plain if is_null(&text) => return Value { span, kind: ValueKind::Null },
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let start = self.next_token();
                let trimmed = Span::new(start, span.end).slice(self.text).trim_end().len();
                span = Span::new(start, start + trimmed);
            }
            ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {}
        }
        Value { span, kind: ValueKind::Scalar { style, text: text.into_owned() } }
    }

    /// A plain value such as `!important use this`: nobody means a tag by it.
    fn tagged(&self, text: &str, written: Span, span: Span, tag: &Tag) -> Value {
        debug_assert!(!tag.is_yaml_core_schema());
        let mut whole = written.slice(self.text).to_owned();
        if span.is_empty() {
            return Value::plain(written, whole);
        }
        whole.push(' ');
        whole.push_str(text);
        Value::plain(Span::new(written.start, span.end), whole)
    }

    fn anchor(&mut self, id: usize, name: &str, span: Span) {
        let index = self.notes.anchors.len();
        let mut value = Span::empty(span.end);
        // A list or mapping was opened just before and has nothing in it; a scalar is complete.
        match self.frames.last_mut() {
            Some(frame) if frame.is_fresh() => frame.anchor = Some(index),
            Some(frame) => value = frame.latest().unwrap_or(value),
            None => value = self.root.as_ref().map_or(value, |root| root.span),
        }
        self.notes.anchors.push(Anchor { name: name.to_owned(), span, value });
        self.ids.push((id, index));
    }

    fn target(&self, id: usize) -> Option<usize> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.ids[at].1)
    }

    fn alias(&mut self, span: Span, target: Option<usize>) {
        if target.is_some() && self.frames.iter().any(|frame| frame.anchor == target) {
            self.notes.recursive_aliases.push(span);
        }
        let target = target.map(|index| self.notes.anchors[index].span);
        self.value(Value { span, kind: ValueKind::Alias { target } });
    }

    /// An alias whose anchor is not in this piece: perhaps in another one, else it is text.
    fn unresolved(&mut self, span: Span, name: &str) {
        let known = self.notes.anchors.iter().rev().take(MAX_ANCHORS_SEARCHED);
        if let Some(anchor) = known.into_iter().find(|anchor| anchor.name == name) {
            let target = Some(anchor.span);
            self.value(Value { span, kind: ValueKind::Alias { target } });
            return;
        }
        self.notes.unknown_aliases.push(span);
        if let Some(frame) = self.frames.last_mut() {
            frame.recovered = true;
        }
        self.value(Value::plain(span, span.slice(self.text).to_owned()));
    }

    /// Returns where the next token starts: past blanks, comments, a colon, an item's dash when
    /// the innermost collection is a list, and anchors and tags.
    fn next_token(&mut self) -> usize {
        let in_list = self.frames.last().is_some_and(Frame::is_block_list);
        let mut dash = in_list;
        let mut colon = !in_list;
        let bytes = &self.text.as_bytes()[..self.piece.end];
        let mut at = self.cursor;
        loop {
            at = self.after_trivia(at);
            let Some(&byte) = bytes.get(at) else { break };
            let blank_follows = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            match byte {
                b'-' if dash && blank_follows => (dash, at) = (false, at + 1),
                b':' | b'?' if colon && blank_follows => (colon, at) = (byte == b'?', at + 1),
                b'!' | b'&' => at = skip(bytes, at, |byte| !byte.is_ascii_whitespace()),
                _ => break,
            }
        }
        self.cursor = at;
        at
    }

    /// Returns the place of a value that is not written: after the colon or the dash, or after
    /// the anchor or tag that stands there.
    fn place_of_null(&self, end: usize) -> usize {
        let bytes = &self.text.as_bytes()[..self.piece.end];
        let in_list = self.frames.last().is_some_and(Frame::is_block_list);
        let mut at = self.cursor;
        if in_list {
            at = self.after_trivia(at);
        } else {
            at = skip(bytes, at, is_blank);
        }
        match bytes.get(at) {
            Some(b'-') if in_list => at += 1,
            Some(b':') if !in_list => at += 1,
            _ => at = self.cursor,
        }
        at + Span::new(at, end).slice(self.text).trim_end().len()
    }

    /// Returns the place after the blanks, line ends and comments at `at`.
    fn after_trivia(&self, mut at: usize) -> usize {
        let bytes = &self.text.as_bytes()[..self.piece.end];
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(b'#') => at = skip(bytes, at, |byte| byte != b'\n' && byte != b'\r'),
                _ => return at,
            }
        }
    }

    fn error(&self, error: &ScanError) -> YamlError {
        let offset = self.piece.start + error.marker().byte_offset().unwrap_or_default();
        let mut span = self.at(offset);
        let kind = kind_of(error.kind(), span.slice(self.text));
        if kind == YamlErrorKind::UnquotedColon {
            span = Span::new(span.start, span.end.min(span.start + 1));
        }
        YamlError::new(kind, span)
    }

    /// Returns the character at `offset`, or the last one before it that can be seen.
    fn at(&self, offset: usize) -> Span {
        let text = self.text;
        let offset = text.floor_char_boundary(offset.min(self.piece.end));
        let here = text[offset..self.piece.end].chars().next();
        if let Some(found) = here.filter(|it| !it.is_whitespace()) {
            return Span::new(offset, offset + found.len_utf8());
        }
        let before = text[self.piece.start..offset].trim_end();
        match before.chars().next_back() {
            Some(last) => {
                let end = self.piece.start + before.len();
                Span::new(end - last.len_utf8(), end)
            }
            None => Span::empty(offset),
        }
    }
}

impl Frame {
    fn is_block_list(&self) -> bool {
        !self.flow && matches!(self.kind, FrameKind::Sequence(_))
    }

    fn is_fresh(&self) -> bool {
        match &self.kind {
            FrameKind::Sequence(items) => items.is_empty() && self.anchor.is_none(),
            FrameKind::Mapping { entries, key } => {
                entries.is_empty() && key.is_none() && self.anchor.is_none()
            }
        }
    }

    /// Returns where the value is that was read last.
    fn latest(&self) -> Option<Span> {
        match &self.kind {
            FrameKind::Sequence(items) => items.last().map(|item| item.span),
            FrameKind::Mapping { key: Some(key), .. } => Some(key.span),
            FrameKind::Mapping { entries, key: None } => entries.last().map(|it| it.value.span),
        }
    }
}

fn into_key(value: Value, text: &str) -> Key {
    let span = value.span;
    match value.kind {
        ValueKind::Scalar { style, text } => Key { span, text, style },
        ValueKind::Null
        | ValueKind::Sequence { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Alias { .. } => {
            Key { span, text: span.slice(text).to_owned(), style: ScalarStyle::Plain }
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn skip(bytes: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| wanted(**byte)).count()
}

/// Translates the library's error; `found` is the character it is at.
fn kind_of(kind: &ErrorKind, found: &str) -> YamlErrorKind {
    use YamlErrorKind as Ours;
    match kind {
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => Ours::UnquotedColon,
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            Ours::ControlCharacter(*character)
        }
        ErrorKind::UnexpectedCharacter { character } => Ours::ReservedStart(*character),
        ErrorKind::UnknownAnchor => Ours::UnknownAlias,
        ErrorKind::MissingAnchorOrAliasName => Ours::MissingAnchorName,
        ErrorKind::UndeclaredTagHandle
        | ErrorKind::ExpectedTagBang
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte
        | ErrorKind::InvalidTagUtf8 => Ours::BadTag,
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            Ours::UnclosedQuote
        }
        ErrorKind::InvalidQuotedScalarIndent => Ours::UnindentedContinuation,
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => Ours::TextAfterQuote,
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => Ours::BadEscape,
        ErrorKind::UnclosedFlowCollection { open } => Ours::UnclosedBracket(*open),
        ErrorKind::UnexpectedEofFlowSequence => Ours::UnclosedBracket('['),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            Ours::UnclosedBracket('{')
        }
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            Ours::StrayBracket
        }
        ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::FlowMappingValueAdjacentCollection => Ours::BracketItem,
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar
        | ErrorKind::InvalidBlockEntryWhitespace
        | ErrorKind::InvalidMappingValueWhitespace => Ours::TabIndentation,
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => Ours::BlockHeader,
        ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::PlainScalarStartsWithDashFlowIndicator => Ours::DashOnKeyLine,
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Ours::MissingColon,
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry => Ours::Indentation,
        ErrorKind::CommentInterceptedScalar | ErrorKind::CommentNotSeparated => Ours::CommentInside,
        ErrorKind::RecursionLimitExceeded => Ours::TooDeep,
        ErrorKind::DirectiveDisallowed => Ours::Directive,
        ErrorKind::BomInsideDocument => Ours::ByteOrderMark,
        _ if found == "," => Ours::ReservedStart(','),
        _ => Ours::Other,
    }
}
