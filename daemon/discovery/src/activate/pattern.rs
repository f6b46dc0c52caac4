//! Parses one pattern: expands its braces and splits it into segments.

use super::error::PatternError;
use super::glob::Glob;
use super::limits::{LONGEST, MOST};

/// A pattern without braces.
#[derive(Debug, PartialEq)]
pub(super) struct Pattern {
    /// Anchored segments: an unanchored pattern starts with [`Segment::Any`]. Never ends with it.
    pub(super) segments: Vec<Segment>,
    /// True if it excludes paths that earlier patterns include.
    pub(super) negated: bool,
    /// True if it matches only paths below a directory.
    pub(super) only_below: bool,
}

/// Matches one or more path components.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    /// `**`: any number of directories.
    Any,
    /// `*`: any one name.
    One,
    /// This name.
    Literal(Box<str>),
    /// `*` followed by this text, which starts with a dot and has no wildcard.
    Suffix(Box<str>),
    /// A name that matches this glob.
    Glob(Glob),
}

/// Parses a pattern into one pattern per brace expansion.
pub(super) fn read(text: &str) -> Result<Vec<Pattern>, PatternError> {
    if text.len() > LONGEST {
        return Err(PatternError::Long(text.len()));
    }
    if text.starts_with('#') {
        return Err(PatternError::Comment);
    }
    let mut expanded = Vec::new();
    expand(String::new(), text, &mut expanded)?;
    let patterns: Vec<Pattern> = expanded.iter().map(|it| plain(it)).collect::<Result<_, _>>()?;
    if patterns.iter().all(Pattern::is_nowhere) {
        return Err(PatternError::Dots);
    }
    Ok(patterns)
}

impl Pattern {
    /// Returns true if a component is one that no relative path has.
    fn is_nowhere(&self) -> bool {
        let is_step = |it: &Segment| matches!(it, Segment::Literal(name) if matches!(&**name, "" | "." | ".."));
        self.segments.iter().any(is_step)
    }
}

/// Appends `head` followed by each expansion of `rest`.
fn expand(mut head: String, rest: &str, all: &mut Vec<String>) -> Result<(), PatternError> {
    let Some((open, close)) = first_braces(rest) else {
        if all.len() == MOST {
            return Err(PatternError::Braces);
        }
        head.push_str(rest);
        all.push(head);
        return Ok(());
    };
    head.push_str(&rest[..open]);
    for alternative in alternatives(&rest[open + 1..close]) {
        expand(head.clone(), &format!("{alternative}{}", &rest[close + 1..]), all)?;
    }
    Ok(())
}

/// Returns the positions of the first closed pair of braces.
fn first_braces(text: &str) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut outermost = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => open.push(at),
            '}' => {
                if let Some(from) = open.pop() {
                    // The first pair wins; an earlier opening brace may never be closed.
                    outermost = match outermost {
                        Some((begin, _)) if begin < from => outermost,
                        _ => Some((from, at)),
                    };
                    if open.is_empty() {
                        return outermost;
                    }
                }
            }
            _ => {}
        }
    }
    outermost
}

/// Splits the text inside braces at its top-level commas.
fn alternatives(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut escaped) = (0_usize, 0, false);
    let mut all = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[start..]);
    all
}

fn plain(text: &str) -> Result<Pattern, PatternError> {
    let (negated, text) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (only_below, text) = match text.strip_suffix('/') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let anchored = text.contains('/');
    let text = text.strip_prefix('/').unwrap_or(text);
    if text.is_empty() {
        return Err(PatternError::Empty);
    }
    let mut segments = Vec::new();
    if !anchored {
        segments.push(Segment::Any);
    }
    for part in text.split('/') {
        let segment = segment(part)?;
        // Consecutive `**` are equal to one.
        if segment != Segment::Any || segments.last() != Some(&Segment::Any) {
            segments.push(segment);
        }
    }
    if segments.last() == Some(&Segment::Any) {
        // Matches everything inside the directory, but not the directory itself.
        segments.push(Segment::One);
    }
    Ok(Pattern { segments, negated, only_below })
}

fn segment(text: &str) -> Result<Segment, PatternError> {
    let is_sign = |c: char| matches!(c, '*' | '?' | '[' | '\\');
    if text == "**" {
        return Ok(Segment::Any);
    }
    if !text.contains(is_sign) {
        return Ok(Segment::Literal(text.into()));
    }
    match text.strip_prefix('*') {
        Some("") => return Ok(Segment::One),
        Some(rest) if rest.starts_with('.') && !rest.contains(is_sign) => {
            return Ok(Segment::Suffix(rest.into()));
        }
        Some(_) | None => {}
    }
    Glob::new(text).map(Segment::Glob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut all = Vec::new();
        expand(String::new(), text, &mut all).unwrap();
        assert_eq!(all, expected, "{text}");
    }

    #[test]
    fn braces_expand_to_several_patterns() {
        check("*.{ts,tsx}", &["*.ts", "*.tsx"]);
        check("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]);
        check("{a,b{c,d}}x", &["ax", "bcx", "bdx"]);
        check("{a}", &["a"]);
        check("a{,b}", &["a", "ab"]);
    }

    #[test]
    fn unpaired_and_escaped_braces_are_literal() {
        check("a{b", &["a{b"]);
        check("a}b", &["a}b"]);
        check("\\{a,b}", &["\\{a,b}"]);
        check("{a{b,c}", &["{ab", "{ac"]);
    }

    #[test]
    fn exponential_brace_expansion_is_refused() {
        assert_eq!(read(&"{a,b}".repeat(40)), Err(PatternError::Braces));
    }

    #[test]
    fn pattern_that_can_never_match_is_refused() {
        for (text, error) in [
            ("# no", PatternError::Comment),
            ("", PatternError::Empty),
            ("/", PatternError::Empty),
            ("a\\", PatternError::Backslash),
            ("a[b/c]", PatternError::Bracket),
            (".", PatternError::Dots),
            ("./src/a.ts", PatternError::Dots),
            ("src//a.ts", PatternError::Dots),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }
}
