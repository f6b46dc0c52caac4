//! Text for a terminal: escaped, measured in columns, cut and wrapped.
//!
//! Names, descriptions and paths come from files that anyone may have written, so all of them pass
//! [`plain`] before they are shown: escape sequences must not reach the terminal, and invisible
//! characters must be visible.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anstream::adapter::strip_str;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use skills_syntax::text::{grouped, is_plain_line};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the text on one line, with control and invisible characters escaped.
pub(super) fn plain(text: &str) -> String {
    if is_plain_line(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        push_escaped(word, &mut line);
    }
    line
}

/// Returns a path or another text whose spaces matter, with control and invisible characters
/// escaped.
pub(super) fn plain_exact(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    push_escaped(text, &mut line);
    line
}

fn push_escaped(text: &str, line: &mut String) {
    for c in text.chars() {
        if is_unsafe(c) {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
}

/// Returns a text of several lines: keeps line ends and tabs, escapes other control and invisible
/// characters.
pub(super) fn plain_lines(text: &str) -> String {
    escape_with(text, |it| matches!(it, '\n' | '\t'))
}

/// Returns a text that may contain our colours and links, with other control characters escaped.
pub(super) fn plain_painted(text: &str) -> String {
    escape_with(text, is_styling)
}

/// Returns equal JSON with control and invisible characters in JSON escapes.
pub(super) fn plain_json(text: &str) -> String {
    escape_by(text, is_styling, |c, shown| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

/// Returns whether a character may occur in styled lines. JSON strings contain none of them.
fn is_styling(c: char) -> bool {
    matches!(c, '\n' | '\t' | '\r' | '\u{1b}' | '\u{7}')
}

fn escape_with(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    escape_by(text, is_kept, |c, shown| shown.extend(c.escape_unicode()))
}

fn escape_by(
    text: &str,
    is_kept: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) && !is_kept(c) {
            escape(c, &mut shown);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns whether a character controls a terminal, changes the direction of text or is invisible.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Zero-width characters, fillers, and marks, overrides and isolates of direction.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            // Interlinear annotations, tags, and variation selectors that no emoji uses.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}')
}

/// Characters of a path that a `file://` URL does not encode.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'_').remove(b'-').remove(b'~');

/// Returns a path as the path of a `file://` URL: percent-encodes every byte outside of
/// `A-Za-z0-9/._~-`.
pub(super) fn address_path(path: &Path) -> String {
    percent_encode(path.as_os_str().as_bytes(), PATH).to_string()
}

/// Returns the width of the text in columns, without colours.
pub(super) fn width(text: &str) -> usize {
    if text.contains('\u{1b}') { strip_str(text).to_string().width() } else { text.width() }
}

/// Pads the text with spaces to this many columns.
pub(super) fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Cuts the text to this many columns, with an ellipsis at the end if something is missing.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut left = columns.saturating_sub(1);
    for c in text.chars() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = rest;
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Cuts the start of the text to fit this many columns, with an ellipsis if something is missing.
pub(super) fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = rest;
        start = at;
    }
    format!("…{}", &text[start..])
}

/// Wraps the text at spaces into lines of at most this many columns. Text in backticks, such as a
/// command to copy, is only broken if it is longer than a line.
pub(super) fn wrap(text: &str, columns: Option<usize>) -> Vec<String> {
    let Some(columns) = columns else { return vec![text.to_owned()] };
    // Below this width, wrapped text is unreadable.
    let columns = columns.max(20);
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let words: Vec<_> =
            if width(piece) > columns { piece.split(' ').collect() } else { vec![piece] };
        for word in words {
            let line = lines.last_mut().expect("there is always a line");
            if line.is_empty() {
                line.push_str(word);
            } else if width(line) + 1 + width(word) <= columns {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
    }
    lines
}

/// Breaks lines that are wider than this many columns: at a space, else after a slash, else
/// anywhere. Indents the rest like the line, and counts no colours or links.
pub(super) fn fold(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        push_folded(line, columns, &mut folded);
    }
    folded
}

fn push_folded(line: &str, columns: usize, folded: &mut String) {
    if width(line) <= columns {
        folded.push_str(line);
        return;
    }
    let bare = strip_str(line).to_string();
    let indent = bare.len() - bare.trim_start_matches(' ').len();
    // Leaves room for text after the indentation.
    let indent = indent.min(columns / 2);
    let (mut column, mut is_escape, mut is_address) = (0, false, false);
    // Start of the current line, and the last place to break it with the column after it.
    let mut best: Option<(usize, usize)> = None;
    for c in line.chars() {
        // An escape sequence ends with a letter, or for an address with a backslash or a bell.
        if c == '\u{1b}' {
            is_escape = true;
        } else if is_address {
            (is_escape, is_address) = (false, c != '\\' && c != '\u{7}');
        } else if is_escape {
            is_address = c == ']';
            is_escape = c == '[' || c.is_ascii_digit() || c == ';';
        } else {
            let wide = c.width().unwrap_or(0);
            if column + wide > columns && c != '\n' {
                let (at, after) = best.take().unwrap_or((folded.len(), column));
                let is_space = folded[..at].ends_with(' ');
                let rest = folded.split_off(at);
                folded.truncate(folded.len() - usize::from(is_space));
                folded.push('\n');
                folded.push_str(&" ".repeat(indent));
                folded.push_str(&rest);
                column = indent + column - after;
            }
            column += wide;
            folded.push(c);
            if matches!(c, ' ' | '/') && column > indent + columns / 4 {
                best = Some((folded.len(), column));
            }
            continue;
        }
        folded.push(c);
    }
}

/// Splits a text at spaces outside of backticks.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |c: char| {
        is_quoted ^= c == '`';
        c == ' ' && !is_quoted
    })
}

