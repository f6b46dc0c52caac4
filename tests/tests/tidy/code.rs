//! Rust source reduced to code: without comments, strings and test modules.
//!
//! Purely lexical. It keeps line breaks, so that findings have line numbers.

use std::ops::Range;

/// Returns `text` with comments and the contents of string and character literals replaced by
/// spaces.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = token(rest, code.chars().next_back());
        let (token, after) = rest.split_at(length);
        if length == first.len_utf8() {
            code.push(first);
        } else {
            code.extend(token.chars().map(|c| if c == '\n' { c } else { ' ' }));
        }
        rest = after;
    }
    code
}

/// Returns the string literals of `text`, without quotes, each with the code before it.
pub(crate) fn literals(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = token(&text[at..], text[..at].chars().next_back());
        let literal = &text[at..at + length];
        if length > 1 && literal.ends_with(['"', '#']) && !literal.starts_with('/') {
            let hashes = literal.len() - literal.trim_end_matches('#').len();
            let start = literal.find('"').map_or(0, |it| it + 1);
            found.push((&text[..at], &literal[start..length - hashes - 1]));
        }
        at += length;
    }
    found
}

/// Returns the length in bytes of the comment or literal at the start of `rest`, or of one
/// character.
fn token(rest: &str, before: Option<char>) -> usize {
    let after_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |at| at + 2);
    }
    if !after_word && let Some(length) = raw_string(rest) {
        return length;
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('\'') {
        // A lifetime has no closing quote right after its first character.
        let mut chars = rest.char_indices().skip(1);
        let is_escape = chars.next().is_some_and(|(_, c)| c == '\\');
        let closes = chars.next().is_some_and(|(_, c)| c == '\'');
        return if is_escape || closes { quoted(rest, '\'') } else { 1 };
    }
    rest.chars().next().map_or(0, char::len_utf8)
}

fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - inside.len();
    Some(inside.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

fn quoted(rest: &str, mark: char) -> usize {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == mark {
            return at + 1;
        }
    }
    rest.len()
}

/// Returns `code` (already without comments and strings) with its test modules blanked.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = code.to_owned();
    for range in tests(code).into_iter().rev() {
        let lines = "\n".repeat(code[range.clone()].matches('\n').count());
        kept.replace_range(range, &lines);
    }
    kept
}

/// Returns the number of lines of `code` outside test modules.
pub(crate) fn lines_beside_tests(code: &str) -> usize {
    let in_tests = |range: Range<usize>| code[range].lines().count();
    code.lines().count() - tests(code).into_iter().map(in_tests).sum::<usize>()
}

/// Returns the ranges of items compiled only for tests.
fn tests(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices("#[cfg(test)]") {
        if ranges.last().is_none_or(|last| last.end <= start) {
            ranges.push(start..start + item(&code[start..]));
        }
    }
    ranges
}

/// Returns the length of the item that starts `code`: up to its closing brace, or its semicolon.
fn item(code: &str) -> usize {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the lines, counted from 1, that contain `words` as whole words.
pub(crate) fn lines_with(code: &str, words: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |line: &str, at: usize| {
        let before = line[..at].chars().next_back();
        let after = line[at + words.len()..].chars().next();
        let ends_in_word = words.chars().next_back().is_some_and(is_word);
        let goes_on = ends_in_word && after.is_some_and(is_word);
        !before.is_some_and(is_word) && !goes_on
    };
    let lines = code.lines().enumerate();
    lines
        .filter(|(_, line)| line.match_indices(words).any(|(at, _)| stands_alone(line, at)))
        .map(|(index, _)| index + 1)
        .collect()
}

#[test]
fn code_only_blanks_comments_and_strings() {
    let text =
        "a(\"std::fs\"); // std::env\n/* x\n */ let l: &'a str = r#\"b\"c\"#; '\"'; d('\\'');";
    let code = code_only(text);
    assert!(!code.contains("std::") && !code.contains('c'), "{code}");
    assert!(code.contains("let l: &'a str =") && code.contains("d("), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn without_tests_removes_test_modules_and_keeps_lines() {
    let code = "a\n#[cfg(test)]\nmod tests {\n fn f() { b }\n}\nc\n#[cfg(test)]\nuse d;\ne\n";
    assert_eq!(without_tests(code), "a\n\n\n\n\nc\n\n\ne\n");
    assert_eq!(lines_beside_tests(code), 3);
}

#[test]
fn lines_with_matches_whole_words() {
    assert_eq!(lines_with("xstd::fs\nstd::fs::read\nstd::fsx", "std::fs"), [2]);
    assert_eq!(lines_with("tokio_notify::x\nnotify::Event", "notify::"), [2]);
}
