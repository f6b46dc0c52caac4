//! One pattern as written: its braces expanded, cut into segments.

use std::fmt;

use super::glob::Glob;

/// How many patterns one may stand for. Ten braces of two are more than anybody writes.
const MOST: usize = 1024;

/// Patterns without braces that all patterns of one skill may stand for.
pub(super) const MOST_OF_SKILL: usize = 4096;

/// The longest pattern, in bytes.
const LONGEST: usize = 1024;

/// A pattern without braces.
#[derive(Debug, PartialEq)]
pub(super) struct Pattern {
    /// Anchored: one that counts at any depth begins with [`Segment::Any`]. Never ends with it.
    pub(super) segments: Vec<Segment>,
    /// Whether it takes out what earlier ones took in.
    pub(super) negated: bool,
    /// Whether it is about directories, and so only matches what is below.
    pub(super) only_below: bool,
}

/// What one or more names on the way to a file have to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    /// `**`: any number of directories.
    Any,
    /// `*`: one name, whichever.
    One,
    /// This name.
    Literal(Box<str>),
    /// `*` and this, which begins with a dot and has no other sign in it.
    Suffix(Box<str>),
    /// A name of this form.
    Glob(Glob),
}

/// Why a pattern can never match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It begins with `#`, which makes it a comment.
    Comment,
    /// Nothing is left of it.
    Empty,
    /// It ends with a backslash, which escapes nothing.
    Backslash,
    /// A `[` is not closed before the next slash.
    Bracket,
    /// Its braces stand for more patterns than are taken.
    Braces,
    /// It has this many bytes, which is more than are read.
    Long(usize),
    /// The patterns before it stand for as many as one skill may have.
    Many,
    /// It has `.`, `..` or nothing between two slashes, which no path has.
    Dots,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comment => f.write_str("begins with `#`, which makes it a comment"),
            Self::Empty => f.write_str("is empty"),
            Self::Backslash => f.write_str("ends with a backslash, which escapes nothing"),
            Self::Bracket => f.write_str("has a `[` that is not closed before the next slash"),
            Self::Braces => write!(f, "has braces that stand for more than {MOST} patterns"),
            Self::Long(length) => {
                write!(f, "has {length} bytes, and {LONGEST} are the most")
            }
            Self::Many => write!(
                f,
                "stands behind others, with which it stands for more than {MOST_OF_SKILL} patterns"
            ),
            Self::Dots => f.write_str("wants a name that is `.`, `..` or empty, which no path has"),
        }
    }
}

impl std::error::Error for PatternError {}

/// Reads a pattern: as many as its braces stand for.
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
    /// Whether one of its names is none that a path relative to a directory has.
    fn is_nowhere(&self) -> bool {
        let is_step = |it: &Segment| matches!(it, Segment::Literal(name) if matches!(&**name, "" | "." | ".."));
        self.segments.iter().any(is_step)
    }
}

/// Appends what `head` and each meaning of `rest` are together.
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

/// Returns where the first braces that are closed open and close.
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
                    // The first one: whatever opened before it may never be closed.
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

/// Splits the inside of braces at its own commas.
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
        // Any number of any numbers is any number.
        if segment != Segment::Any || segments.last() != Some(&Segment::Any) {
            segments.push(segment);
        }
    }
    if segments.last() == Some(&Segment::Any) {
        // All that is inside, but not the directory itself.
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
    fn braces_stand_for_several_patterns() {
        check("*.{ts,tsx}", &["*.ts", "*.tsx"]);
        check("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]);
        check("{a,b{c,d}}x", &["ax", "bcx", "bdx"]);
        check("{a}", &["a"]);
        check("a{,b}", &["a", "ab"]);
    }

    #[test]
    fn what_is_no_pair_of_braces_stays() {
        check("a{b", &["a{b"]);
        check("a}b", &["a}b"]);
        check("\\{a,b}", &["\\{a,b}"]);
        check("{a{b,c}", &["{ab", "{ac"]);
    }

    #[test]
    fn many_braces_are_refused_before_they_grow() {
        assert_eq!(read(&"{a,b}".repeat(40)), Err(PatternError::Braces));
    }

    #[test]
    fn what_can_never_match_is_refused() {
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
