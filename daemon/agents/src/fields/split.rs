//! Splits text that represents a list into item ranges.

use std::ops::Range;

use crate::field_table::Separators;

/// Returns the byte ranges of the items of `text`, without surrounding white space and empty items.
/// After an unclosed bracket the rest is one item.
pub(super) fn split(text: &str, separators: Separators) -> Vec<Range<usize>> {
    let (open, close) = match separators {
        Separators::Blanks | Separators::CommasAndBlanks => ('(', ')'),
        Separators::CommasOutsideBraces => ('{', '}'),
    };
    let separates = |c: char| match separators {
        Separators::Blanks => c.is_whitespace(),
        Separators::CommasAndBlanks => c == ',' || c.is_whitespace(),
        Separators::CommasOutsideBraces => c == ',',
    };
    let mut items = Vec::new();
    let mut depth = 0_i64;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            // Claude Code splits globs no more after a brace that closes none.
            let least = if open == '{' { i64::MIN } else { 0 };
            depth = (depth - 1).max(least);
        } else if depth == 0 && separates(c) {
            items.extend(trimmed(text, start..at));
            start = at + c.len_utf8();
        }
    }
    items.extend(trimmed(text, start..text.len()));
    items
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let item = &text[range.clone()];
    let start = range.start + (item.len() - item.trim_start().len());
    let length = item.trim().len();
    (length > 0).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Separators::{Blanks, CommasAndBlanks, CommasOutsideBraces};

    #[track_caller]
    fn check(separators: Separators, text: &str, expected: &[&str]) {
        let items: Vec<_> = split(text, separators).into_iter().map(|it| &text[it]).collect();
        assert_eq!(items, expected, "{text}");
    }

    #[test]
    fn words_split_at_commas_and_blanks_outside_parentheses() {
        check(CommasAndBlanks, "Read, Grep,Glob", &["Read", "Grep", "Glob"]);
        check(
            CommasAndBlanks,
            "Read Bash(git add:*), Write",
            &["Read", "Bash(git add:*)", "Write"],
        );
        check(CommasAndBlanks, "Bash(a, (b c)) Read", &["Bash(a, (b c))", "Read"]);
        check(CommasAndBlanks, " ,, Read ,", &["Read"]);
        check(CommasAndBlanks, "Bash(git:* Read", &["Bash(git:* Read"]);
        check(CommasAndBlanks, "a) b", &["a)", "b"]);
        check(CommasAndBlanks, "", &[]);
    }

    #[test]
    fn standard_splits_at_white_space_only() {
        check(Blanks, "Bash(git:*) Read", &["Bash(git:*)", "Read"]);
        check(Blanks, "Read, Grep", &["Read,", "Grep"]);
        check(Blanks, "a\n\tb", &["a", "b"]);
    }

    #[test]
    fn globs_split_at_commas_outside_braces() {
        check(CommasOutsideBraces, "a/*.{rs,toml}, b , ,c", &["a/*.{rs,toml}", "b", "c"]);
        check(CommasOutsideBraces, "a}, b", &["a}, b"]);
        check(CommasOutsideBraces, "a}{, b", &["a}{", "b"]);
        check(CommasOutsideBraces, "my docs/**, é", &["my docs/**", "é"]);
    }
}
