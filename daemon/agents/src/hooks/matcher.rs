//! Parses hook matchers and limits the cost of hostile ones.

use std::fmt;
use std::sync::{Arc, OnceLock};

use fancy_regex::{CompileError, Error, Expr, ParseError, Regex, RegexBuilder};

/// Maximum length of a matcher that is an expression, in bytes.
pub const MAX_MATCHER_BYTES: usize = 1024;

/// Maximum number of matchers of one skill that are expressions.
pub const MAX_EXPRESSIONS: usize = 64;

/// Maximum number of characters in an expression after expanding repetitions.
const MAX_EXPANDED_CHARS: u64 = 1000;

/// The weight of a class such as `[a-z]`.
const SMALL_CLASS: u64 = 4;

/// The weight of a class such as `\w` or `[^a]`, whose automaton is large.
const LARGE_CLASS: u64 = 60;

/// Maximum size of a compiled expression and of its cache, in bytes.
const MAX_COMPILED_BYTES: usize = 1024 * 1024;

/// Maximum number of backtracking steps on one subject. Names of tools are short.
const MAX_BACKTRACKS: usize = 10_000;

/// An expression that is compiled at its first use. Clones share it.
#[derive(Clone, Default)]
pub struct CompiledMatcher(Arc<OnceLock<Option<Regex>>>);

impl fmt::Debug for CompiledMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Compiled").field(&self.0.get().is_some()).finish()
    }
}

/// Always equal: the compiled form depends only on the matcher's text, which is compared
/// separately.
impl PartialEq for CompiledMatcher {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Reason why a matcher's expression is refused. Displayed, it is the end of a sentence.
#[derive(PartialEq, Eq, Debug)]
pub enum MatcherError {
    /// It is no valid regular expression, so no agent matches it.
    Invalid(String),
    /// It exceeds a limit of skillsd. An agent may match it.
    TooLarge(String),
}

impl fmt::Display for MatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Invalid(why) | Self::TooLarge(why)) = self;
        f.write_str(why)
    }
}

impl CompiledMatcher {
    /// Compiles a matcher's expression.
    pub(super) fn new(text: &str) -> Result<Self, MatcherError> {
        let compiled = Self::default();
        if is_expression(text) {
            // Cannot fail: the cell is new.
            let _ = compiled.0.set(Some(compile(text)?));
        }
        Ok(compiled)
    }

    /// Returns a matcher's expression, or `None` if it is invalid or exceeds a limit.
    fn get(&self, text: &str) -> Option<&Regex> {
        self.0.get_or_init(|| compile(text).ok()).as_ref()
    }
}

pub(super) enum Matcher<'a> {
    All,
    Words(Vec<&'a str>),
    /// A regular expression, compiled elsewhere.
    Expression,
}

impl<'a> Matcher<'a> {
    pub(super) fn read(matcher: &'a str) -> Self {
        let is_word = |it: char| it.is_ascii_alphanumeric() || "_|-, ".contains(it);
        match matcher {
            "" | "*" => Self::All,
            _ if matcher.chars().all(is_word) => Self::Words(words(matcher).collect()),
            _ => Self::Expression,
        }
    }

    /// Returns whether the matcher matches an event's subject.
    pub(super) fn matches(
        &self,
        text: &str,
        compiled: &CompiledMatcher,
        subject: Option<&str>,
    ) -> bool {
        match self {
            Self::All => true,
            Self::Words(words) => subject.is_some_and(|it| words.contains(&it)),
            // An expression that reaches a limit on this subject does not match it.
            Self::Expression => subject
                .zip(compiled.get(text))
                .is_some_and(|(subject, pattern)| pattern.is_match(subject).unwrap_or_default()),
        }
    }
}

/// Returns the names in a matcher that is not a regular expression.
pub fn words(matcher: &str) -> impl Iterator<Item = &str> {
    matcher.split(['|', ',']).map(str::trim)
}

pub fn matches_any<'n>(matcher: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    let compiled = CompiledMatcher::default();
    let parsed = Matcher::read(matcher);
    names.any(|it| parsed.matches(matcher, &compiled, Some(it)))
}

pub fn is_expression(matcher: &str) -> bool {
    matches!(Matcher::read(matcher), Matcher::Expression)
}

