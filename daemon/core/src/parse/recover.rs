//! Reading a frontmatter that YAML refuses: key by key.
//!
//! The text is cut where a line starts at the level of the keys, and each piece is read alone. A
//! piece that YAML takes is exactly what YAML makes of it. A piece that YAML refuses is cut again
//! one level deeper, and at the end a value is read as the text that was meant. So one broken
//! value costs nothing but itself, and is reported once, at its own place.
//!
//! Every piece is read a bounded number of times per level and the levels are bounded, so the
//! time is linear in the text.

use crate::diagnostic::Diagnostic;
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::events::{self, Notes};
use crate::parse::line::{KeyHead, Line, is_word, split_key};
use crate::parse::problem;
use crate::parse::salvage::{self, Leaf};
use crate::parse::tree::{Entry, Key, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// How deep a piece that is refused is cut again; below, it is read as text.
const MAX_LEVELS: usize = 8;

/// How many of the next pieces may belong to an open bracket or quote.
const MAX_PIECES_JOINED: usize = 16;

/// From how many words on an unindented line is a sentence that goes on, not a key being typed.
const MIN_WORDS_JOINED: usize = 4;

/// First words that start a key, whatever follows: a line of them has lost its colon.
// FIXME: ask the field catalog once there is one.
const KEY_WORDS: &[&str] = &[
    "agent",
    "allowed-tools",
    "argument-hint",
    "arguments",
    "author",
    "background",
    "category",
    "compatibility",
    "context",
    "description",
    "disable-model-invocation",
    "disallowed-tools",
    "effort",
    "hooks",
    "keywords",
    "license",
    "metadata",
    "model",
    "name",
    "paths",
    "shell",
    "tags",
    "title",
    "tools",
    "triggers",
    "user-invocable",
    "version",
    "when_to_use",
];

/// Reads the keys of `content` one by one.
pub(super) fn recover(
    text: &str,
    content: Span,
    notes: &mut Notes,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Entry> {
    let lines: Vec<Line> = crate::parse::line::lines(&text[..content.end], content.start).collect();
    Recovery { text, notes, diagnostics }.mapping(&lines, 0)
}

pub(super) struct Recovery<'t, 'n> {
    pub(super) text: &'t str,
    pub(super) notes: &'n mut Notes,
    pub(super) diagnostics: &'n mut Vec<Diagnostic>,
}

impl Recovery<'_, '_> {
    /// Reads lines that hold keys.
    fn mapping(&mut self, lines: &[Line], level: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        let heads = self.heads(lines);
        self.note_comments(&lines[..heads.first().copied().unwrap_or(lines.len())]);
        let mut at = 0;
        while let Some(&from) = heads.get(at) {
            let piece = &lines[from..heads.get(at + 1).copied().unwrap_or(lines.len())];
            if split_key(self.text, piece[0]).is_none() && !self.is_explicit_key(piece) {
                at = self.stray(lines, &heads, at, &mut entries);
                continue;
            }
            match self.read_entries(piece) {
                Ok(mut read) => entries.append(&mut read),
                Err(error) => {
                    let joined = self.joined(lines, &heads, at);
                    let end = heads.get(joined).copied().unwrap_or(lines.len());
                    self.refused(&lines[from..end], &error, level, &mut entries);
                    at = joined - 1;
                }
            }
            at += 1;
        }
        entries
    }

    /// Returns the indices of the lines where a piece starts.
    fn heads(&self, lines: &[Line]) -> Vec<usize> {
        let significant = lines.iter().find(|line| !line.is_insignificant(self.text));
        let base = significant.map_or(0, |line| line.indent);
        let mut heads = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let continues = line.indent > base
                || line.is_insignificant(self.text)
                || line.is_item(self.text)
                || matches!(
                    line.content(self.text).as_bytes(),
                    [b']' | b'}', ..] | [b':'] | [b':', b' ', ..]
                );
            if !continues || (heads.is_empty() && !line.is_insignificant(self.text)) {
                heads.push(index);
            }
        }
        heads
    }

    fn is_explicit_key(&self, piece: &[Line]) -> bool {
        let head = piece[0].content(self.text);
        head == "?"
            || head.starts_with("? ")
            || (head.starts_with(['[', '{', '"', '\'', '*', '&', '!']) && head.contains(": "))
    }

    /// Reads a piece strictly: it has to be nothing but entries of a block mapping.
    fn read_entries(&mut self, piece: &[Line]) -> Result<Vec<Entry>, YamlError> {
        let whole = piece_span(piece);
        match events::read(self.text, whole, self.notes)? {
            Some(Value { kind: ValueKind::Mapping { flow: false, entries }, .. }) => Ok(entries),
            Some(_) | None => Err(YamlError::new(YamlErrorKind::MissingColon, piece[0].span())),
        }
    }

    /// Reads a piece that YAML refuses; its first line has a key.
    fn refused(
        &mut self,
        piece: &[Line],
        error: &YamlError,
        level: usize,
        entries: &mut Vec<Entry>,
    ) {
        let Some(head) = split_key(self.text, piece[0]) else {
            self.diagnostics.push(problem::refused(error));
            return;
        };
        if let Some(cut) = self.misplaced_key(piece) {
            let key = split_key(self.text, piece[cut]).map_or(piece[cut].span(), |head| head.key);
            self.diagnostics.push(problem::misplaced_key(key, key.slice(self.text)));
            for part in [&piece[..cut], &piece[cut..]] {
                match self.read_entries(part) {
                    Ok(mut read) => entries.append(&mut read),
                    Err(error) => self.refused(part, &error, level, entries),
                }
            }
            return;
        }
        let value = self.value_of(piece, head, error, level);
        let key = self.key(head.key);
        let span = Span::new(head.key.start, value.span.end.max(head.key.end));
        entries.push(Entry { key, value, span, duplicate_of: None, recovered: true });
    }

    fn value_of(
        &mut self,
        piece: &[Line],
        head: KeyHead,
        error: &YamlError,
        level: usize,
    ) -> Value {
        let before = self.diagnostics.len();
        let rest = rest_of(piece[0], head.after, self.text);
        let value = if rest.is_insignificant(self.text) {
            self.note_comments(&[rest]);
            self.block(&piece[1..], head.after, error, level + 1)
        } else {
            let mut lines = vec![rest];
            lines.extend_from_slice(&piece[1..]);
            self.leaf(&lines, error)
        };
        if self.diagnostics.len() == before {
            self.diagnostics.push(problem::refused(error));
        }
        value
    }

    /// Reads lines that hold a value: a list, a mapping or a text.
    fn block(&mut self, lines: &[Line], after: usize, error: &YamlError, level: usize) -> Value {
        let Some(first) = lines.iter().position(|line| !line.is_insignificant(self.text)) else {
            self.note_comments(lines);
            return Value::null(after);
        };
        let head = lines[first];
        if level < MAX_LEVELS && head.is_item(self.text) {
            let items = self.sequence(lines, error, level);
            let end = items.last().map_or(head.end, |item| item.span.end);
            let span = Span::new(head.start, end.max(head.start));
            return Value { span, kind: ValueKind::Sequence { flow: false, items } };
        }
        if level < MAX_LEVELS && split_key(self.text, head).is_some() {
            let entries = self.mapping(lines, level);
            let end = entries.last().map_or(head.end, |entry| entry.span.end);
            let span = Span::new(head.start, end.max(head.start));
            return Value { span, kind: ValueKind::Mapping { flow: false, entries } };
        }
        self.note_comments(&lines[..first]);
        self.leaf(&lines[first..], error)
    }

    /// Reads lines that hold items.
    fn sequence(&mut self, lines: &[Line], error: &YamlError, level: usize) -> Vec<Value> {
        let first = lines.iter().find(|line| !line.is_insignificant(self.text));
        let base = first.map_or(0, |line| line.indent);
        let starts = |line: &Line| line.indent <= base && line.is_item(self.text);
        let heads: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| starts(line)).map(|(at, _)| at).collect();
        self.note_comments(&lines[..heads.first().copied().unwrap_or(lines.len())]);
        let mut items = Vec::with_capacity(heads.len());
        for (at, &from) in heads.iter().enumerate() {
            let piece = &lines[from..heads.get(at + 1).copied().unwrap_or(lines.len())];
            items.push(match events::read(self.text, piece_span(piece), self.notes) {
                Ok(Some(value)) => single_item(value).unwrap_or_else(|value| value),
                Ok(None) => Value::null(piece[0].end),
                Err(own) => self.item(piece, &own, level),
            });
        }
        let _ = error;
        items
    }

    /// Reads an item that YAML refuses.
    fn item(&mut self, piece: &[Line], error: &YamlError, level: usize) -> Value {
        let before = self.diagnostics.len();
        let rest = rest_of(piece[0], piece[0].start + 1, self.text);
        let more = piece[1..].iter().any(|line| !line.is_insignificant(self.text));
        let value = if rest.is_insignificant(self.text) {
            self.block(&piece[1..], piece[0].start + 1, error, level + 1)
        } else {
            let mut lines = vec![rest];
            lines.extend_from_slice(&piece[1..]);
            if more && split_key(self.text, rest).is_some() {
                self.block(&lines, rest.start, error, level + 1)
            } else {
                self.leaf(&lines, error)
            }
        };
        if self.diagnostics.len() == before {
            self.diagnostics.push(problem::refused(error));
        }
        value
    }

    /// Reads lines as the one text that was meant.
    fn leaf(&mut self, lines: &[Line], error: &YamlError) -> Value {
        let Leaf { value, comments } = salvage::read(self.text, lines);
        self.notes.comments.extend(comments);
        self.diagnostics.push(salvage::diagnose(self.text, &value, error));
        value
    }

    /// Handles lines without a key from head number `at`; returns the number of the next head.
    fn stray(
        &mut self,
        lines: &[Line],
        heads: &[usize],
        at: usize,
        entries: &mut Vec<Entry>,
    ) -> usize {
        let mut end = at;
        while heads.get(end).is_some_and(|&head| {
            split_key(self.text, lines[head]).is_none()
                && !self.is_explicit_key(&lines[head..=head])
        }) {
            end += 1;
        }
        let run = &lines[heads[at]..heads.get(end).copied().unwrap_or(lines.len())];
        let run = trim_insignificant(self.text, run);
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return end };
        let span = Span::new(first.start, last.end);
        if let Some(entry) = self.loose_entry(run) {
            self.diagnostics.push(problem::stray(entry.span, first.content(self.text)));
            entries.push(entry);
        } else if self.goes_on(lines, heads[at], entries.last()) {
            if let Some(entry) = entries.last_mut() {
                salvage::append(self.text, entry, run);
            }
            self.diagnostics.push(problem::unindented(first.span()));
        } else {
            self.diagnostics.push(problem::stray(span, first.content(self.text)));
        }
        end
    }

    /// Reads `key:value`, a key whose colon lacks its blank.
    fn loose_entry(&self, run: &[Line]) -> Option<Entry> {
        let [line] = run else { return None };
        let (key, rest) = line.content(self.text).split_once(':')?;
        if !is_word(key) || rest.starts_with("//") || rest.trim().is_empty() {
            return None;
        }
        let key = Span::new(line.start, line.start + key.len());
        let value = Span::new(key.end + 1, line.end);
        let text = salvage::unquote(value.slice(self.text)).replace('\0', "");
        Some(Entry {
            key: self.key(key),
            value: Value::plain(value, text),
            span: line.span(),
            duplicate_of: None,
            recovered: true,
        })
    }

    /// Whether the line at `index` is a sentence that continues the entry above it.
    fn goes_on(&self, lines: &[Line], index: usize, above: Option<&Entry>) -> bool {
        let Some(above) = above.and_then(|entry| entry.value.as_str()) else { return false };
        let adjacent = index > 0 && !lines[index - 1].is_insignificant(self.text);
        let mut words = lines[index].content(self.text).split_whitespace();
        let first = words.next().unwrap_or_default();
        adjacent
            && above.contains(' ')
            && words.count() + 1 >= MIN_WORDS_JOINED
            && !KEY_WORDS.contains(&first)
    }

    /// Finds a line inside the plain value of a piece that can only be a key.
    fn misplaced_key(&self, piece: &[Line]) -> Option<usize> {
        let head = split_key(self.text, piece[0])?;
        let rest = rest_of(piece[0], head.after, self.text).content(self.text);
        if rest.is_empty() || rest.starts_with(['|', '>', '"', '\'', '[', '{', '#']) {
            return None;
        }
        (1..piece.len()).find(|&at| {
            split_key(self.text, piece[at])
                .is_some_and(|head| KEY_WORDS.contains(&head.key.slice(self.text)))
        })
    }

    /// Returns the head number after the pieces that an open bracket or quote reaches over.
    ///
    /// Only a bracket or quote that is closed at the end of a line reaches; one that was just
    /// typed does not swallow the keys below.
    fn joined(&self, lines: &[Line], heads: &[usize], at: usize) -> usize {
        let alone = at + 1;
        let from = heads[at];
        let Some(head) = split_key(self.text, lines[from]) else { return alone };
        let last = heads.len().min(at + MAX_PIECES_JOINED);
        let start = rest_of(lines[from], head.after, self.text).start;
        for next in at + 1..=last {
            let end = heads.get(next).copied().unwrap_or(lines.len());
            let value = Span::new(start, lines[end - 1].end.max(start)).slice(self.text);
            match salvage::open_at_end(value) {
                Some(false) => return next,
                None => return alone,
                Some(true) => {}
            }
            // A quote never reaches over a key; a bracket may, as JSON does.
            let key = heads.get(next).and_then(|&head| split_key(self.text, lines[head]));
            let is_quote = value.starts_with(['"', '\'']);
            if is_quote && key.is_some_and(|key| is_word(key.key.slice(self.text))) {
                return alone;
            }
        }
        alone
    }

    fn key(&self, span: Span) -> Key {
        let written = span.slice(self.text);
        let style = match written.as_bytes().first() {
            Some(b'"') => ScalarStyle::DoubleQuoted,
            Some(b'\'') => ScalarStyle::SingleQuoted,
            _ => ScalarStyle::Plain,
        };
        let text = match style {
            ScalarStyle::Plain => written.to_owned(),
            _ => salvage::unquote(written),
        };
        Key { span, text, style }
    }

    fn note_comments(&mut self, lines: &[Line]) {
        let text = self.text;
        self.notes
            .comments
            .extend(lines.iter().filter(|line| line.is_comment(text)).map(|line| line.span()));
    }
}

/// The piece from its first content to the end of its last line.
fn piece_span(piece: &[Line]) -> Span {
    let start = piece.first().map_or(0, |line| line.start);
    Span::new(start, piece.last().map_or(start, |line| line.next))
}

/// The rest of a line from `after`, without the blanks in front.
fn rest_of(line: Line, after: usize, text: &str) -> Line {
    let rest = Span::new(after.min(line.end), line.end).slice(text);
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    line.from(after.min(line.end) + blanks)
}

fn trim_insignificant<'l>(text: &str, lines: &'l [Line]) -> &'l [Line] {
    let end = lines.iter().rposition(|line| !line.is_insignificant(text)).map_or(0, |at| at + 1);
    &lines[..end]
}

fn single_item(value: Value) -> Result<Value, Value> {
    match value.kind {
        ValueKind::Sequence { flow: false, mut items } if items.len() == 1 => {
            items.pop().ok_or(Value::null(value.span.end))
        }
        _ => Err(value),
    }
}
