//! A piece of text that is parsed as YAML on its own ([`Piece`]), with helpers to correct spans.
//!
//! The YAML library starts a block at its first line, a list at its first item, and reports errors
//! where it notices them. The helpers here find the actual positions.

use crate::parse::line::is_blank;
use crate::text::Span;

/// A piece of a text. Offsets refer to the whole text and are clamped to the piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t> {
    text: &'t str,
    span: Span,
}

/// The parent of the searched node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ParentKind {
    /// A block list; the node follows a dash.
    InBlockList,
    /// Any other parent; the node may follow a colon.
    Other,
}

impl<'t> Piece<'t> {
    pub(super) fn new(text: &'t str, span: Span) -> Self {
        Self { text, span }
    }

    pub(super) fn start(self) -> usize {
        self.span.start
    }

    /// Returns the text of `span`.
    pub(super) fn slice(self, span: Span) -> &'t str {
        span.slice(self.text)
    }

    /// Converts an offset in the piece to one in the text, on a character boundary.
    pub(super) fn offset(self, in_piece: usize) -> usize {
        self.text.floor_char_boundary((self.span.start + in_piece).min(self.span.end))
    }

    /// Returns the start of the next token, after white space, comments, a colon or dash, anchors
    /// and tags.
    pub(super) fn next_token(self, from: usize, parent: ParentKind) -> usize {
        let bytes = self.bytes();
        let mut dash = parent == ParentKind::InBlockList;
        let mut colon = !dash;
        let mut at = from;
        loop {
            at = self.after_trivia(at);
            let Some(&byte) = bytes.get(at) else { return at };
            let blank_follows = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            match byte {
                b'-' if dash && blank_follows => (dash, at) = (false, at + 1),
                b':' | b'?' if colon && blank_follows => (colon, at) = (byte == b'?', at + 1),
                b'!' | b'&' => at = skip(bytes, at, |byte| !byte.is_ascii_whitespace()),
                _ => return at,
            }
        }
    }

    /// Returns the offset of an omitted value: after the colon or dash, or after an anchor or tag
    /// that ends at `end`.
    pub(super) fn null_offset(self, from: usize, parent: ParentKind, end: usize) -> usize {
        let bytes = self.bytes();
        let (at, indicator) = match parent {
            ParentKind::InBlockList => (self.after_trivia(from), b'-'),
            ParentKind::Other => (skip(bytes, from, is_blank), b':'),
        };
        let at = if bytes.get(at) == Some(&indicator) { at + 1 } else { from };
        at + self.slice(Span::new(at, end)).trim_end().len()
    }

    /// Returns the character at `offset`, or the last visible one before it.
    pub(super) fn visible(self, offset: usize) -> Span {
        let here = self.slice(Span::new(offset, self.span.end)).chars().next();
        if let Some(found) = here.filter(|it| !it.is_whitespace()) {
            return Span::new(offset, offset + found.len_utf8());
        }
        let before = self.slice(Span::new(self.span.start, offset)).trim_end();
        let end = self.span.start + before.len();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        if last == 0 { Span::empty(offset) } else { Span::new(end - last, end) }
    }

    /// Returns the next occurrence of `wanted` from `offset`.
    pub(super) fn find(self, offset: usize, wanted: char) -> Option<Span> {
        let at = offset + self.slice(Span::new(offset, self.span.end)).find(wanted)?;
        Some(Span::new(at, at + wanted.len_utf8()))
    }

    /// Returns the tab in the white space before `offset`, or the next one after it.
    pub(super) fn tab(self, offset: usize) -> Option<Span> {
        let before = self.slice(Span::new(self.span.start, offset));
        let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
        self.find(offset - blanks, '\t')
    }

    /// Returns the rest of the line from `offset`.
    pub(super) fn rest_of_line(self, offset: usize) -> Span {
        let rest = self.slice(Span::new(offset, self.span.end));
        let line = rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())].trim_end();
        if line.is_empty() { self.visible(offset) } else { Span::new(offset, offset + line.len()) }
    }

    /// Returns the offset after white space, line ends and comments.
    fn after_trivia(self, mut at: usize) -> usize {
        let bytes = self.bytes();
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(b'#') => at = skip(bytes, at, |byte| byte != b'\n' && byte != b'\r'),
                _ => return at,
            }
        }
    }

    fn bytes(self) -> &'t [u8] {
        &self.text.as_bytes()[..self.span.end]
    }
}

fn skip(bytes: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| wanted(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> Piece<'_> {
        Piece::new(text, Span::new(0, text.len()))
    }

    #[test]
    fn next_token_skips_comments_anchors_and_tags() {
        let text = "key: # note > x\n  &a !t |\n";
        assert_eq!(piece(text).next_token(3, ParentKind::Other), text.find('|').unwrap());
        let text = " \n- - x";
        assert_eq!(piece(text).next_token(0, ParentKind::InBlockList), 4);
        assert_eq!(piece(text).next_token(0, ParentKind::Other), 2);
    }

    #[test]
    fn omitted_value_follows_its_colon_or_dash() {
        assert_eq!(piece("key:  \nb").null_offset(3, ParentKind::Other, 3), 4);
        assert_eq!(piece("key: &a \nb").null_offset(3, ParentKind::Other, 8), 7);
        assert_eq!(piece("-\n-\n").null_offset(1, ParentKind::InBlockList, 4), 3);
    }

    #[test]
    fn visible_falls_back_to_the_previous_character() {
        assert_eq!(piece("aé \n").visible(4), Span::new(1, 3));
        assert_eq!(piece("aé").visible(1), Span::new(1, 3));
        assert_eq!(piece("  ").visible(1), Span::empty(1));
    }

    #[test]
    fn offsets_are_clamped_to_the_piece_and_a_boundary() {
        let piece = Piece::new("aéb", Span::new(1, 3));
        assert_eq!(piece.offset(0), 1);
        assert_eq!(piece.offset(1), 1);
        assert_eq!(piece.offset(9), 3);
    }
}
