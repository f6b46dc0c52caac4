//! Patterns of names in settings: those of Mistral Vibe.
//!
//! A pattern that begins with `re:` is a regular expression for a whole name, any other one a glob
//! of Python's `fnmatch`; both in any case. Measured on the agent's own functions.

use std::fmt::Write as _;

use regex::bytes::{Regex, RegexBuilder};

use crate::permission::SourceLocation;

/// Maximum bytes of a pattern: an expression is parsed before its compiled size is known.
const MAX_PATTERN: usize = 256;

/// Maximum size of a compiled pattern and of its cache, in bytes.
const MAX_COMPILED: usize = 64 << 10;

/// The patterns of all files.
#[derive(Debug, Default)]
pub(super) struct SkillPatterns {
    pub(super) enabled: Vec<PatternList>,
    pub(super) disabled: Vec<PatternList>,
}

/// The patterns of one list that is not empty.
#[derive(Debug)]
pub(super) struct PatternList {
    pub(super) source: SourceLocation,
    pub(super) patterns: Vec<NamePattern>,
}

/// A pattern of names.
#[derive(Clone, Debug)]
pub(super) struct NamePattern {
    pub(super) text: Box<str>,
    pub(super) source: SourceLocation,
    /// `None` for one that selects nothing.
    pub(super) regex: Option<Regex>,
}

impl NamePattern {
    pub(super) fn is_match(&self, name: &str) -> bool {
        self.regex.as_ref().is_some_and(|it| it.is_match(name.as_bytes()))
    }
}

/// Compiles a pattern; an empty one selects nothing. An error says why a pattern does so.
pub(super) fn compile(pattern: &str) -> Result<Option<Regex>, String> {
    if pattern.is_empty() {
        return Ok(None);
    }
    if pattern.len() > MAX_PATTERN {
        return Err(format!("it is longer than {MAX_PATTERN} bytes"));
    }
    let expression = pattern.strip_prefix("re:").map_or_else(|| fnmatch(pattern), str::to_owned);
    let check = |text: &str| {
        // Names are ASCII, so that one letter is one byte.
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(true).unicode(false);
        builder.size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED);
        builder.build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            _ => "it is no expression that skillsd can evaluate".to_owned(),
        })
    };
    // Alone first: a closing parenthesis must not end the group.
    check(&expression)?;
    check(&format!("\\A(?:{expression})\\z")).map(Some)
}

/// Returns the regular expression of a glob, as Python's `fnmatch` translates it.
fn fnmatch(pattern: &str) -> String {
    let letters: Vec<char> = pattern.chars().collect();
    let mut text = String::from("(?s)");
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        at += 1;
        match letter {
            '*' => text.push_str(".*"),
            '?' => text.push('.'),
            '[' => match class(&letters[at..]) {
                Some((class, length)) => {
                    text.push_str(&class);
                    at += length;
                }
                None => text.push_str("\\["),
            },
            _ => text.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    text
}

/// Returns the class after a bracket with its length, if it is closed.
fn class(letters: &[char]) -> Option<(String, usize)> {
    let negated = letters.first() == Some(&'!');
    let start = usize::from(negated);
    // A bracket in the first place is a letter of the class.
    let end = start + 1 + letters.get(start + 1..)?.iter().position(|it| *it == ']')?;
    let mut class = String::from(if negated { "[^" } else { "[" });
    let mut at = start;
    while at < end {
        let first = letters[at];
        let range = letters[at + 1..end].first() == Some(&'-') && at + 2 < end;
        let last = if range { letters[at + 2] } else { first };
        if first <= last {
            let escaped = |it: char| regex::escape(it.encode_utf8(&mut [0; 4]));
            let _ = write!(class, "{}-{}", escaped(first), escaped(last));
        }
        at += if range { 3 } else { 1 };
    }
    class.push(']');
    // A class of nothing selects nothing, and its opposite any letter.
    Some(match class.as_str() {
        "[]" => ("[^\\s\\S]".to_owned(), end + 1),
        "[^]" => ("[\\s\\S]".to_owned(), end + 1),
        _ => (class, end + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of the agent's own `name_matches`.
    #[test]
    fn patterns_select_what_the_agent_selects() {
        for (pattern, name, expected) in [
            ("alpha", "alpha", true),
            ("ALPHA", "alpha", true),
            ("alp*", "alpine", true),
            ("alp", "alpine", false),
            ("?1", "x1", true),
            ("[ab]lpha", "alpha", true),
            ("[!x]eta", "beta", true),
            ("[!b]eta", "beta", false),
            ("[alpha", "alpha", false),
            ("[a-c]1", "b1", true),
            ("[c-a]1", "b1", false),
            ("[]a]1", "a1", true),
            ("[a^]1", "a1", true),
            ("[a-]1", "-1", true),
            ("a.b", "axb", false),
            ("re:alp.*", "alpine", true),
            ("re:alp", "alpine", false),
            ("re:ALPHA|beta", "beta", true),
            ("re:a|alpha", "alpha", true),
            ("re:\\w+", "x1", true),
            ("", "", false),
        ] {
            let regex = compile(pattern.trim()).unwrap();
            let is_match = regex.is_some_and(|it| it.is_match(name.as_bytes()));
            assert_eq!(is_match, expected, "{pattern} {name}");
        }
        for pattern in ["re:(", "re:a)(", "re:al(?=pha).*", "re:(?:a{99}){999}"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
        let long = format!("re:(?u){}", "\\pL".repeat(100));
        assert_eq!(compile(&long).unwrap_err(), "it is longer than 256 bytes");
    }
}
