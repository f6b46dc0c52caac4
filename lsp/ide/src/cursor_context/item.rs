//! Finds the list item under the cursor within a value.

use skills_agents::field_table::{self, Shape};
use skills_syntax::text::Span;

/// Brackets inside which separators do not split an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BracketPair {
    /// `Bash(git add, git rm)`.
    Parentheses,
    /// `*.{ts,tsx}`.
    Braces,
}

impl BracketPair {
    /// Returns the bracket pair used by the items of the value at `path`.
    pub(super) fn of(path: &[&str]) -> Self {
        let field = path.last().filter(|_| path.len() == 1).and_then(|it| field_table::find(it));
        match field.map(|it| it.shape) {
            Some(Shape::Globs) => Self::Braces,
            Some(_) | None => Self::Parentheses,
        }
    }

    const fn letters(self) -> (char, char) {
        match self {
            Self::Parentheses => ('(', ')'),
            Self::Braces => ('{', '}'),
        }
    }
}

/// Returns the item of `within` around `offset`.
pub(super) fn item(text: &str, within: Span, offset: usize, pair: BracketPair) -> Span {
    let Span { start, end } = within;
    let (open, close) = pair.letters();
    let is_separator =
        |it: char| it.is_whitespace() || matches!(it, ',' | '[' | ']' | '"' | '\'' | '{' | '}');
    let mut depth = 0_i32;
    // Spaces and commas inside the pair belong to the item.
    let mut from = start;
    for (at, letter) in text[start..offset].char_indices() {
        // A brace that starts an item opens a flow mapping, not a glob alternative.
        let begins = from == start + at && pair == BracketPair::Braces;
        match letter {
            it if it == open && !begins => depth += 1,
            it if it == close && depth > 0 => depth -= 1,
            it if depth <= 0 && is_separator(it) => from = start + at + it.len_utf8(),
            _ => {}
        }
    }
    // An unclosed pair does not protect separators.
    let mut depth = if closes(&text[offset..end], depth, pair) { depth } else { 0 };
    let mut to = end;
    for (at, letter) in text[offset..end].char_indices() {
        match letter {
            it if it == open && offset + at > from => depth += 1,
            it if it == close && depth > 0 => depth -= 1,
            it if depth <= 0 && is_separator(it) => {
                to = offset + at;
                break;
            }
            _ => {}
        }
    }
    Span::new(from, to)
}

/// Returns whether `text` closes all `open` pairs.
fn closes(text: &str, open: i32, pair: BracketPair) -> bool {
    let (opens, closes) = pair.letters();
    let mut depth = open;
    text.chars().any(|it| {
        depth += i32::from(it == opens) - i32::from(it == closes);
        depth <= 0
    })
}
