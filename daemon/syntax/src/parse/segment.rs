//! Where to cut lines that YAML refuses as a whole: which line starts a piece, how far a piece
//! reaches, what a line without a colon is.
//!
//! These are judgements about how people write, not rules of YAML. When in doubt a line starts a
//! new piece: a sentence that is cut off is reported, a key that was swallowed would be lost.

use crate::parse::keys::Keys;
use crate::parse::line::{Line, is_word, lines, split_key};
use crate::parse::plain_text;
use crate::text::Span;

/// How many of the next pieces may belong to an open bracket or quote.
const MAX_PIECES_JOINED: usize = 16;

/// From how many words on an unindented line is a sentence that goes on, not a key being typed.
const MIN_WORDS_JOINED: usize = 4;

/// Keys that are no fields, and that real files have all the same.
const OTHER_KEYS: [&str; 3] = ["title", "tools", "triggers"];

/// Returns the indices of the lines where a piece of a mapping starts.
pub(super) fn heads(text: &str, lines: &[Line]) -> Vec<usize> {
    let significant = lines.iter().find(|line| !line.is_insignificant(text));
    let base = significant.map_or(0, |line| line.indent);
    let mut heads = Vec::new();
    // Whether a key without a value has keys below it, once that is known: then no item of its own
    // level belongs to it, such as the first dash of the closing line.
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

/// Returns whether a line is a key whose value can only stand below it.
fn is_bare_key(text: &str, line: Line) -> bool {
    split_key(text, line).is_some_and(|it| rest_of(text, line, it.after).is_insignificant(text))
}

/// Returns the first key of a text where it is indented and one below it is less so: each is well
/// alone, and YAML stumbles over the other one.
pub(super) fn indented_first(text: &str, content: Span) -> Option<Span> {
    let mut significant =
        lines(&text[..content.end], content.start).filter(|it| !it.is_insignificant(text));
    let first = significant.next()?;
    let key = split_key(text, first)?.key;
    let is_less = |it: Line| it.indent < first.indent && split_key(text, it).is_some();
    significant.any(is_less).then_some(key)
}

/// Returns whether the line starts an entry, as far as can be told without YAML.
pub(super) fn starts_entry(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let odd = content.starts_with(['[', '{', '"', '\'', '*', '&', '!']) && content.contains(": ");
    odd || content == "?" || content.starts_with("? ") || split_key(text, line).is_some()
}

/// Returns the head number after the pieces that an open bracket or quote reaches over.
///
/// Only a bracket or quote that is closed at the end of a line reaches; one that was just typed
/// does not swallow the keys below.
pub(super) fn joined(text: &str, lines: &[Line], heads: &[usize], at: usize) -> usize {
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
        // Neither reaches over a key, except a bracket after a comma, as JSON does.
        let key = heads.get(next).and_then(|&head| split_key(text, lines[head]));
        let is_json = value.starts_with(['[', '{']) && value.ends_with([',', '[', '{']);
        if !is_json && key.is_some_and(|key| is_word(key.key.slice(text))) {
            return alone;
        }
    }
    alone
}

/// Cuts a piece where keys stand inside its plain value, indented by mistake.
///
/// Returns the indices of their lines: those of the first one's indentation.
pub(super) fn misplaced_keys(text: &str, piece: &[Line], keys: Keys) -> Vec<usize> {
    let Some(head) = split_key(text, piece[0]) else { return Vec::new() };
    let rest = rest_of(text, piece[0], head.after).content(text);
    if rest.is_empty() || rest.starts_with(['|', '>', '"', '\'', '[', '{', '#']) {
        return Vec::new();
    }
    let key = |line: &Line| split_key(text, *line).map(|head| head.key.slice(text));
    let known = piece[1..].iter().find(|line| key(line).is_some_and(|it| is_field(it, keys)));
    let Some(indent) = known.map(|line| line.indent) else { return Vec::new() };
    // What stands beside a field is a key as well, if it is one word.
    let is_beside = |line: &Line| line.indent == indent && key(line).is_some_and(is_word);
    let beside = piece.iter().enumerate().skip(1).filter(|(_, line)| is_beside(line));
    beside.map(|(index, _)| index).collect()
}

