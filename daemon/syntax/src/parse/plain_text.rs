//! Reads an invalid YAML value as plain text.
//!
//! Works on the lines of one value. Only line breaks, outer quotes, block headers and NUL bytes are
//! dropped.

use crate::diagnostic::Diagnostic;
use crate::parse::annotations::Annotations;
use crate::parse::error::{YamlError, YamlErrorKind};
use crate::parse::line::{Line, lines, quoted_end};
use crate::parse::tree::{Entry, ScalarStyle, Value, ValueKind};
use crate::parse::{events, yaml_diagnostics};
use crate::text::Span;

/// A value read as text.
pub(super) struct PlainText {
    pub(super) value: Value,
    /// The comment lines inside it.
    pub(super) comments: Vec<Span>,
}

/// Reads `lines`, the first of which starts with the value, as one text.
pub(super) fn read(text: &str, lines: &[Line]) -> PlainText {
    let first = lines[0];
    if let Some(header) = block_header(first.content(text)) {
        return below_header(text, lines, header);
    }
    let leaf = prose(text, lines);
    let span = leaf.value.span;
    let value = parse_alone(text, span).unwrap_or_else(|| {
        let joined = leaf.value.as_str().map(unquote).unwrap_or_default();
        Value::plain(span, joined)
    });
    PlainText { value, comments: leaf.comments }
}

/// Reads a value that starts with `|` or `>`.
fn below_header(text: &str, lines: &[Line], header: &str) -> PlainText {
    let first = lines[0];
    let behind = first.content(text)[header.len()..].trim_start();
    if behind.is_empty() {
        return PlainText { value: block(text, lines, header), comments: Vec::new() };
    }
    let mut lines = lines.to_vec();
    lines[0] = first.from(first.end - behind.len());
    let mut leaf = prose(text, &lines);
    leaf.value.span.start = first.start;
    leaf
}

/// Returns the diagnostic for a value that was read as text.
pub(super) fn diagnose(text: &str, value: &Value, error: &YamlError) -> Diagnostic {
    use YamlErrorKind as Kind;
    let written = value.span.slice(text);
    let first = Span::new(value.span.start, value.span.start + 1);
    let line_end = value.span.start + written.find(['\n', '\r']).unwrap_or(written.len());
    let on_first_line = Span::new(value.span.start, line_end);
    match (written.as_bytes().first(), error.kind) {
        (
            _,
            Kind::TooDeep | Kind::ControlCharacter(_) | Kind::TabIndentation | Kind::ByteOrderMark,
        )
        | (Some(b'"' | b'\''), Kind::TextAfterQuote) => yaml_diagnostics::syntax_error(error),
        (Some(b'"'), Kind::BadEscape) => {
            let span = bad_escape(written).map_or(error.span, |at| at.moved(value.span.start));
            yaml_diagnostics::syntax_error(&YamlError::new(Kind::BadEscape, span))
        }
        (Some(b'"' | b'\''), kind) => match open_at_end(written) {
            Some(true) => {
                yaml_diagnostics::syntax_error(&YamlError::new(Kind::UnclosedQuote, on_first_line))
            }
            Some(false) if written.contains(['\n', '\r']) => {
                yaml_diagnostics::unindented_in_quotes(second_line(text, value.span))
            }
            None if kind == Kind::UnquotedColon => {
                yaml_diagnostics::syntax_error(&YamlError::new(Kind::TextAfterQuote, error.span))
            }
            Some(false) | None => yaml_diagnostics::syntax_error(error),
        },
        (Some(open @ (b'[' | b'{')), _) => match open_at_end(written) {
            Some(true) => {
                let open = char::from(*open);
                yaml_diagnostics::syntax_error(&YamlError::new(
                    Kind::UnclosedBracket(open),
                    on_first_line,
                ))
            }
            None => yaml_diagnostics::unquoted_start(first, first.slice(text)),
            Some(false) => yaml_diagnostics::syntax_error(error),
        },
        (Some(b'*' | b'&' | b'!' | b'@' | b'`' | b'%' | b','), _) => {
            yaml_diagnostics::unquoted_start(first, first.slice(text))
        }
        _ => yaml_diagnostics::syntax_error(error),
    }
}

