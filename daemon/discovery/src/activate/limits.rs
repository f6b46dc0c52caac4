//! Limits for the length and number of patterns.

/// Maximum number of patterns that one pattern's braces may expand to: ten pairs of alternatives.
pub(super) const MAX_EXPANSIONS: usize = 1024;

/// Maximum number of expanded patterns of one skill.
pub(super) const MOST_OF_SKILL: usize = 4096;

/// Maximum length of a pattern, in bytes.
pub(super) const LONGEST: usize = 1024;
