//! Recovers the entries of an invalid frontmatter, key by key.
//!
//! The text is split at lines with the indentation of the keys, and each piece is parsed alone.
//! Valid pieces are read as YAML. An invalid piece is split again one level deeper, and finally its
//! value is read as plain text. A broken value therefore affects only itself and is reported once.
//!
//! Each piece is read a bounded number of times per level and the number of levels is bounded, so
//! the time is linear in the text.

use crate::diagnostic::Diagnostic;
use crate::parse::annotations::Annotations;
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::keys::Keys;
use crate::parse::line::{KeyHead, Line, lines, quoted_end, split_key};
use crate::parse::plain_text::{self, PlainText};
use crate::parse::segment::{self, rest_of};
use crate::parse::tree::{Entry, Key, ScalarStyle, Value, ValueKind};
use crate::parse::{events, yaml_diagnostics};
use crate::text::Span;

/// Maximum number of levels at which an invalid piece is split; deeper ones are read as text.
const MAX_LEVELS: usize = 8;

/// Recovers the entries of `content`.
pub(super) fn recover(
    text: &str,
    content: Span,
    keys: Keys,
    notes: &mut Annotations,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Entry> {
    let lines: Vec<Line> = lines(&text[..content.end], content.start).collect();
    Recovery { text, keys, notes, diagnostics, tab_reported: false }.mapping(&lines, 0)
}

struct Recovery<'t, 'n> {
    text: &'t str,
    keys: Keys,
    notes: &'n mut Annotations,
    diagnostics: &'n mut Vec<Diagnostic>,
    /// True if a tab was reported in the current top-level piece.
    tab_reported: bool,
}

impl Recovery<'_, '_> {
    /// Reads lines with keys.
    fn mapping(&mut self, lines: &[Line], level: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        let heads = segment::heads(self.text, lines);
        let end_of = |head: usize| heads.get(head).copied().unwrap_or(lines.len());
        self.note_comments(&lines[..end_of(0)]);
        let mut at = 0;
        while at < heads.len() {
            self.tab_reported &= level > 0;
            if !segment::starts_entry(self.text, lines[heads[at]]) {
                at = self.stray(lines, &heads, at, &mut entries);
                continue;
            }
            let alone = at + 1;
            match self.strict(&lines[heads[at]..end_of(alone)]) {
                Ok(mut read) => {
                    entries.append(&mut read);
                    at = alone;
                }
                Err(error) => {
                    let next = segment::joined_until(self.text, lines, &heads, at);
                    let piece = &lines[heads[at]..end_of(next)];
                    let again = if next == alone { Err(error) } else { self.strict(piece) };
                    match again {
                        Ok(mut read) => entries.append(&mut read),
                        Err(error) => self.recover_piece(piece, &error, level, &mut entries),
                    }
                    at = next;
                }
            }
        }
        entries
    }

    /// Parses a piece strictly; it must consist of block mapping entries.
    fn strict(&mut self, piece: &[Line]) -> Result<Vec<Entry>, YamlError> {
        match events::read(self.text, piece_span(piece), self.notes)? {
            Some(Value { kind: ValueKind::Mapping { flow: false, entries }, .. }) => Ok(entries),
            Some(_) | None => Err(YamlError::new(YamlErrorKind::MissingColon, piece[0].span())),
        }
    }

    /// Reads an invalid piece that starts an entry.
    fn recover_piece(
        &mut self,
        piece: &[Line],
        error: &YamlError,
        level: usize,
        entries: &mut Vec<Entry>,
    ) {
        let misplaced = segment::misplaced_keys(self.text, piece, self.keys);
        if misplaced.is_empty() {
            entries.extend(self.entry(piece, error, level));
            return;
        }
        let before = self.diagnostics.len();
        let mut start = 0;
        for end in misplaced.into_iter().chain([piece.len()]) {
            let part = &piece[start..end];
            // Siblings are misplaced for the same reason and not reported.
            if start > 0 && self.diagnostics.len() == before {
                let key = split_key(self.text, part[0]).map_or(part[0].span(), |head| head.key);
                self.diagnostics.push(yaml_diagnostics::misplaced_key(key, key.slice(self.text)));
            }
            match self.strict(part) {
                Ok(mut read) => entries.append(&mut read),
                Err(error) => entries.extend(self.entry(part, &error, level)),
            }
            start = end;
        }
    }

    /// Reads an invalid piece as one entry.
    fn entry(&mut self, piece: &[Line], error: &YamlError, level: usize) -> Option<Entry> {
        let Some(head) = split_key(self.text, piece[0]) else {
            self.report(error.kind, yaml_diagnostics::syntax_error(error));
            return None;
        };
        let value = self.value_of(piece, head, error, level);
        let key = self.key(head.key);
        let span = Span::new(head.key.start, value.span.end.max(head.key.end));
        Some(Entry { key, value, span, duplicate_of: None, recovered: true })
    }

    fn value_of(
        &mut self,
        piece: &[Line],
        head: KeyHead,
        error: &YamlError,
        level: usize,
    ) -> Value {
        let before = self.diagnostics.len();
        if error.kind == YamlErrorKind::TabIndentation {
            self.report(error.kind, yaml_diagnostics::syntax_error(error));
        }
        let rest = rest_of(self.text, piece[0], head.after);
        let value = if rest.is_insignificant(self.text) {
            self.note_comments(&[rest]);
            self.block(&piece[1..], head.after, error, level + 1)
        } else {
            let mut lines = vec![rest];
            lines.extend_from_slice(&piece[1..]);
            self.leaf(&lines, error)
        };
        if self.diagnostics.len() == before {
            self.report(error.kind, yaml_diagnostics::syntax_error(error));
        }
        value
    }

    /// Reads lines with a value: a list, a mapping or text.
    fn block(&mut self, lines: &[Line], after: usize, error: &YamlError, level: usize) -> Value {
        let Some(first) = lines.iter().position(|line| !line.is_insignificant(self.text)) else {
            self.note_comments(lines);
            return Value::null(after);
        };
        let head = lines[first];
        if level < MAX_LEVELS && head.is_item(self.text) {
            let items = self.sequence(lines, level);
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

    /// Reads lines with list items.
    fn sequence(&mut self, lines: &[Line], level: usize) -> Vec<Value> {
        let first = lines.iter().find(|line| !line.is_insignificant(self.text));
        let base = first.map_or(0, |line| line.indent);
        let starts = |line: &Line| line.indent <= base && line.is_item(self.text);
        let heads: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| starts(line)).map(|(at, _)| at).collect();
        self.note_comments(&lines[..heads.first().copied().unwrap_or(lines.len())]);
        let mut items = Vec::with_capacity(heads.len());
        for (at, &from) in heads.iter().enumerate() {
            let piece = &lines[from..heads.get(at + 1).copied().unwrap_or(lines.len())];
            items.push(match events::read(self.text, self.item_span(piece), self.notes) {
                Ok(Some(value)) => single_item(value).unwrap_or_else(|value| value),
                Ok(None) => Value::null(piece[0].end),
                Err(own) => self.item(piece, &own, level),
            });
        }
        items
    }

    /// Returns the span of an item with its indentation, which its further lines depend on.
    fn item_span(&self, piece: &[Line]) -> Span {
        let whole = piece_span(piece);
        let indentation = piece.first().map(|it| Span::new(it.first, it.start));
        let indentation = indentation.filter(|it| it.slice(self.text).trim().is_empty());
        Span::new(indentation.map_or(whole.start, |it| it.start), whole.end)
    }

    /// Reads an invalid item.
    fn item(&mut self, piece: &[Line], error: &YamlError, level: usize) -> Value {
        let before = self.diagnostics.len();
        let rest = rest_of(self.text, piece[0], piece[0].start + 1);
        let more = piece[1..].iter().any(|line| !line.is_insignificant(self.text));
        let value = if rest.is_insignificant(self.text) {
            self.block(&piece[1..], piece[0].start + 1, error, level + 1)
        } else {
            let mut lines = vec![self.without_remark(rest)];
            lines.extend_from_slice(&piece[1..]);
            if more && split_key(self.text, rest).is_some() {
                self.block(&lines, rest.start, error, level + 1)
            } else {
                self.leaf(&lines, error)
            }
        };
        if self.diagnostics.len() == before {
            self.report(error.kind, yaml_diagnostics::syntax_error(error));
        }
        value
    }

    /// Removes a ` # …` comment from an item line: items are names and globs, not sentences.
    fn without_remark(&mut self, line: Line) -> Line {
        let Some(at) = line.content(self.text).find(" # ") else { return line };
        self.notes.comments.push(Span::new(line.start + at + 1, line.end));
        let kept = line.content(self.text)[..at].trim_end().len();
        Line { end: line.start + kept, ..line }
    }

    /// Reads lines as one text.
    fn leaf(&mut self, lines: &[Line], error: &YamlError) -> Value {
        let PlainText { value, comments } = plain_text::read(self.text, lines);
        self.notes.comments.extend(comments);
        let finding = plain_text::diagnose(self.text, &value, error);
        self.report(error.kind, finding);
        value
    }

    /// Reports a finding; only the first tab error of a top-level piece is reported.
    fn report(&mut self, kind: YamlErrorKind, finding: Diagnostic) {
        let is_tab = kind == YamlErrorKind::TabIndentation;
        if !(is_tab && self.tab_reported) {
            self.diagnostics.push(finding);
        }
        self.tab_reported |= is_tab;
    }

    /// Handles lines that start no entry, from head index `at`; returns the index of the next head.
    fn stray(
        &mut self,
        lines: &[Line],
        heads: &[usize],
        at: usize,
        entries: &mut Vec<Entry>,
    ) -> usize {
        let is_stray = |head: &usize| !segment::starts_entry(self.text, lines[*head]);
        let next = at + heads[at..].iter().take_while(|head| is_stray(head)).count();
        let run = &lines[heads[at]..heads.get(next).copied().unwrap_or(lines.len())];
        self.note_comments(run);
        let last = run.iter().rposition(|line| !line.is_insignificant(self.text)).unwrap_or(0);
        let run = &run[..=last];
        let first = run[0];
        let adjacent = heads[at] > 0 && !lines[heads[at] - 1].is_insignificant(self.text);
        let keys = self.keys;
        let above = entries.last_mut().filter(|entry| {
            let text = entry.value.as_str();
            adjacent
                && text.is_some_and(|text| segment::is_continuation(self.text, text, first, keys))
        });
        if let Some(above) = above {
            plain_text::append(self.text, above, run);
            self.diagnostics.push(yaml_diagnostics::unindented(first.span()));
        } else if let Some((key, value)) = segment::key_without_blank(self.text, first)
            && run.len() == 1
        {
            self.diagnostics
                .push(yaml_diagnostics::missing_blank(first.span(), key.slice(self.text)));
            entries.push(self.loose_entry(first, key, value));
        } else if let Some(key) = segment::key_without_colon(self.text, first, keys) {
            self.diagnostics.push(yaml_diagnostics::missing_colon(key, key.slice(self.text)));
        } else {
            self.diagnostics.push(yaml_diagnostics::stray(Span::new(first.start, run[last].end)));
        }
        next
    }

    /// Reads `key:value`.
    fn loose_entry(&self, line: Line, key: Span, value: Span) -> Entry {
        let text = plain_text::unquote(value.slice(self.text)).replace('\0', "");
        Entry {
            key: self.key(key),
            value: Value::plain(value, text),
            span: line.span(),
            duplicate_of: None,
            recovered: true,
        }
    }

    fn key(&self, span: Span) -> Key {
        let written = span.slice(self.text);
        let is_closed = quoted_end(written.as_bytes(), 0) == Some(written.len());
        let style = match written.as_bytes().first() {
            Some(b'"') if is_closed => ScalarStyle::DoubleQuoted,
            Some(b'\'') if is_closed => ScalarStyle::SingleQuoted,
            _ => ScalarStyle::Plain,
        };
        let text = plain_text::unquote(written);
        Key { span, text, style }
    }

    fn note_comments(&mut self, lines: &[Line]) {
        let text = self.text;
        self.notes
            .comments
            .extend(lines.iter().filter(|line| line.is_comment(text)).map(|line| line.span()));
    }
}

/// Returns the span from the first content of a piece to the end of its last line.
fn piece_span(piece: &[Line]) -> Span {
    let start = piece.first().map_or(0, |line| line.start);
    Span::new(start, piece.last().map_or(start, |line| line.next))
}

fn single_item(value: Value) -> Result<Value, Value> {
    match value.kind {
        ValueKind::Sequence { flow: false, mut items } if items.len() == 1 => {
            items.pop().ok_or(Value::null(value.span.end))
        }
        _ => Err(value),
    }
}

#[cfg(test)]
mod tests;
