//! Activation: finds the conditional skills whose `paths` match a touched path.
//!
//! A [`Matcher`] holds the `paths` of all conditional skills of a view in one trie over path
//! segments, so that the cost of a touch depends on its matches, not on the number of skills: a
//! literal segment and an extension each cost one hash lookup. It is built once and shared by all
//! views with the same conditional skills.
//!
//! Patterns follow gitignore rules, relative to a base directory. A slash anywhere but at the end
//! anchors a pattern; otherwise it matches at any depth. Everything below a match matches. The
//! last matching pattern of a skill decides, separately for each directory level, so that `!child`
//! excludes nothing from a directory that matches. `src/` matches only paths below `src`. Braces
//! are expanded first, then a final `/**` is removed, so that `src/**` matches like `src`: at any
//! depth. Case does not matter. All of this is measured on Claude Code 2.1.330, which uses the npm
//! package `ignore`.

mod error;
mod fold;
mod glob;
mod limits;
mod matcher;
mod pattern;
mod probe;
mod trie;

pub use error::PatternError;
pub use matcher::{Matcher, PatternBudget, PatternHit, RefusedPattern};
pub use pattern::is_restriction;
pub use probe::{matches_all, overruling_pattern};

/// Checks that a pattern can match.
///
/// # Errors
/// Returns an error if the pattern is a comment, ends in a backslash, has an unclosed bracket,
/// expands to too many patterns, or requires a name that no path has, like `./a`.
pub fn check(pattern: &str) -> Result<(), PatternError> {
    pattern::read(pattern).map(drop)
}

#[cfg(test)]
mod tests;