/// Returns the first non-blank line of `span` after its first line.
fn second_line(text: &str, span: Span) -> Span {
    let text = &text[..span.end];
    lines(text, span.start).skip(1).find(|line| !line.is_blank()).map_or(span, Line::span)
}

/// Returns the first invalid escape.
fn bad_escape(written: &str) -> Option<Span> {
    let mut characters = written.char_indices();
    while let Some((start, character)) = characters.next() {
        if character == '\\' {
            let (at, escaped) = characters.next()?;
            if !"0abtnvfre \"/\\N_LPxuU\t\n\r".contains(escaped) {
                return Some(Span::new(start, at + escaped.len_utf8()));
            }
        }
    }
    None
}

/// Appends unindented lines to the text of the entry above.
pub(super) fn append(text: &str, entry: &mut Entry, lines: &[Line]) {
    let ValueKind::Scalar { text: value, style } = &mut entry.value.kind else { return };
    if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
        // Text now follows the closing quote.
        *style = ScalarStyle::Plain;
    }
    for line in lines.iter().filter(|line| !line.is_insignificant(text)) {
        value.push(' ');
        value.push_str(line.content(text));
        entry.value.span.end = line.end;
    }
    entry.span.end = entry.value.span.end;
    entry.recovered = true;
}

/// Removes quotes that enclose the text, closed or not.
pub(super) fn unquote(written: &str) -> String {
    let bytes = written.as_bytes();
    let Some(quote @ (b'"' | b'\'')) = bytes.first().copied() else { return written.to_owned() };
    let inner = match quoted_end(bytes, 0) {
        None => &written[1..],
        Some(end) if end == written.len() => &written[1..end - 1],
        Some(end) if bytes.len() > end && bytes.ends_with(&[quote]) && is_inner(written, end) => {
            &written[1..written.len() - 1]
        }
        Some(_) => return written.to_owned(),
    };
    match quote {
        b'"' => inner.replace("\\\"", "\""),
        _ => inner.replace("''", "'"),
    }
}

/// Returns whether the quote or bracket that starts the value is still open at its end; `None` if
/// the value starts with neither or text follows the closing one.
pub(super) fn open_at_end(value: &str) -> Option<bool> {
    let bytes = value.as_bytes();
    let end = match bytes.first()? {
        b'"' | b'\'' => quoted_end(bytes, 0),
        b'[' | b'{' => bracket_end(bytes),
        _ => return None,
    };
    let Some(end) = end else { return Some(true) };
    let rest = value.get(end..)?;
    let visible = rest.trim_start_matches([' ', '\t']);
    let is_comment = visible.len() < rest.len() && visible.starts_with('#');
    (visible.is_empty() || is_comment).then_some(false)
}

