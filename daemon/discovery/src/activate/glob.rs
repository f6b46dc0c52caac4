//! Wildcard patterns for one path component: `*`, `?`, `[a-z]` and escapes, without regard to case.
//!
//! A backslash before a letter has its meaning in a regular expression (`\d`, `\b`), and a bracket
//! cannot be negated: `!` and `^` stand for themselves in it.

use super::error::PatternError;
use super::fold::{fold, upper};

/// A pattern for one path component.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Glob {
    /// Literal text that every match starts with.
    prefix: Box<[u8]>,
    tokens: Box<[GlobToken]>,
}

/// One element of a pattern.
#[derive(Clone, Debug, PartialEq)]
enum GlobToken {
    /// This text.
    Text(Box<[u8]>),
    /// Any text, including none.
    Star,
    /// Any one character.
    One,
    /// One character inside these ranges, or outside all of them if negated.
    Class { negated: bool, ranges: Box<[(char, char)]> },
    /// The start or end of a word, or any other position if negated.
    Boundary { negated: bool },
}

impl Glob {
    /// Parses a pattern that may contain wildcards and escapes.
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        let mut tokens: Vec<GlobToken> = Vec::new();
        let mut literal = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let token = match c {
                '\\' => match escape(&mut chars)? {
                    Escape::Literal(c) => {
                        literal.push(c);
                        continue;
                    }
                    Escape::Token(token) => token,
                },
                '*' => GlobToken::Star,
                '?' => GlobToken::One,
                '[' => class(&mut chars)?,
                c => {
                    literal.push(c);
                    continue;
                }
            };
            if !literal.is_empty() {
                tokens.push(text(&std::mem::take(&mut literal)));
            }
            if token != GlobToken::Star || tokens.last() != Some(&GlobToken::Star) {
                tokens.push(token);
            }
        }
        if !literal.is_empty() {
            tokens.push(text(&literal));
        }
        let prefix = match tokens.first() {
            Some(GlobToken::Text(text)) => text.clone(),
            Some(_) | None => Box::default(),
        };
        if !prefix.is_empty() {
            tokens.remove(0);
        }
        Ok(Self { prefix, tokens: tokens.into() })
    }

    /// Returns a name that matches, with `fill` in place of each star; `None` if none is found.
    pub(super) fn sample(&self, fill: &str) -> Option<String> {
        let mut name = String::from_utf8_lossy(&self.prefix).into_owned();
        for token in &self.tokens {
            match token {
                GlobToken::Text(text) => name.push_str(&String::from_utf8_lossy(text)),
                GlobToken::Star => name.push_str(fill),
                GlobToken::One => name.push('x'),
                GlobToken::Class { negated: false, ranges } => name.push(ranges.first()?.0),
                GlobToken::Class { negated: true, ranges } => {
                    let is_out = |c: &char| !ranges.iter().any(|(a, b)| (*a..=*b).contains(c));
                    name.push(['x', 'X', '0', '-', 'é'].into_iter().find(is_out)?);
                }
                GlobToken::Boundary { .. } => {}
            }
        }
        self.matches(name.as_bytes()).then_some(name)
    }

    /// Returns true if a folded name matches. Takes at most the product of both lengths.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        let Some(mut rest) = name.strip_prefix(&*self.prefix) else { return false };
        let mut tokens = &*self.tokens;
        // State to resume from if the tokens after the last star do not match here.
        let mut again: Option<(&[GlobToken], &[u8])> = None;
        loop {
            match tokens.split_first() {
                Some((GlobToken::Star, [])) => return true,
                Some((GlobToken::Star, after)) => {
                    again = Some((after, rest));
                    tokens = after;
                    continue;
                }
                Some((GlobToken::Boundary { negated }, after))
                    if is_boundary(name, name.len() - rest.len()) != *negated =>
                {
                    tokens = after;
                    continue;
                }
                Some((token, after)) => {
                    if let Some(left) = token.take(rest) {
                        tokens = after;
                        rest = left;
                        continue;
                    }
                }
                None if rest.is_empty() => return true,
                None => {}
            }
            let Some((after, from)) = again else { return false };
            let Some((_, later)) = from.split_first() else { return false };
            again = Some((after, later));
            tokens = after;
            rest = later;
        }
    }
}

impl GlobToken {
    /// Returns the rest of a name after this token, which is not a star.
    fn take<'a>(&self, name: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::Text(text) => name.strip_prefix(&**text),
            Self::Star => Some(name),
            // A position that is no boundary.
            Self::Boundary { .. } => None,
            Self::One => first(name).map(|(_, rest)| rest),
            Self::Class { negated, ranges } => {
                let (c, rest) = first(name)?;
                let is_in = |c: char| ranges.iter().any(|(a, b)| (*a..=*b).contains(&c));
                let is_in = c.is_some_and(|c| is_in(c) || is_in(upper(c)));
                (is_in != *negated).then_some(rest)
            }
        }
    }
}

/// Returns the first character of a name and the rest. A byte that is not UTF-8 counts as one
/// unknown character.
fn first(name: &[u8]) -> Option<(Option<char>, &[u8])> {
    let lead = *name.first()?;
    if lead.is_ascii() {
        return Some((Some(char::from(lead)), &name[1..]));
    }
    for length in 2..=4.min(name.len()) {
        if let Ok(text) = std::str::from_utf8(&name[..length]) {
            return Some((text.chars().next(), &name[length..]));
        }
    }
    Some((None, &name[1..]))
}