/// Checks a regular expression without compiling it.
pub fn check(pattern: &str) -> Result<(), MatcherError> {
    use MatcherError::{Invalid, TooLarge};
    if pattern.len() > MAX_MATCHER_BYTES {
        let length = pattern.len();
        return Err(TooLarge(format!("it has {length} bytes; the limit is {MAX_MATCHER_BYTES}")));
    }
    let invalid = |error: &Error| Invalid(describe_regex_error(error, pattern));
    let tree = Expr::parse_tree(pattern).map_err(|error| invalid(&error))?;
    let expanded = expanded(&tree.expr);
    if expanded > MAX_EXPANDED_CHARS {
        let why = format!("it expands to {expanded} characters; the limit is {MAX_EXPANDED_CHARS}");
        return Err(TooLarge(why));
    }
    // The size limit of zero stops the build after the syntax check.
    let built = RegexBuilder::new(pattern).delegate_size_limit(0).build();
    match built.err() {
        Some(error) if !is_size(&error) => Err(invalid(&error)),
        Some(_) | None => Ok(()),
    }
}

/// Compiles a regular expression.
fn compile(pattern: &str) -> Result<Regex, MatcherError> {
    check(pattern)?;
    RegexBuilder::new(pattern)
        .backtrack_limit(MAX_BACKTRACKS)
        .delegate_size_limit(MAX_COMPILED_BYTES)
        .delegate_dfa_size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| match describe_regex_error(&error, pattern) {
            why if is_size(&error) => MatcherError::TooLarge(why),
            why => MatcherError::Invalid(why),
        })
}

/// Returns the number of characters in an expression after expanding repetitions.
fn expanded(expr: &Expr) -> u64 {
    match expr {
        Expr::Literal { val, .. } => val.len() as u64,
        Expr::Delegate { inner, .. } => {
            let is_large = !inner.is_ascii() || inner.contains(['\\', '^']);
            if is_large { LARGE_CLASS } else { SMALL_CLASS }
        }
        Expr::Repeat { child, lo, hi, .. } => {
            let times = if *hi == usize::MAX { lo.saturating_add(1) } else { *hi };
            expanded(child).saturating_mul(times as u64).saturating_add(1)
        }
        other => other.children_iter().map(expanded).fold(1, u64::saturating_add),
    }
}

fn is_size(error: &Error) -> bool {
    let Error::CompileError(what) = error else { return false };
    matches!(&**what, CompileError::InnerError(inner) if inner.size_limit().is_some())
}

/// Describes a regex error as the end of a sentence.
pub fn describe_regex_error(error: &Error, pattern: &str) -> String {
    match error {
        Error::ParseError(at, what) => {
            let nth = pattern.get(..*at).unwrap_or(pattern).chars().count() + 1;
            format!("at character {nth}, {}", fault(what))
        }
        Error::CompileError(_) if is_size(error) => "it is too large".to_owned(),
        Error::CompileError(what) => match &**what {
            CompileError::InnerError(inner) => match inner.syntax_error() {
                Some(what) => last_line(&what.to_string()),
                None => inner.to_string(),
            },
            what => with_lower_case_start(&what.to_string()),
        },
        other => with_lower_case_start(&other.to_string()),
    }
}

fn fault(what: &ParseError) -> String {
    match what {
        ParseError::UnclosedOpenParen => "a group is not closed".to_owned(),
        ParseError::InvalidClass => "a character class is malformed".to_owned(),
        ParseError::GeneralParseError(text) => with_lower_case_start(text),
        _ => with_lower_case_start(&what.to_string()),
    }
}

/// Returns a syntax error's message without the excerpt above it.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn with_lower_case_start(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_expression_is_refused_with_its_reason() {
        let why = |pattern: &str| check(pattern).expect_err("it is none").to_string();
        for pattern in ["Bash(", "[z-", "a**b(", "(?<n", "\\", "[z-a]"] {
            let why = why(pattern);
            assert!(!why.is_empty() && !why.contains('\n'), "{pattern}: {why}");
        }
        assert_eq!(why("Bash("), "at character 6, a group is not closed");
    }

    #[test]
    fn expression_over_a_limit_names_its_size_and_the_limit() {
        let why = |pattern: &str| match check(pattern) {
            Err(MatcherError::TooLarge(why)) => why,
            other => panic!("{other:?}"),
        };
        let large = "it expands to 27000901 characters; the limit is 1000";
        assert_eq!(why("(?:\\w{500}){900}"), large);
        assert_eq!(why(&"a.".repeat(513)), "it has 1026 bytes; the limit is 1024");
        assert!(why("((((a{50}){50}){50}){50}){50}").contains("it expands to"));
        assert!(why("(?=\\w{126})\\w").contains("the limit is 1000"));
    }

    #[test]
    fn expressions_within_the_limits_compile() {
        for pattern in [
            "mcp__.*",
            "^(?!Bash)",
            "^(?<server>mcp__\\w+?)__.*(?=_all$)",
            "(?i)^(bash|edit|write|multiedit|notebookedit|webfetch|websearch)$",
            "mcp__[a-z0-9_-]{1,64}__[a-z]+",
            &"\\w".repeat(16),
        ] {
            assert!(compile(pattern).is_ok(), "{pattern}: {:?}", compile(pattern).err());
        }
    }
}
