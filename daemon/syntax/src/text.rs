//! Places in text: byte spans, lines, and the bytes a text came from.
//!
//! All of the crate counts in bytes of the decoded text. Lines and columns, in whatever unit an
//! editor or a person wants them, are made here and only at the edge. Nothing in this file
//! panics on an offset that lies outside the text or inside a character: it is moved back to the
//! nearest place that exists.

use std::ops::Range;

/// A place in a text as a person counts: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

/// A stretch of text: byte offsets, half open, into the decoded text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset just past the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a span; one that ends before it starts is empty at its start.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// Creates an empty span at `offset`.
    pub const fn empty(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// Returns the text of the span, or nothing when it does not lie in `text`.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }

    /// Returns whether `offset` is one of the bytes of the span.
    pub const fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Returns whether the whole of `other` lies in the span.
    pub const fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns the part of the span that lies in `other`.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        let start = self.start.clamp(other.start, other.end);
        Self::new(start, self.end.min(other.end))
    }

    /// Returns the span of a part as a span of the whole, in which the part starts at `offset`.
    #[must_use]
    pub const fn moved(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// Returns the number of bytes.
    pub const fn len(self) -> usize {
        self.end - self.start
    }

    /// Returns whether the span has no bytes.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the span as a range.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A place in a text as a line and a column, both from zero, the column in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// The line, from zero.
    pub line: u32,
    /// The bytes before the place on its line.
    pub column: u32,
}

/// The lines of one text, for turning offsets into lines and back.
///
/// A line ends at `\n`, `\r\n` or a lone `\r`, as editors count them. The text is not kept:
/// methods that count characters take it again, and it has to be the same text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineIndex {
    /// Never empty: an empty text has one empty line.
    lines: Vec<Line>,
}

/// One line of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    /// Its bytes without the line end.
    span: Span,
    /// Of a long line what was counted after each [`STRIDE`] bytes, so that of many places on it
    /// none is counted from its start.
    marks: Box<[ColumnCounts]>,
}

/// How many bytes lie between two marks of a line.
const STRIDE: usize = 1024;

/// What lies on a line before a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct ColumnCounts {
    bytes: usize,
    units: u32,
    characters: u32,
}

impl Line {
    fn new(text: &str, span: Span) -> Self {
        let written = span.slice(text);
        let mut mark = ColumnCounts::default();
        let marks = (1..=written.len() / STRIDE).map(|index| {
            let end = written.floor_char_boundary(index * STRIDE);
            mark = mark.to(&written[mark.bytes..end]);
            mark
        });
        Self { span, marks: marks.collect() }
    }

    /// Returns what lies before an offset.
    fn before(&self, text: &str, offset: usize) -> ColumnCounts {
        let end = text.floor_char_boundary(offset.min(self.span.end)).max(self.span.start);
        let mark = match (end - self.span.start) / STRIDE {
            0 => ColumnCounts::default(),
            index => self.marks.get(index - 1).copied().unwrap_or_default(),
        };
        mark.to(Span::new(self.span.start + mark.bytes, end).slice(text))
    }
}

impl ColumnCounts {
    /// Returns what lies before the end of the text that begins here.
    fn to(self, text: &str) -> Self {
        Self {
            bytes: self.bytes + text.len(),
            units: self.units + text.chars().map(|it| it.len_utf16() as u32).sum::<u32>(),
            characters: self.characters + text.chars().count() as u32,
        }
    }
}

impl LineIndex {
    /// Finds the lines of `text`.
    pub fn new(text: &str) -> Self {
        let lines = lines_between(text, 0, None);
        Self { lines }
    }

    /// Finds the lines anew after `replaced` was replaced: `text` is the whole text as it is now.
    ///
    /// Reads the lines that the edit touches and moves those behind it. The result is that of
    /// [`LineIndex::new`].
    pub fn replace(&mut self, replaced: Span, text: &str) {
        let Span { end: len_before, .. } = self.lines[self.lines.len() - 1].span;
        let replaced = replaced.within(Span::new(0, len_before));
        // A `\r` before the edit and a `\n` that it puts behind become one line end, so that the
        // line that ends where the edit starts is read again.
        let first = self.line_of(replaced.start.saturating_sub(1));
        let next = self.line_of(replaced.end) + 1;
        let now = |before: usize| (before + text.len()).saturating_sub(len_before);
        let stop = self.lines.get(next).map(|line| now(line.span.start));
        let read = lines_between(text, self.lines[first].span.start, stop);
        let behind = first + read.len();
        self.lines.splice(first..next, read);
        for line in &mut self.lines[behind..] {
            line.span = Span::new(now(line.span.start), now(line.span.end));
        }
    }

    /// Returns the number of lines; a text that ends in a line end has an empty last line.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns `false`: every text has a line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the bytes of a line, counted from zero, without its line end.
    pub fn line(&self, line: u32) -> Option<Span> {
        self.lines.get(line as usize).map(|it| it.span)
    }