/// Returns the token of a literal text.
fn text(literal: &str) -> GlobToken {
    GlobToken::Text(fold(literal.as_bytes()).into())
}

/// Returns true if a word starts or ends at a position of a name.
fn is_boundary(name: &[u8], at: usize) -> bool {
    let is_word = |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    is_word(at.checked_sub(1).and_then(|it| name.get(it))) != is_word(name.get(at))
}

/// Meaning of an escaped character.
enum Escape {
    Literal(char),
    Token(GlobToken),
}

/// Parses an escape after its backslash.
fn escape(chars: &mut std::str::Chars<'_>) -> Result<Escape, PatternError> {
    const WORD: [(char, char); 4] = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    const DIGIT: [(char, char); 1] = [('0', '9')];
    const BLANK: [(char, char); 3] = [('\t', '\r'), (' ', ' '), ('\u{a0}', '\u{a0}')];
    let class = |ranges: &[(char, char)], negated| {
        Ok(Escape::Token(GlobToken::Class { negated, ranges: ranges.into() }))
    };
    match chars.next().ok_or(PatternError::Backslash)? {
        '?' => Err(PatternError::QuestionMark),
        'b' => Ok(Escape::Token(GlobToken::Boundary { negated: false })),
        'B' => Ok(Escape::Token(GlobToken::Boundary { negated: true })),
        c @ ('d' | 'D') => class(&DIGIT, c == 'D'),
        c @ ('w' | 'W') => class(&WORD, c == 'W'),
        c @ ('s' | 'S') => class(&BLANK, c == 'S'),
        't' => Ok(Escape::Literal('\t')),
        'n' => Ok(Escape::Literal('\n')),
        'v' => Ok(Escape::Literal('\u{b}')),
        'f' => Ok(Escape::Literal('\u{c}')),
        'r' => Ok(Escape::Literal('\r')),
        c => Ok(Escape::Literal(c)),
    }
}

/// Parses a bracket class after its `[`.
fn class(chars: &mut std::str::Chars<'_>) -> Result<GlobToken, PatternError> {
    let (inside, rest) = chars.as_str().split_once(']').ok_or(PatternError::Bracket)?;
    if inside.is_empty() {
        return Err(PatternError::Bracket);
    }
    *chars = rest.chars();
    let inside: Vec<char> = inside.chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&from) = inside.get(at) {
        if let (Some('-'), Some(&to)) = (inside.get(at + 1), inside.get(at + 2)) {
            // A reversed range matches nothing.
            ranges.push((from, to));
            at += 3;
        } else {
            ranges.push((from, from));
            at += 1;
        }
    }
    Ok(GlobToken::Class { negated: false, ranges: ranges.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, matching: &[&str], others: &[&str]) {
        let glob = Glob::new(glob).unwrap();
        for name in matching {
            assert!(glob.matches(name.as_bytes()), "{glob:?} matches {name}");
        }
        for name in others {
            assert!(!glob.matches(name.as_bytes()), "{glob:?} does not match {name}");
        }
    }

    #[test]
    fn wildcards_classes_and_escapes_match() {
        check("a*c", &["ac", "abc", "abcc"], &["a", "acb", "bac"]);
        check("*b*", &["b", "abc"], &["", "ac"]);
        check("?", &["a", "\u{e9}", "\u{1f600}"], &["", "ab"]);
        check("a?c*e", &["abce", "abcde"], &["ace", "abc"]);
        check("[A-C]x", &["ax", "cx"], &["dx", "x"]);
        check("[!a-c]x", &["ax", "!x"], &["dx", "^x"]);
        check("[^a]", &["a", "^"], &["b"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("[c-a]", &[], &["a", "b", "c", "-"]);
        check("\\*", &["*"], &["a", "\\*"]);
        check("a**b", &["ab", "axb"], &["a"]);
    }

    #[test]
    fn escaped_letters_are_classes_and_boundaries() {
        check("\\d\\D", &["1a"], &["11", "aa"]);
        check("a\\b*", &["a", "a.ts"], &["ab"]);
        check("a\\Bb", &["ab"], &["a"]);
        check("\\w\\s\\W", &["a .", "_\t-"], &["a a"]);
        check("\\q\\.\\\\", &["q.\\"], &["q\\"]);
    }

    #[test]
    fn many_stars_match_in_polynomial_time() {
        let glob = Glob::new(&"a*".repeat(50)).unwrap();
        assert!(!glob.matches("a".repeat(49).as_bytes()));
        let glob = Glob::new(&format!("{}b", "*a".repeat(30))).unwrap();
        assert!(!glob.matches("a".repeat(4000).as_bytes()));
    }

    #[test]
    fn invalid_utf8_byte_matches_as_one_character() {
        assert!(Glob::new("a?b").unwrap().matches(b"a\xffb"));
        assert!(Glob::new("a\\Wb").unwrap().matches(b"a\xffb"));
        assert!(!Glob::new("a[x]b").unwrap().matches(b"a\xffb"));
    }
}