/// Returns the index after the bracket that closes the first one.
fn bracket_end(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            // An apostrophe inside a word does not open a quote.
            b'"' | b'\'' if !bytes[at - 2].is_ascii_alphanumeric() => {
                at = quoted_end(bytes, at - 1)?;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 1 => return Some(at),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns whether the quote that ends at `end` belongs to a word inside the text. In `"Say "x"
/// now"` the second quote opens a quotation; in `"x" and "y"` it closes one.
fn is_inner(written: &str, end: usize) -> bool {
    let before =
        written[..end - 1].chars().next_back().is_none_or(|it| it.is_whitespace() || it == '(');
    let after = written[end..].chars().next().is_some_and(char::is_alphanumeric);
    before || after
}

/// Folds the lines of a value as YAML does: joined by one space, with blank lines as line breaks.
/// Comment lines are dropped.
fn prose(text: &str, lines: &[Line]) -> PlainText {
    let mut comments = Vec::new();
    let mut joined = String::new();
    let mut blank_lines = 0;
    let mut end = lines[0].start;
    let base = lines[0].indent;
    for (index, line) in lines.iter().enumerate() {
        if line.is_blank() {
            blank_lines += 1;
        } else if index > 0 && line.is_comment(text) {
            comments.push(line.span());
        } else if index == 0 || !line.is_item(text) || line.indent >= base {
            match (joined.is_empty(), blank_lines) {
                (true, _) => {}
                (false, 0) => joined.push(' '),
                (false, count) => joined.extend(std::iter::repeat_n('\n', count)),
            }
            blank_lines = 0;
            joined.extend(line.content(text).chars().filter(|it| *it != '\0'));
            end = line.end;
        }
    }
    PlainText { value: Value::plain(Span::new(lines[0].start, end), joined), comments }
}

/// Parses a quoted or flow value on its own; it is invalid only because its lines are unindented.
fn parse_alone(text: &str, span: Span) -> Option<Value> {
    if open_at_end(span.slice(text)) != Some(false) {
        return None;
    }
    let value = events::read(text, span, &mut Annotations::default()).ok()??;
    (value.span.start == span.start).then_some(value)
}

/// Returns the block scalar header, `|` or `>` with its indicators.
pub fn block_header(content: &str) -> Option<&str> {
    let rest = content.strip_prefix(['|', '>'])?;
    let indicators =
        rest.bytes().take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
    let header = &content[..=indicators];
    let after = &content[header.len()..];
    if after.trim_start().starts_with('#') {
        return Some(content);
    }
    (after.is_empty() || after.starts_with([' ', '\t'])).then_some(header)
}

/// Reads the lines of a block scalar.
fn block(text: &str, lines: &[Line], header: &str) -> Value {
    let body = &lines[1..];
    let base =
        body.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min().unwrap_or(0);
    let last = body.iter().rposition(|line| !line.is_blank()).map_or(0, |at| at + 1);
    let literal = header.starts_with('|');
    let mut joined = String::new();
    for line in &body[..last] {
        let content = Span::new((line.first + base).min(line.end), line.end).slice(text);
        if !literal && !joined.is_empty() && !joined.ends_with('\n') && !content.is_empty() {
            joined.push(' ');
        }
        joined.extend(content.chars().filter(|it| *it != '\0'));
        if literal || content.is_empty() {
            joined.push('\n');
        }
    }
    while joined.ends_with('\n') {
        joined.pop();
    }
    if !header.contains('-') && !joined.is_empty() {
        joined.push('\n');
    }
    let end = body[..last].last().map_or(lines[0].end, |line| line.end);
    let style = if literal { ScalarStyle::Literal } else { ScalarStyle::Folded };
    let span = Span::new(lines[0].start, end);
    Value { span, kind: ValueKind::Scalar { style, text: joined } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosing_quotes_are_removed() {
        assert_eq!(unquote("plain"), "plain");
        assert_eq!(unquote("\"closed\""), "closed");
        assert_eq!(unquote("\"open"), "open");
        assert_eq!(unquote("'it''s"), "it's");
        assert_eq!(unquote("\"say \"x\" now\""), "say \"x\" now");
        assert_eq!(unquote("\"x\" and \"y\""), "\"x\" and \"y\"");
        assert_eq!(unquote("'it's so'"), "it's so");
        assert_eq!(unquote("\"a\" b"), "\"a\" b");
        assert_eq!(unquote("\"\\\"a\\\" b\""), "\"a\" b");
        assert_eq!(unquote("\""), "");
        assert_eq!(unquote("\"é"), "é");
    }

    #[test]
    fn value_is_open_until_its_quote_or_bracket_closes() {
        assert_eq!(open_at_end("text"), None);
        assert_eq!(open_at_end("\"a"), Some(true));
        assert_eq!(open_at_end("\"a\\\""), Some(true));
        assert_eq!(open_at_end("'a' # b"), Some(false));
        assert_eq!(open_at_end("'a' b"), None);
        assert_eq!(open_at_end("[a, {b: c}]"), Some(false));
        assert_eq!(open_at_end("[a, \"]\"] # x"), Some(false));
        assert_eq!(open_at_end("[it's]"), Some(false));
        assert_eq!(open_at_end("[a]#b"), None);
        assert_eq!(open_at_end("{a: [b]"), Some(true));
    }

    #[test]
    fn invalid_escape_is_located() {
        assert_eq!(bad_escape("\"a\\n \\d\""), Some(Span::new(5, 7)));
        assert_eq!(bad_escape("\"\\é\""), Some(Span::new(1, 4)));
        assert_eq!(bad_escape("\"\\\\d\""), None);
    }

    #[test]
    fn block_header_excludes_following_text() {
        assert_eq!(block_header("|"), Some("|"));
        assert_eq!(block_header(">-2 # x"), Some(">-2 # x"));
        assert_eq!(block_header("| text"), Some("|"));
        assert_eq!(block_header("|text"), None);
        assert_eq!(block_header("text"), None);
    }
}
