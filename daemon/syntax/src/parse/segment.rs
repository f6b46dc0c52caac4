//! Segments the lines of invalid YAML for recovery: finds the lines that start an entry, the extent
//! of each piece, and the meaning of lines without a colon.
//!
//! These are heuristics about how people write, not rules of YAML. In doubt a line starts a new
//! piece: a sentence that is cut off is reported, but a swallowed key would be lost.

use crate::parse::keys::Keys;
use crate::parse::line::{Line, is_word, lines, split_key};
use crate::parse::plain_text;
use crate::text::Span;

/// Maximum number of following pieces joined to an open bracket or quote.
const MAX_PIECES_JOINED: usize = 16;

/// Minimum number of words on an unindented line that continues a sentence; fewer may be a key
/// being typed.
const MIN_WORDS_JOINED: usize = 4;

/// Keys that are no fields but occur in real files.
const OTHER_KEYS: [&str; 3] = ["title", "tools", "triggers"];

/// Returns the indices of the lines that start a piece of a mapping.
pub(super) fn heads(text: &str, lines: &[Line]) -> Vec<usize> {
    let significant = lines.iter().find(|line| !line.is_insignificant(text));
    let base = significant.map_or(0, |line| line.indent);
    let mut heads = Vec::new();
    // Set once it is known if a key without a value has nested keys. If so, items at its own level
    // do not belong to it, such as the first dash of a closing line being typed.
    let mut has_keys = None;
    for (index, line) in lines.iter().enumerate() {
        if line.is_insignificant(text) {
            continue;
        }
        let closes =
            matches!(line.content(text).as_bytes(), [b']' | b'}', ..] | [b':'] | [b':', b' ', ..]);
        let goes_on = line.is_item(text) && has_keys != Some(true);
        if heads.is_empty() || !(line.indent > base || goes_on || closes) {
            heads.push(index);
            has_keys = (!is_bare_key(text, *line)).then_some(false);
        } else {
            has_keys.get_or_insert_with(|| split_key(text, *line).is_some());
        }
    }
    heads
}

/// Returns whether a line is a key without a value on the same line.
fn is_bare_key(text: &str, line: Line) -> bool {
    split_key(text, line).is_some_and(|it| rest_of(text, line, it.after).is_insignificant(text))
}

/// Returns the first key if it is indented deeper than a later one. Each is valid alone, and YAML
/// reports the later one.
pub(super) fn indented_first(text: &str, content: Span) -> Option<Span> {
    let mut significant =
        lines(&text[..content.end], content.start).filter(|it| !it.is_insignificant(text));
    let first = significant.next()?;
    let key = split_key(text, first)?.key;
    let is_less = |it: Line| it.indent < first.indent && split_key(text, it).is_some();
    significant.any(is_less).then_some(key)
}

/// Returns whether the line starts an entry, judged without a YAML parser.
pub(super) fn starts_entry(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let odd = content.starts_with(['[', '{', '"', '\'', '*', '&', '!']) && content.contains(": ");
    odd || content == "?" || content.starts_with("? ") || split_key(text, line).is_some()
}

/// Returns the index of the head after the pieces that an open bracket or quote spans.
///
/// Only a bracket or quote that is closed at the end of a line spans pieces; one that is being
/// typed does not swallow the keys below.
pub(super) fn joined_until(text: &str, lines: &[Line], heads: &[usize], at: usize) -> usize {
    let alone = at + 1;
    let Some(head) = split_key(text, lines[heads[at]]) else { return alone };
    let start = rest_of(text, lines[heads[at]], head.after).start;
    for next in alone..=heads.len().min(at + MAX_PIECES_JOINED) {
        let end = heads.get(next).copied().unwrap_or(lines.len());
        let value = Span::new(start, lines[end - 1].end).slice(text).trim_end();
        match plain_text::open_at_end(value) {
            Some(false) => return next,
            None => return alone,
            Some(true) => {}
        }
        // A key ends both, except after a comma in a bracket, as in JSON.
        let key = heads.get(next).and_then(|&head| split_key(text, lines[head]));
        let is_json = value.starts_with(['[', '{']) && value.ends_with([',', '[', '{']);
        if !is_json && key.is_some_and(|key| is_word(key.key.slice(text))) {
            return alone;
        }
    }
    alone
}

/// Finds keys inside the plain value of a piece, indented by mistake.
///
/// Returns the indices of their lines, which have the indentation of the first one.
pub(super) fn misplaced_keys(text: &str, piece: &[Line], keys: Keys) -> Vec<usize> {
    let Some(head) = split_key(text, piece[0]) else { return Vec::new() };
    let rest = rest_of(text, piece[0], head.after).content(text);
    if rest.is_empty() || rest.starts_with(['|', '>', '"', '\'', '[', '{', '#']) {
        return Vec::new();
    }
    let key = |line: &Line| split_key(text, *line).map(|head| head.key.slice(text));
    let known = piece[1..].iter().find(|line| key(line).is_some_and(|it| is_field(it, keys)));
    let Some(indent) = known.map(|line| line.indent) else { return Vec::new() };
    // Single-word siblings of a field are keys as well.
    let is_beside = |line: &Line| line.indent == indent && key(line).is_some_and(is_word);
    let beside = piece.iter().enumerate().skip(1).filter(|(_, line)| is_beside(line));
    beside.map(|(index, _)| index).collect()
}

