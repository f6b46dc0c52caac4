//! Compiles the regular expressions of rules.

use regex::Regex;

/// Compiles a pattern whose `\b`, `\d`, `\w` and `\W` mean ASCII. With Unicode's, an expression
/// takes several times as long to compile and to run.
///
/// # Panics
///
/// If the pattern is invalid.
pub(crate) fn expression(pattern: &str) -> Regex {
    let pattern = pattern
        .replace(r"\b", r"(?-u:\b)")
        .replace(r"\d", "[0-9]")
        .replace(r"\w", "[0-9A-Za-z_]")
        .replace(r"\W", "[^0-9A-Za-z_]");
    Regex::new(&pattern).expect("the pattern of a rule is valid")
}