    /// Returns the line and the byte column of `offset`; beyond the end, those of the end.
    ///
    /// The bytes of a line end count as columns of the line they end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.end());
        let line = self.line_of(offset);
        let column = offset - self.lines[line].span.start;
        Position { line: line as u32, column: column as u32 }
    }

    /// Returns the offset of a position; a column past the line is the line's end.
    pub fn offset(&self, position: Position) -> usize {
        let Some(line) = self.line(position.line) else {
            return self.end();
        };
        line.end.min(line.start.saturating_add(position.column as usize))
    }

    /// Returns the column of `offset` in UTF-16 units, from zero.
    pub fn utf16_column(&self, text: &str, offset: usize) -> u32 {
        self.lines[self.line_of(offset)].before(text, offset).units
    }

    /// Returns the column of `offset` in characters, from zero.
    pub fn char_column(&self, text: &str, offset: usize) -> u32 {
        self.lines[self.line_of(offset)].before(text, offset).characters
    }

    /// Returns line and column for people: both from one, the column in characters.
    pub fn display(&self, text: &str, offset: usize) -> (u32, u32) {
        (self.position(offset).line + 1, self.char_column(text, offset) + 1)
    }

    /// Returns the offset of a line and a column in UTF-16 units.
    ///
    /// A column inside a character is that character's start; one past the line is the line's
    /// end.
    pub fn utf16_offset(&self, text: &str, line: u32, column: u32) -> usize {
        let Some(span) = self.line(line) else {
            return self.end();
        };
        let mut units = 0;
        for (at, character) in span.slice(text).char_indices() {
            units += character.len_utf16() as u32;
            if units > column {
                return span.start + at;
            }
        }
        span.end
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.span.start <= offset).saturating_sub(1)
    }

    /// Returns where the text ends.
    fn end(&self) -> usize {
        self.lines.last().map_or(0, |line| line.span.end)
    }
}

/// Returns the lines from the one that starts at `start` to the one that starts at `stop`, or to
/// the last.
fn lines_between(text: &str, mut start: usize, stop: Option<usize>) -> Vec<Line> {
    let mut lines = Vec::new();
    while stop.is_none_or(|stop| start < stop) {
        let Some(end) = line_end(text, start) else {
            lines.push(Line::new(text, Span::new(start, text.len())));
            break;
        };
        lines.push(Line::new(text, Span::new(start, end)));
        start = after_line_end(text, end);
    }
    lines
}

/// Returns where the line that `offset` is on ends, or nothing when no line end follows.
pub fn line_end(text: &str, offset: usize) -> Option<usize> {
    let rest = text.as_bytes().get(offset..)?;
    rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').map(|at| offset + at)
}

/// Returns the offset after the line end at `end`; `end` itself when there is none.
pub fn after_line_end(text: &str, end: usize) -> usize {
    match text.as_bytes().get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        Some([b'\r' | b'\n', ..]) => end + 1,
        _ => end,
    }
}

/// The text of a file, and what was wrong with its bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decoded {
    /// The text without a byte order mark, so that offsets are those of an editor's buffer.
    /// Bytes that are not UTF-8 became U+FFFD.
    pub text: String,
    /// The first U+FFFD that stands for bytes that were not UTF-8.
    pub invalid_utf8: Option<Span>,
    /// Whether a UTF-8 byte order mark came first.
    pub bom: bool,
}