/// Returns whether a line without a colon continues the text above it.
pub(super) fn is_continuation(text: &str, above: &str, line: Line, keys: Keys) -> bool {
    let mut words = line.content(text).split_whitespace();
    let first = words.next().unwrap_or_default();
    above.contains(' ') && words.count() + 1 >= MIN_WORDS_JOINED && !looks_like_key(first, keys)
}

pub(super) fn key_without_colon(text: &str, line: Line, keys: Keys) -> Option<Span> {
    let content = line.content(text);
    let word = content.split_whitespace().next()?;
    let is_key = is_word(word) && (word == content || looks_like_key(word, keys));
    is_key.then(|| Span::new(line.start, line.start + word.len()))
}

/// Returns key and value of a line `key:value` without a space after the colon.
pub(super) fn key_without_blank(text: &str, line: Line) -> Option<(Span, Span)> {
    let (key, rest) = line.content(text).split_once(':')?;
    if !is_word(key) || rest.is_empty() || rest.starts_with([' ', '\t']) || rest.starts_with("//") {
        return None;
    }
    let key = Span::new(line.start, line.start + key.len());
    Some((key, Span::new(key.end + 1, line.end)))
}

/// Returns the rest of a line from `after`, without leading white space.
pub fn rest_of(text: &str, line: Line, after: usize) -> Line {
    let after = after.min(line.end);
    let rest = Span::new(after, line.end).slice(text);
    line.from(after + rest.len() - rest.trim_start_matches([' ', '\t']).len())
}

/// Returns whether the first word of a line is a key that lacks its colon or the space after it.
fn looks_like_key(word: &str, keys: Keys) -> bool {
    let before_colon = word.split_once(':').map_or(word, |(key, _)| key);
    is_field(before_colon, keys)
        || word.contains(['_', '-'])
        || word.starts_with(|it: char| it.is_ascii_digit())
}

fn is_field(key: &str, keys: Keys) -> bool {
    (keys.is_field)(key) || OTHER_KEYS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::line::lines;
    use crate::parse::tests::keys::TEST_KEYS;

    fn all(text: &str) -> Vec<Line> {
        lines(text, 0).collect()
    }

    #[test]
    fn piece_starts_at_the_indentation_of_the_first_key() {
        let text = "# x\n  a: b\n    c\n  - d\n\n  ]\ne: f\n";
        assert_eq!(heads(text, &all(text)), [1, 6]);
    }

    #[test]
    fn item_belongs_to_the_key_above_unless_it_has_nested_keys() {
        let check = |text: &str| heads(text, &all(text));
        assert_eq!(check("a:\n- b\n  c\n- d\n"), [0]);
        assert_eq!(check("a:\n  - b\n- c\n"), [0], "lists are indented unevenly");
        assert_eq!(check("a:\n  b: c\n-"), [0, 2]);
        assert_eq!(check("a: # d\n\n  b:\n    - c\n- d\n"), [0, 4]);
        assert_eq!(check("a: b\n  c: d\n- e\n"), [0], "it may be more of a text");
    }

    #[test]
    fn open_bracket_spans_only_its_own_list() {
        let check = |text: &str| {
            let lines = all(text);
            joined_until(text, &lines, &heads(text, &lines), 0)
        };
        assert_eq!(check("a: {b: [c],\nd: e}\nf: g\n"), 2);
        assert_eq!(check("a: [b\nd: e]\n"), 1, "no comma: being typed");
        assert_eq!(check("a: [b,\nd: e\nf: g]\n"), 1);
        assert_eq!(check("a: \"b\nc d e\nf\" # x\ng: h\n"), 3);
        assert_eq!(check("a: \"b\nc: d\"\n"), 1);
        assert_eq!(check("a: b\nc: d\n"), 1);
    }

    #[test]
    fn line_without_colon_is_a_key_or_a_continuation() {
        let line = |text: &str| lines(text, 0).next().unwrap();
        let check = |text: &str| is_continuation(text, "A sentence", line(text), TEST_KEYS);
        assert!(check("that goes on here"));
        assert!(!check("license Apache 2.0 or so"));
        assert!(!check("some_key with many more words"));
        assert!(!check("license:Apache 2.0 or so"));
        assert!(check("Note:that this goes on"));
        assert!(!check("three words only"));
        assert_eq!(key_without_colon("descr", line("descr"), TEST_KEYS), Some(Span::new(0, 5)));
        assert_eq!(key_without_colon("name x", line("name x"), TEST_KEYS), Some(Span::new(0, 4)));
        assert_eq!(key_without_colon("some text", line("some text"), TEST_KEYS), None);
        assert_eq!(key_without_blank("https://x", line("https://x")), None);
    }
}
