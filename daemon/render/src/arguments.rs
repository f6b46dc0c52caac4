//! Splits a skill's raw argument text into words, by each agent's rules.
//!
//! No rule expands anything: a `$` in an argument is a `$`.

use std::collections::BTreeMap;

/// Splits like a shell: white space separates, quotes and backslashes keep together. With an
/// unclosed quote, white space alone separates.
pub(super) fn shell_words(text: &str) -> Vec<String> {
    quoted(text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect())
}

fn quoted(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // `None` between words, since `''` is a word.
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            // A trailing backslash is literal.
            '\\' => word.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Assigns the words of a raw text to named arguments in order; the last argument takes the rest.
/// Arguments without a word are omitted.
pub fn named_arguments(raw: &str, names: impl Iterator<Item = String>) -> BTreeMap<String, String> {
    let mut names: Vec<_> = names.collect();
    let mut words = shell_words(raw);
    if words.len() > names.len() && !names.is_empty() {
        let rest = words.split_off(names.len() - 1).join(" ");
        words.push(rest);
    }
    names.truncate(words.len());
    names.into_iter().zip(words).collect()
}

/// Splits like opencode's slash commands: a quoted part or `[Image 1]` is an argument of its own,
/// and backslashes are literal.
pub(super) fn slash_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => match rest[1..].find(first) {
                Some(end) => {
                    words.push(rest[1..=end].to_owned());
                    end + 2
                }
                // A single quote character is not part of any argument.
                None => 1,
            },
            _ if first.is_whitespace() => first.len_utf8(),
            '[' if let Some(length) = image(rest) => {
                words.push(rest[..length].to_owned());
                length
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || c == '"' || c == '\'';
                let end = rest.find(ends).unwrap_or(rest.len());
                words.push(rest[..end].to_owned());
                end
            }
        };
        rest = &rest[length..];
    }
    words
}

/// Returns the length of an image's placeholder at the start of a text, such as `[Image 1]`.
fn image(text: &str) -> Option<usize> {
    let head = text.get(..6).filter(|it| it.eq_ignore_ascii_case("[Image"))?;
    let behind = text[head.len()..].trim_start();
    let after = behind.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_image = behind.len() < text.len() - head.len() && after.len() < behind.len();
    let after = after.strip_prefix(']').filter(|_| is_image)?;
    Some(text.len() - after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_follow_shell_quoting() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(shell_words(text), expected, "{text}");
        check("", &[]);
        check("  a  b\tc\n", &["a", "b", "c"]);
        check("\"a b\" 'c d' e", &["a b", "c d", "e"]);
        check("a\"b c\"'d e'f", &["ab cd ef"]);
        check("'' \"\"", &["", ""]);
        check("a\\ b \\'c \"\\\"d\\n\"", &["a b", "'c", "\"d\\n"]);
        check("$HOME `x` #1", &["$HOME", "`x`", "#1"]);
        check("it's fine", &["it's", "fine"]);
        check("a\\", &["a\\"]);
    }

    #[test]
    fn words_are_assigned_to_named_arguments() {
        let given = |raw: &str| {
            let names = ["a", "b"].map(str::to_owned).into_iter();
            named_arguments(raw, names).into_values().collect::<Vec<_>>()
        };
        assert_eq!(given(""), [""; 0]);
        assert_eq!(given("x"), ["x"]);
        assert_eq!(given("'x y' z w"), ["x y", "z w"]);
        assert!(named_arguments("x", std::iter::empty()).is_empty());
    }

    #[test]
    fn slash_words_follow_opencode_quoting() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(slash_words(text), expected, "{text}");
        check("a  b", &["a", "b"]);
        check("\"a b\" 'c d'e", &["a b", "c d", "e"]);
        check("it's ä", &["it", "s", "ä"]);
        check("''", &[""]);
        check("see [Image 1] [image  22]x", &["see", "[Image 1]", "[image  22]", "x"]);
        check("[Image] [Image x] a[Image 1]", &["[Image]", "[Image", "x]", "a[Image", "1]"]);
    }
}