/// Returns a text after its lead, with the later lines indented by the lead's width.
pub(super) fn hang(lead: &str, text: &str, columns: Option<usize>) -> String {
    format!("{lead}{}", continued(text, width(lead), columns))
}

/// Wraps a text and indents the later lines.
pub(super) fn continued(text: &str, indent: usize, columns: Option<usize>) -> String {
    let lines = wrap(text, columns.map(|columns| columns.saturating_sub(indent)));
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// Joins parts on one line if they fit, and puts each on its own line otherwise.
pub(super) fn join_or_stack(parts: &[String], columns: Option<usize>) -> String {
    let line = parts.join(" · ");
    if columns.is_some_and(|columns| width(&line) > columns) { parts.join("\n") } else { line }
}

/// Returns a number with its noun: `1 skill`, `1,200 skills`.
pub(super) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number)) }
}

/// Formats a size in bytes: `18.3 MiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    if bytes < 1024 {
        return count(bytes, "byte");
    }
    // Tenths, rounded down.
    let mut tenths = bytes * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Formats a duration by its two largest units: `2 h 5 min`.
pub(super) fn duration(seconds: u64) -> String {
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let first = parts.iter().position(|(number, _)| *number > 0).unwrap_or(3);
    let shown = parts[first..].iter().take(2).filter(|(number, _)| *number > 0);
    let words: Vec<String> = shown.map(|(number, unit)| format!("{number} {unit}")).collect();
    if words.is_empty() { "0 s".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use skills_client::directory::shell_word;
    use skills_syntax::quote::quote_word;

    use super::*;

    #[test]
    fn client_library_quotes_shell_words_like_the_daemon() {
        let texts = ["", "a", "-x", "a b", "it's", "é", "日本", "$HOME", "~", "a\nb"];
        let signs = (' '..='\u{ff}').map(String::from);
        for text in texts.map(str::to_owned).into_iter().chain(signs) {
            assert_eq!(shell_word(&text), quote_word(&text), "{text:?}");
        }
        assert_eq!(quote_word("é"), "'é'");
    }

    #[test]
    fn text_in_backticks_is_not_wrapped() {
        let said = "Set it, or run `skillsd trust .` where it lies.";
        let lines = ["Set it, or run", "`skillsd trust .` where", "it lies."];
        assert_eq!(wrap(said, Some(24)), lines);
        let lines = ["Run `sysctl -w", "fs.inotify.max_user_watches=1048576`."];
        assert_eq!(wrap("Run `sysctl -w fs.inotify.max_user_watches=1048576`.", Some(24)), lines);
    }

    #[test]
    fn wide_lines_are_folded_at_spaces_and_slashes() {
        assert_eq!(fold("one two\n", Some(7)), "one two\n");
        assert_eq!(fold("one two three four\nx", Some(10)), "one two\nthree four\nx");
        let path = "  /a-long/path/of/names\n";
        assert_eq!(fold(path, Some(12)), "  /a-long/\n  path/of/\n  names\n");
        assert_eq!(fold("日本語日本語", Some(7)), "日本語\n日本語");
        assert_eq!(fold("\u{1b}[1mabcdef\u{1b}[0m\n", Some(6)), "\u{1b}[1mabcdef\u{1b}[0m\n");
        assert_eq!(fold("\u{1b}[1mabcdef\u{1b}[0m\n", Some(4)), "\u{1b}[1mabcd\nef\u{1b}[0m\n");
        let link = "\u{1b}]8;;file:///a/b c\u{1b}\\abcd\u{1b}]8;;\u{1b}\\";
        assert_eq!(fold(link, Some(4)), link);
        assert_eq!(fold(&format!("{link}ef"), Some(4)), format!("{link}\nef"));
        assert_eq!(fold("one two", None), "one two");
    }

    #[test]
    fn long_text_continues_below_its_lead() {
        let lead = "\u{1b}[2mhint:\u{1b}[0m ";
        let hung = hang(lead, "Make it shorter, or the terminal wider.", Some(30));
        assert_eq!(hung, format!("{lead}Make it shorter, or the\n      terminal wider."));
        let parts = ["one".to_owned(), "another".to_owned()];
        assert_eq!(join_or_stack(&parts, Some(13)), "one · another");
        assert_eq!(join_or_stack(&parts, Some(12)), "one\nanother");
        assert_eq!(join_or_stack(&parts, None), "one · another");
    }

    #[test]
    fn escape_sequences_and_invisible_characters_are_escaped() {
        assert_eq!(plain("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(plain("a\u{202e}b\u{e0041}"), "a\\u{202e}b\\u{e0041}");
        assert_eq!(plain(" two\n  lines\tand\r\ntab "), "two lines and tab");
        assert_eq!(plain_exact("/a  b\n"), "/a  b\\u{a}");
        assert_eq!(plain("émoji 👩‍💻 naïve"), "émoji 👩‍💻 naïve");
        assert_eq!(plain_lines("a\n\tb\r\u{1b}\u{9b}"), "a\n\tb\\u{d}\\u{1b}\\u{9b}");
        assert_eq!(plain_painted("\u{1b}[1ma\u{9b}\u{202e}"), "\u{1b}[1ma\\u{9b}\\u{202e}");
        let json = "{\"a\": \"\u{7f}\u{9b}\u{202e}\u{e0041}é\"}\n";
        assert_eq!(plain_json(json), "{\"a\": \"\\u007f\\u009b\\u202e\\udb40\\udc41é\"}\n");
    }

    #[test]
    fn cut_counts_columns_not_characters() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("ab cd", 4), "ab…");
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(cut_start("abcdef", 6), "abcdef");
        assert_eq!(cut_start("abcdef", 4), "…def");
        assert_eq!(cut_start("日本語", 4), "…語");
    }

    #[test]
    fn wrap_breaks_at_spaces_and_keeps_long_words() {
        let lines = wrap("one two three four five six", Some(20));
        assert_eq!(lines, ["one two three four", "five six"]);
        let lines = wrap("/a/very/long/path/that/is/wider ok", Some(20));
        assert_eq!(lines, ["/a/very/long/path/that/is/wider", "ok"]);
        assert_eq!(wrap("a b", None), ["a b"]);
    }

    #[test]
    fn counts_sizes_and_durations_are_formatted() {
        assert_eq!(count(1, "skill"), "1 skill");
        assert_eq!(count(0, "skill"), "0 skills");
        assert_eq!(size(512), "512 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(19 * 1024 * 1024), "19.0 MiB");
        assert_eq!(size(5000 * 1024 * 1024 * 1024), "5000.0 GiB");
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(59), "59 s");
        assert_eq!(duration(7500), "2 h 5 min");
        assert_eq!(duration(86_400 * 3 + 61), "3 d");
    }
}