/// Decodes the bytes of a file; always gives a text.
pub fn decode(bytes: &[u8]) -> Decoded {
    let (bytes, bom) = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.to_owned(), invalid_utf8: None, bom },
        Err(error) => {
            let at = error.valid_up_to();
            let replaced = Span::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8());
            let text = String::from_utf8_lossy(bytes).into_owned();
            Decoded { text, invalid_utf8: Some(replaced), bom }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_end_at_every_kind_of_line_end() {
        let text = "a\r\nb\rc\n\nd";
        let index = LineIndex::new(text);
        let lines: Vec<_> =
            (0..index.len()).map(|it| index.line(it as u32).unwrap().slice(text)).collect();
        assert_eq!(lines, ["a", "b", "c", "", "d"]);
    }

    #[test]
    fn a_final_line_end_opens_an_empty_line() {
        assert_eq!(LineIndex::new("a\n").len(), 2);
        assert_eq!(LineIndex::new("a\r").len(), 2);
        assert_eq!(LineIndex::new("").len(), 1);
    }

    /// Replaces the bytes of `span` and compares with the lines of the new text.
    #[track_caller]
    fn check_edit(text: &str, span: Span, new: &str) {
        let mut index = LineIndex::new(text);
        let edited = [&text[..span.start], new, &text[span.end..]].concat();
        index.replace(span, &edited);
        assert_eq!(index, LineIndex::new(&edited), "{text:?} {span:?} {new:?}");
    }

    #[test]
    fn line_ends_that_an_edit_parts_or_joins_are_found() {
        check_edit("a\rb", Span::empty(2), "\n");
        check_edit("a\r\nb", Span::empty(2), "x");
        check_edit("a\rx\nb", Span::new(2, 3), "");
        check_edit("a\r\nb", Span::new(1, 2), "");
        check_edit("a\r\nb", Span::new(2, 3), "\r");
        check_edit("a\n\nb\n", Span::new(0, 5), "");
        check_edit("", Span::empty(0), "\r\n");
    }

    #[test]
    fn an_edit_beyond_the_text_is_one_at_its_end() {
        let mut index = LineIndex::new("a\n");
        index.replace(Span::new(7, 9), "a\nb\n");
        assert_eq!(index, LineIndex::new("a\nb\n"));
    }

    #[test]
    fn a_line_end_belongs_to_the_line_it_ends() {
        let index = LineIndex::new("ab\r\ncd");
        assert_eq!(index.position(2), Position { line: 0, column: 2 });
        assert_eq!(index.position(3), Position { line: 0, column: 3 });
        assert_eq!(index.offset(Position { line: 0, column: 3 }), 2);
        assert_eq!(index.position(4), Position { line: 1, column: 0 });
    }

    #[test]
    fn places_beyond_the_text_are_its_end() {
        let index = LineIndex::new("ab\ncd");
        assert_eq!(index.position(99), Position { line: 1, column: 2 });
        assert_eq!(index.offset(Position { line: 7, column: 0 }), 5);
        assert_eq!(index.offset(Position { line: 0, column: 99 }), 2);
        assert_eq!(index.utf16_offset("ab\ncd", 9, 9), 5);
    }

    #[test]
    fn columns_count_bytes_characters_and_utf16_units() {
        let text = "é🦀x";
        let index = LineIndex::new(text);
        let x = text.find('x').unwrap();
        assert_eq!(index.position(x).column, 6);
        assert_eq!(index.char_column(text, x), 2);
        assert_eq!(index.utf16_column(text, x), 3);
        assert_eq!(index.display(text, x), (1, 3));
        assert_eq!(index.utf16_offset(text, 0, 3), x);
        assert_eq!(index.utf16_offset(text, 0, 2), 2, "inside the pair: the crab's start");
    }

    #[test]
    fn a_span_outside_the_text_slices_to_nothing() {
        assert_eq!(Span::new(1, 9).slice("ab"), "");
        assert_eq!(Span::new(1, 2).slice("é"), "");
        assert_eq!(Span::new(5, 2), Span::empty(5));
    }

    #[test]
    fn decoding_strips_the_mark_and_replaces_what_is_not_text() {
        let decoded = decode(b"\xEF\xBB\xBF---\n");
        assert_eq!(
            (decoded.text.as_str(), decoded.bom, decoded.invalid_utf8),
            ("---\n", true, None)
        );
        let decoded = decode(b"Caf\xE9 cr\xE8me");
        assert_eq!(decoded.text, "Caf\u{FFFD} cr\u{FFFD}me");
        assert_eq!(decoded.invalid_utf8.unwrap().slice(&decoded.text), "\u{FFFD}");
    }

    proptest! {
        #[test]
        fn offsets_survive_the_way_there_and_back(text in "[aé🦀\r\n]{0,40}") {
            let index = LineIndex::new(&text);
            for (offset, _) in text.char_indices() {
                let position = index.position(offset);
                let line = index.line(position.line).unwrap();
                let at = offset.min(line.end);
                prop_assert_eq!(index.offset(position), at);
                let column = index.utf16_column(&text, offset);
                prop_assert_eq!(index.utf16_offset(&text, position.line, column), at);
            }
        }

        #[test]
        fn edited_lines_are_those_of_the_edited_text(
            text in "[aé🦀\r\n]{0,24}",
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[bé\r\n]{0,4}"), 1..6),
        ) {
            let (mut text, mut index) = (text.clone(), LineIndex::new(&text));
            for (one, other, new) in edits {
                let [one, other] = [one, other].map(|it| text.floor_char_boundary(it.index(text.len() + 1)));
                let span = Span::new(one.min(other), one.max(other));
                text.replace_range(span.range(), &new);
                index.replace(span, &text);
                prop_assert_eq!(&index, &LineIndex::new(&text));
            }
        }

        #[test]
        fn no_offset_panics(text in "\\PC{0,20}", offset in 0_usize..60, column in 0_u32..60) {
            let index = LineIndex::new(&text);
            index.utf16_column(&text, offset);
            index.char_column(&text, offset);
            prop_assert!(text.is_char_boundary(index.utf16_offset(&text, 0, column)));
        }

        #[test]
        fn any_bytes_decode(bytes: Vec<u8>) {
            let decoded = decode(&bytes);
            prop_assert_eq!(decoded.invalid_utf8.is_some(), std::str::from_utf8(&bytes).is_err());
            if let Some(span) = decoded.invalid_utf8 {
                prop_assert_eq!(span.slice(&decoded.text), "\u{FFFD}");
            }
        }
    }
}
