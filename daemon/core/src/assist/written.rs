//! How a value is written where it is offered, so that YAML reads it as it is meant.

use super::complete::Item;
use crate::rules::quoted;
use crate::text::Span;

/// What the part of a value that stands on a line before a place leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Flow {
    /// The quotation mark that is open.
    pub(super) quote: Option<char>,
    /// How many brackets are.
    pub(super) depth: usize,
    /// Whether it has ended, and a comment has begun.
    pub(super) is_comment: bool,
}

impl Flow {
    pub(super) fn before(text: &str) -> Self {
        let mut flow = Self::default();
        let mut letters = text.chars();
        // Marks count where a value may begin; within one they are letters.
        let mut may_begin = true;
        let mut is_behind_blank = true;
        while let Some(letter) = letters.next() {
            match (flow.quote, letter) {
                (Some('"'), '\\') => drop(letters.next()),
                (Some(quote), it) if it == quote => flow.quote = None,
                (None, '#') if is_behind_blank => return Self { is_comment: true, ..flow },
                (None, '"' | '\'') if may_begin => flow.quote = Some(letter),
                (None, '[' | '{') if may_begin || flow.depth > 0 => flow.depth += 1,
                (None, ']' | '}') => flow.depth = flow.depth.saturating_sub(1),
                (Some(_) | None, _) => {}
            }
            is_behind_blank = letter.is_whitespace();
            may_begin = flow.quote.is_none()
                && (matches!(letter, '[' | '{')
                    || (letter == ',' && flow.depth > 0)
                    || (may_begin && is_behind_blank));
        }
        flow
    }
}

impl Item {
    /// Returns the same with something before it.
    pub(super) fn behind(self, gap: &str) -> Self {
        if gap.is_empty() {
            return self;
        }
        let snippet = self.snippet.map(|it| format!("{gap}{it}"));
        Self { text: format!("{gap}{}", self.text), snippet, ..self }
    }
}

/// Returns values as they are written in the place of a word, without those that cannot stand there.
pub(super) fn fitted(values: Vec<Item>, text: &str, word: Span, from: usize) -> Vec<Item> {
    let gap = gap(text, word, from);
    let fitted = values.into_iter().filter_map(|it| {
        let text = written(text, from, word, &it.text)?;
        Some(Item { text, ..it }.behind(gap))
    });
    fitted.collect()
}

/// Returns how a value is written in the place of a word whose line's part of a value begins at
/// `from`: quoted where it would be read otherwise. Nothing where it cannot stand there.
fn written(text: &str, from: usize, word: Span, value: &str) -> Option<String> {
    let before = &text[from.min(word.start)..word.start];
    let flow = Flow::before(before);
    if let Some(quote) = flow.quote {
        return (!value.contains([quote, '\\'])).then(|| value.to_owned());
    }
    let is_first = match flow.depth {
        0 => before.trim().is_empty(),
        _ => before.trim_end().ends_with(['[', '{', ',']),
    };
    if is_plain(value, is_first, flow.depth > 0) {
        return Some(value.to_owned());
    }
    let line = text[word.end..].lines().next().unwrap_or_default();
    let behind = line.trim_start();
    let ends = behind.is_empty()
        || (behind.starts_with('#') && behind.len() < line.len())
        || (flow.depth > 0 && behind.starts_with([',', ']', '}']));
    (is_first && ends).then(|| quoted(value))
}

/// Whether YAML reads a text as itself without quotes.
fn is_plain(value: &str, is_first: bool, in_flow: bool) -> bool {
    const INDICATORS: &[char] =
        &['*', '&', '!', '|', '>', '%', '@', '`', '#', '"', '\'', '[', ']', '{', '}', ','];
    let is_marked = is_first
        && (value.starts_with(INDICATORS)
            || ["- ", "? ", ": "].iter().any(|it| value.starts_with(it)));
    let is_cut = value.contains(": ") || value.ends_with(':') || value.contains(" #");
    let is_split = in_flow && value.contains(['[', ']', '{', '}', ',']);
    !is_marked && !is_cut && !is_split && value.trim() == value
}

/// Returns what has to stand between a word that is yet to be written and what is before it: the
/// blank behind a colon or a dash.
pub(super) fn gap(text: &str, word: Span, from: usize) -> &'static str {
    let is_tight = word.is_empty() && word.start == from && text[..from].ends_with([':', '-']);
    if is_tight { " " } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(marked: &str, value: &str, expected: &str) {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let start = marked[..at].rfind([' ', '[', '"', '\'', ',']).map_or(0, |it| it + 1);
        let shown = written(&text, 0, Span::new(start, at), value)
            .map_or("nothing".into(), |it| format!("{}{it}{}", &text[..start], &text[at..]));
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_value_is_quoted_where_it_would_be_read_otherwise() {
        check("|", "**/*.ts", "\"**/*.ts\"");
        check("*.t|", "src/**", "src/**");
        check("[*|]", "**/*.ts", "[\"**/*.ts\"]");
        check("[a, *| , b]", "**/*.ts", "[a, \"**/*.ts\" , b]");
        check("[|] # x", "a{b,c}", "[\"a{b,c}\"] # x");
        check("| # x", "!a/**", "\"!a/**\" # x");
        check("|", "a: b", "\"a: b\"");
    }

    #[test]
    fn in_quotes_and_within_a_value_it_stands_as_it_is() {
        check("[\"*|\"]", "**/*.ts", "[\"**/*.ts\"]");
        check("'a, |'", "**/*.ts", "'a, **/*.ts'");
        check("src/**, |", "**/*.ts", "src/**, **/*.ts");
        check("it's, |", "**/*.ts", "it's, **/*.ts");
    }

    #[test]
    fn where_quotes_would_be_letters_nothing_is_offered() {
        check("|, src/**", "**/*.ts", "nothing");
        check("a, |", "x: y", "nothing");
        check("\"|\"", "a\"b", "nothing");
    }

    #[test]
    fn comments_begin_behind_a_blank_outside_of_quotes() {
        let is_comment = |text: &str| Flow::before(text).is_comment;
        assert!(is_comment(" fork # x"));
        assert!(is_comment(" \"a # b\" # x"));
        assert!(!is_comment(" \"a # b"));
        assert!(!is_comment(" a#b"));
    }
}
