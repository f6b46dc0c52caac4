//! Lines for error recovery ([`Line`]): indentation, content, and a possible key.
//!
//! A line ends at `\n`, `\r\n` or a lone `\r`. Each function is one pass over the bytes.

use crate::text::{Span, after_line_end, line_end};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Offset of the line's first byte.
    pub first: usize,
    /// Offset of the first byte that is neither space nor tab.
    pub start: usize,
    /// Offset after the last byte that is neither space nor tab; at least `start`.
    pub end: usize,
    /// Offset of the next line.
    pub next: usize,
    /// Width of the leading white space; a tab counts as one.
    pub indent: usize,
}

impl Line {
    /// Returns the line without surrounding white space.
    pub fn content(self, text: &str) -> &str {
        Span::new(self.start, self.end).slice(text)
    }

    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Returns the span of the line without trailing white space.
    pub(super) fn whole(self) -> Span {
        Span::new(self.first, self.end)
    }

    pub fn is_blank(self) -> bool {
        self.start == self.end
    }

    /// Returns whether the line is a YAML comment.
    pub fn is_comment(self, text: &str) -> bool {
        self.content(text).starts_with('#')
    }

    /// Returns whether the line is blank or a comment.
    pub(super) fn is_insignificant(self, text: &str) -> bool {
        self.is_blank() || self.is_comment(text)
    }

    /// Returns whether the line is an item of a block list.
    pub fn is_item(self, text: &str) -> bool {
        matches!(self.content(text).as_bytes(), [b'-'] | [b'-', b' ' | b'\t', ..])
    }

    /// Returns the rest of the line from `offset`, with its column as indentation.
    pub(super) fn from(self, offset: usize) -> Self {
        let indent = self.indent + (offset - self.start);
        Self { start: offset, end: self.end.max(offset), indent, ..self }
    }
}

/// Returns the lines of `text` from `start`; a final line end adds no empty line.
pub fn lines(text: &str, start: usize) -> impl Iterator<Item = Line> {
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let stop = line_end(text, at).unwrap_or(text.len());
        let next = after_line_end(text, stop);
        let bytes = &text.as_bytes()[at..stop];
        let indent = bytes.iter().take_while(|byte| is_blank(**byte)).count();
        let trailing = bytes[indent..].iter().rev().take_while(|byte| is_blank(**byte)).count();
        let line = Line { first: at, start: at + indent, end: stop - trailing, next, indent };
        at = next;
        Some(line)
    })
}

/// A key at the start of a line, found without a YAML parser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyHead {
    /// The key, with its quotes.
    pub key: Span,
    /// Offset after the colon.
    pub after: usize,
}

/// Splits a line at the `: ` that ends its key.
pub fn split_key(text: &str, line: Line) -> Option<KeyHead> {
    let bytes = line.content(text).as_bytes();
    let from = match bytes.first()? {
        b'"' | b'\'' => quoted_end(bytes, 0)?,
        b'-' | b'?' | b':' if bytes.get(1).is_none_or(|byte| is_blank(*byte)) => return None,
        b'[' | b']' | b'{' | b'}' | b',' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'@'
        | b'%' | b'`' => return None,
        _ => 0,
    };
    let colon = (from..bytes.len())
        .find(|&at| bytes[at] == b':' && bytes.get(at + 1).is_none_or(|byte| is_blank(*byte)))?;
    if from > 0 && bytes[from..colon].iter().any(|byte| !is_blank(*byte)) {
        return None;
    }
    let comment = bytes[..colon].windows(2).any(|pair| is_blank(pair[0]) && pair[1] == b'#');
    if colon == 0 || comment {
        return None;
    }
    let end = colon - bytes[..colon].iter().rev().take_while(|byte| is_blank(**byte)).count();
    Some(KeyHead { key: Span::new(line.start, line.start + end), after: line.start + colon + 1 })
}

/// Returns whether the line starts with a single-word key, unlike a sentence.
pub(super) fn is_key(text: &str, line: Line) -> bool {
    split_key(text, line).is_some_and(|head| is_word(head.key.slice(text)))
}

/// Returns whether `key` is one word, optionally quoted.
pub(super) fn is_word(key: &str) -> bool {
    let bare = key.trim_matches(['"', '\'']);
    bare.contains(char::is_alphanumeric)
        && bare.chars().all(|it| it.is_alphanumeric() || "_-.$<>".contains(it))
}

/// Returns the index after the closing quote of the one at `start`.
pub(super) fn quoted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' && quote == b'"' {
            at += 2;
        } else if byte != quote {
            at += 1;
        } else if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') {
            at += 2;
        } else {
            return Some(at + 1);
        }
    }
    None
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<&str> {
        split_key(text, lines(text, 0).next()?).map(|head| head.key.slice(text))
    }

    #[test]
    fn key_ends_at_a_colon_followed_by_white_space() {
        assert_eq!(key("name: x"), Some("name"));
        assert_eq!(key("  name:"), Some("name"));
        assert_eq!(key("name :\tx"), Some("name"));
        assert_eq!(key("http://x: y"), Some("http://x"));
        assert_eq!(key("'a: b' : c"), Some("'a: b'"));
        assert_eq!(key("Display Name: x"), Some("Display Name"));
        assert_eq!(key("ふ: x"), Some("ふ"));
    }

    #[test]
    fn lines_without_a_key_are_rejected() {
        for text in [
            "name", "name:x", ": x", "# a: b", "- a: b", "a #b: c", "[a]: b", "\"a\" b: c",
            "\"a: b", "",
        ] {
            assert_eq!(key(text), None, "{text}");
        }
    }

    #[test]
    fn word_has_no_white_space() {
        assert!(is_word("allowed-tools") && is_word("\"a\"") && is_word("<<x") && is_word("ふ"));
        assert!(!is_word("Use when") && !is_word("---") && !is_word("") && !is_word("a/b"));
    }

    #[test]
    fn line_indent_counts_white_space() {
        let text = " \ta b \r\n\n\u{3000}c";
        let all: Vec<_> = lines(text, 0).map(|line| (line.indent, line.content(text))).collect();
        assert_eq!(all, [(2, "a b"), (0, ""), (0, "\u{3000}c")]);
    }
}
