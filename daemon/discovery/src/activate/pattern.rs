//! Parses one pattern: expands its braces and splits it into segments.

use super::error::PatternError;
use super::fold::fold;
use super::glob::Glob;
use super::limits::{LONGEST, MAX_EXPANSIONS, MOST_OF_SKILL};

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
    let expanded = expanded(text)?;
    let mut patterns = Vec::new();
    let mut refused = None;
    for text in &expanded {
        match plain(text) {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match refused {
        Some(error) if patterns.is_empty() => Err(error),
        _ if patterns.iter().all(Pattern::is_nowhere) => Err(PatternError::Dots),
        _ => Ok(patterns),
    }
}

/// Returns true if patterns restrict a skill to some files. They do not if each is `**` or `/**`.
pub fn is_restriction<'a>(patterns: impl IntoIterator<Item = &'a str>) -> bool {
    let restricts = |it: &String| !matches!(without_everything_below(it), "" | "**");
    let mut n_expanded = 0;
    patterns.into_iter().any(|it| {
        let Ok(all) = expanded(it) else { return true };
        n_expanded += all.len();
        // Patterns beyond the limit match nothing.
        n_expanded > MOST_OF_SKILL || all.iter().any(restricts)
    })
}

/// Returns a pattern without a final `/**`, because everything below a match matches.
fn without_everything_below(text: &str) -> &str {
    text.strip_suffix("/**").unwrap_or(text)
}

/// Returns the expansions of a pattern's braces. The limit on its length bounds the recursion.
fn expanded(text: &str) -> Result<Vec<String>, PatternError> {
    if text.len() > LONGEST {
        return Err(PatternError::Long(text.len()));
    }
    let mut all = Vec::new();
    expand(text, &mut all)?;
    Ok(all)
}

impl Pattern {
    /// Returns true if a component is one that no relative path has.
    fn is_nowhere(&self) -> bool {
        let is_step = |it: &Segment| matches!(it, Segment::Literal(name) if matches!(&**name, "" | "." | ".."));
        self.segments.iter().any(is_step)
    }
}

/// Appends each expansion of a pattern's braces. The first `{` and the first `}` after it enclose
/// the alternatives; there is no nesting and no escape.
fn expand(text: &str, all: &mut Vec<String>) -> Result<(), PatternError> {
    let open = text.find('{');
    let close = open.and_then(|open| Some(open + text[open..].find('}')?));
    let (Some(open), Some(close)) = (open, close) else { return push(text.to_owned(), all) };
    if close == open + 1 {
        return push(text.to_owned(), all);
    }
    for alternative in text[open + 1..close].split(',') {
        let alternative = alternative.trim();
        expand(&format!("{}{alternative}{}", &text[..open], &text[close + 1..]), all)?;
    }
    Ok(())
}

fn push(text: String, all: &mut Vec<String>) -> Result<(), PatternError> {
    if all.len() == MAX_EXPANSIONS {
        return Err(PatternError::Braces);
    }
    all.push(text);
    Ok(())
}

fn plain(text: &str) -> Result<Pattern, PatternError> {
    let text = without_everything_below(text);
    if text.starts_with('#') {
        return Err(PatternError::Comment);
    }
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
    if text.is_empty() && negated && !anchored && !only_below {
        // Excludes everything.
        return Ok(Pattern { segments: vec![Segment::Any, Segment::One], negated, only_below });
    }
    if text.is_empty() {
        return Err(PatternError::Empty);
    }
    let mut segments = Vec::new();
    if !anchored {
        segments.push(Segment::Any);
    }
    // The agent's library reads an escaped star at the end as a wildcard.
    let unescaped = text.strip_suffix("\\*").map(|it| format!("{it}*"));
    for part in unescaped.as_deref().unwrap_or(text).split('/') {
        let segment = segment(part)?;
        // Consecutive `**` are equal to one.
        if segment != Segment::Any || segments.last() != Some(&Segment::Any) {
            segments.push(segment);
        }
    }
    if only_below && segments.len() > 1 && segments.last() == Some(&Segment::Any) {
        // The directory itself matches, and everything below it.
        segments.pop();
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
        return Ok(Segment::Literal(folded(text)));
    }
    match text.strip_prefix('*') {
        Some("") => return Ok(Segment::One),
        Some(rest) if rest.starts_with('.') && !rest.contains(is_sign) => {
            return Ok(Segment::Suffix(folded(rest)));
        }
        Some(_) | None => {}
    }
    Glob::new(text).map(Segment::Glob)
}

fn folded(text: &str) -> Box<str> {
    String::from_utf8_lossy(&fold(text.as_bytes())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(expanded(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn braces_expand_to_several_patterns() {
        check("*.{ts,tsx}", &["*.ts", "*.tsx"]);
        check("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]);
        check("{a,b{c,d}}x", &["a}x", "bcx", "d}x"]);
        check("{a}", &["a"]);
        check("a{,b}", &["a", "ab"]);
    }

    #[test]
    fn unpaired_and_empty_braces_are_literal() {
        check("a{b", &["a{b"]);
        check("a}b", &["a}b"]);
        check("a{}{b,c}", &["a{}{b,c}"]);
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