/// Returns whether a line without a colon is a sentence that continues the text above it.
pub(super) fn is_continuation(text: &str, above: &str, line: Line, keys: Keys) -> bool {
    let mut words = line.content(text).split_whitespace();
    let first = words.next().unwrap_or_default();
    above.contains(' ') && words.count() + 1 >= MIN_WORDS_JOINED && !looks_like_key(first, keys)
}

/// Returns the word of a line that is a key without its colon.
pub(super) fn key_without_colon(text: &str, line: Line, keys: Keys) -> Option<Span> {
    let content = line.content(text);
    let word = content.split_whitespace().next()?;
    let is_key = is_word(word) && (word == content || looks_like_key(word, keys));
    is_key.then(|| Span::new(line.start, line.start + word.len()))
}

/// Returns key and value of a line `key:value`, whose colon lacks its blank.
pub(super) fn key_without_blank(text: &str, line: Line) -> Option<(Span, Span)> {
    let (key, rest) = line.content(text).split_once(':')?;
    if !is_word(key) || rest.is_empty() || rest.starts_with([' ', '\t']) || rest.starts_with("//") {
        return None;
    }
    let key = Span::new(line.start, line.start + key.len());
    Some((key, Span::new(key.end + 1, line.end)))
}

/// Returns the rest of a line from `after`, without the blanks in front.
pub fn rest_of(text: &str, line: Line, after: usize) -> Line {
    let after = after.min(line.end);
    let rest = Span::new(after, line.end).slice(text);
    line.from(after + rest.len() - rest.trim_start_matches([' ', '\t']).len())
}

/// Whether a first word starts a key, whatever follows: then the line has lost its colon, or the
/// blank behind it.
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
    use crate::parse::test_keys::TEST_KEYS;

    fn all(text: &str) -> Vec<Line> {
        lines(text, 0).collect()
    }

    #[test]
    fn a_piece_starts_at_the_level_of_the_first_key() {
        let text = "# x\n  a: b\n    c\n  - d\n\n  ]\ne: f\n";
        assert_eq!(heads(text, &all(text)), [1, 6]);
    }

    #[test]
    fn an_item_belongs_to_the_key_above_unless_keys_do() {
        let check = |text: &str| heads(text, &all(text));
        assert_eq!(check("a:\n- b\n  c\n- d\n"), [0]);
        assert_eq!(check("a:\n  - b\n- c\n"), [0], "lists are indented unevenly");
        assert_eq!(check("a:\n  b: c\n-"), [0, 2]);
        assert_eq!(check("a: # d\n\n  b:\n    - c\n- d\n"), [0, 4]);
        assert_eq!(check("a: b\n  c: d\n- e\n"), [0], "it may be more of a text");
    }

    #[test]
    fn an_open_bracket_reaches_to_the_end_of_its_list_only() {
        let check = |text: &str| {
            let lines = all(text);
            joined(text, &lines, &heads(text, &lines), 0)
        };
        assert_eq!(check("a: {b: [c],\nd: e}\nf: g\n"), 2);
        assert_eq!(check("a: [b\nd: e]\n"), 1, "no comma: being typed");
        assert_eq!(check("a: [b,\nd: e\nf: g]\n"), 1);
        assert_eq!(check("a: \"b\nc d e\nf\" # x\ng: h\n"), 3);
        assert_eq!(check("a: \"b\nc: d\"\n"), 1);
        assert_eq!(check("a: b\nc: d\n"), 1);
    }

    #[test]
    fn a_line_without_a_colon_is_a_key_or_a_sentence() {
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
