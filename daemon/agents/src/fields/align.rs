//! Maps bytes of a scalar's text to source spans ([`Alignment`]).
//!
//! YAML folds lines, replaces escapes and removes indentation. To locate one word of the text in
//! the source, both are walked side by side: white space against white space, an escape against its
//! value, other characters one by one. A scalar that cannot be aligned is located as a whole.

use skills_syntax::parse::{ScalarStyle, Value, ValueKind};
use skills_syntax::text::Span;

/// The source spans of a text.
pub(super) enum Alignment {
    /// The source equals the text, from this offset on.
    Direct(usize),
    /// The span in the source of each byte of the text.
    Bytes(Vec<Span>),
    /// Only the span of the whole scalar is known.
    Whole(Span),
}

impl Alignment {
    /// Aligns the text of a scalar with its source.
    pub(super) fn new(value: &Value, source: &str) -> Self {
        let ValueKind::Scalar { style, text } = &value.kind else {
            return Self::Whole(value.span);
        };
        let inside = inside(value.span, *style, source);
        if inside.slice(source) == text {
            return Self::Direct(inside.start);
        }
        let walk = AlignCursor { source, at: inside.start, end: inside.end, style: *style };
        walk.along(text).map_or(Self::Whole(value.span), Self::Bytes)
    }

    /// Returns the source span of the bytes from `start` to `end`.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        match self {
            Self::Direct(offset) => Span::new(offset + start, offset + end),
            Self::Bytes(bytes) if start < end && end <= bytes.len() => {
                Span::new(bytes[start].start, bytes[end - 1].end)
            }
            Self::Bytes(bytes) => bytes.first().copied().unwrap_or_default(),
            Self::Whole(span) => *span,
        }
    }
}

/// Returns the content of a scalar: without quotes, without a block's header.
fn inside(span: Span, style: ScalarStyle, source: &str) -> Span {
    match style {
        ScalarStyle::Plain => span,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
            Span::new(span.start + 1, span.end.saturating_sub(1))
        }
        ScalarStyle::Literal | ScalarStyle::Folded => {
            let header = span.slice(source).find('\n').map_or(span.len(), |at| at + 1);
            Span::new(span.start + header, span.end)
        }
    }
}

/// A cursor in the source of a scalar that advances with its text.
struct AlignCursor<'a> {
    source: &'a str,
    at: usize,
    end: usize,
    style: ScalarStyle,
}

impl AlignCursor<'_> {
    fn along(mut self, text: &str) -> Option<Vec<Span>> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut blank: Option<Span> = None;
        // A block scalar begins with indentation, which is not part of the text.
        if !text.starts_with(char::is_whitespace) {
            self.white_space();
        }
        for c in text.chars() {
            self.joined_lines();
            let span = if self.escapes() {
                blank = None;
                self.escape(c)?
            } else if c.is_whitespace() {
                // A run of white space corresponds to a run of white space of any length.
                let run = match blank {
                    Some(run) => run,
                    None => self.white_space(),
                };
                // The last line break of a block scalar is not in its span.
                if run.is_empty() && self.at < self.end {
                    return None;
                }
                blank = Some(run);
                run
            } else {
                blank = None;
                self.character(c)?
            };
            bytes.extend(std::iter::repeat_n(span, c.len_utf8()));
        }
        Some(bytes)
    }

    fn rest(&self) -> &str {
        Span::new(self.at, self.end).slice(self.source)
    }

    fn take(&mut self, length: usize) -> Span {
        let start = self.at;
        self.at += length;
        Span::new(start, self.at)
    }

    fn white_space(&mut self) -> Span {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start().len();
        self.take(length)
    }

    fn escapes(&self) -> bool {
        self.style == ScalarStyle::DoubleQuoted && self.rest().starts_with('\\')
    }

    /// Skips a `\` at the end of a line, which joins it with the next line.
    fn joined_lines(&mut self) {
        while self.escapes() && self.rest()[1..].starts_with(['\n', '\r']) {
            self.take(1);
            self.white_space();
        }
    }

    fn character(&mut self, c: char) -> Option<Span> {
        if self.style == ScalarStyle::SingleQuoted && c == '\'' && self.rest().starts_with("''") {
            return Some(self.take(2));
        }
        self.rest().starts_with(c).then(|| self.take(c.len_utf8()))
    }

    /// Skips an escape whose value is `c`.
    fn escape(&mut self, c: char) -> Option<Span> {
        let (code, length) = code_unit(self.rest())?;
        if char::from_u32(code) == Some(c) {
            return Some(self.take(length));
        }
        // JSON escapes characters above U+FFFF as two code units.
        let (low, more) = code_unit(self.rest().get(length..)?)?;
        let mut units = [0; 2];
        let encoded: &[u16] = c.encode_utf16(&mut units);
        let is_pair = encoded.iter().map(|it| u32::from(*it)).eq([code, low]);
        is_pair.then(|| self.take(length + more))
    }
}

/// Returns an escape's code and its length in bytes.
fn code_unit(rest: &str) -> Option<(u32, usize)> {
    let letter = rest.strip_prefix('\\')?.chars().next()?;
    let digits = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let number = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
        return Some((number, 2 + digits));
    }
    let code = match letter {
        '0' => 0,
        'a' => 7,
        'b' => 8,
        't' | '\t' => 9,
        'n' => 10,
        'v' => 11,
        'f' => 12,
        'r' => 13,
        'e' => 27,
        'N' => 0x85,
        '_' => 0xA0,
        'L' => 0x2028,
        'P' => 0x2029,
        ' ' | '"' | '/' | '\\' => letter as u32,
        _ => return None,
    };
    Some((code, 1 + letter.len_utf8()))
}
