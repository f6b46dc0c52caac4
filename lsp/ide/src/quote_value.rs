//! Quotes completed values so that YAML reads them unchanged at the cursor.

use skills_agents::field_table::{self, NAME};
use skills_agents::fields::{Fields, SpannedText as FieldItem};
use skills_syntax::parse::Document;
use skills_syntax::quote::{quote_scalar, quote_unless_text};
use skills_syntax::text::Span;

use crate::cursor_context::InsertStyle;
use crate::suggestion::Suggestion;

impl Suggestion {
    /// Returns the suggestion with `gap` inserted before its text.
    pub(super) fn prefixed(self, gap: &str) -> Self {
        if gap.is_empty() {
            return self;
        }
        let snippet = self.snippet.map(|it| format!("{gap}{it}"));
        Self { text: format!("{gap}{}", self.text), snippet, ..self }
    }
}

/// Returns the suggestions quoted for the position of `word` in the field at `path`, without those
/// that cannot be written there.
pub(super) fn quote_suggestions(
    values: Vec<Suggestion>,
    path: &[&str],
    text: &str,
    word: Span,
    style: InsertStyle,
) -> Vec<Suggestion> {
    let gap =
        if matches!(style, InsertStyle::Start { .. }) { leading_space(text, word) } else { "" };
    let fitted = values.into_iter().filter_map(|it| {
        let is_other_type = path == [NAME.key] && quote_unless_text(&it.text) != it.text;
        let text = quote_value(text, word, style, &it.text, is_other_type)?;
        Some(Suggestion { text, ..it }.prefixed(gap))
    });
    fitted.collect()
}

/// Returns `value` as it must be written in place of `word`, quoted if needed; `None` if it cannot
/// be written there. `is_other_type` is true for one that YAML does not read as text.
fn quote_value(
    text: &str,
    word: Span,
    style: InsertStyle,
    value: &str,
    is_other_type: bool,
) -> Option<String> {
    let (is_first, in_flow) = match style {
        InsertStyle::Outside => return None,
        InsertStyle::Block => return Some(value.to_owned()),
        InsertStyle::Quoted(quote) => {
            return (!value.contains([quote, '\\'])).then(|| value.to_owned());
        }
        InsertStyle::Start { in_flow } => (true, in_flow),
        InsertStyle::Continuation { in_flow } => (false, in_flow),
    };
    if !is_other_type && is_plain(value, is_first, in_flow) {
        return Some(value.to_owned());
    }
    let line = text[word.end..].lines().next().unwrap_or_default();
    let behind = line.trim_start();
    let ends = behind.is_empty()
        || (behind.starts_with('#') && behind.len() < line.len())
        || (in_flow && behind.starts_with([',', ']', '}']));
    (is_first && ends).then(|| quote_scalar(value))
}

/// Returns the other items of a top-level list, which completion omits.
pub(super) fn other_items(
    text: &str,
    document: &Document,
    path: &[&str],
    word: Span,
) -> Vec<String> {
    // In an unclosed value, brackets are part of the text.
    const MARKS: [char; 6] = ['[', ']', '{', '}', '"', '\''];
    let (Some(frontmatter), [key]) = (&document.frontmatter, path) else { return Vec::new() };
    let Some(field) = field_table::find(key) else { return Vec::new() };
    let meets = |it: &FieldItem| it.span.start <= word.end && word.start <= it.span.end;
    let items = Fields::new(frontmatter, text).list(field).into_iter();
    items.filter(|it| !meets(it)).map(|it| it.text.trim_matches(MARKS).to_owned()).collect()
}

/// Returns whether YAML reads the unquoted value unchanged.
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

/// Returns the text needed before an inserted word: a space after a colon or a dash.
pub(super) fn leading_space(text: &str, word: Span) -> &'static str {
    let is_tight = word.is_empty() && text[..word.start].ends_with([':', '-']);
    if is_tight { " " } else { "" }
}

#[cfg(test)]
mod tests {
    use skills_agents::skill::parse;

    use super::*;
    use crate::cursor_context::{CursorContext, context_at};

    /// Inserts a value at the `|` in the value of `paths:`.
    #[track_caller]
    fn check(marked: &str, value: &str, expected: &str) {
        let at = marked.find('|').unwrap();
        let text = format!("---\npaths: {}\n---\n", marked.replacen('|', "", 1));
        let document = parse(&text);
        let CursorContext::Value { word, style, .. } =
            context_at(&text, &document, "---\npaths: ".len() + at)
        else {
            panic!("no value: {text}")
        };
        let shown = quote_value(&text, word, style, value, false).map_or("nothing".into(), |it| {
            let line = format!("{}{it}{}", &text[..word.start], &text[word.end..]);
            line.lines().nth(1).unwrap()["paths: ".len()..].to_owned()
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn value_that_yaml_would_misread_is_quoted() {
        check("|", "**/*.ts", "\"**/*.ts\"");
        check("*.t|", "src/**", "src/**");
        check("[*|]", "**/*.ts", "[\"**/*.ts\"]");
        check("[a, *| , b]", "**/*.ts", "[a, \"**/*.ts\" , b]");
        check("[|] # x", "a{b,c}", "[\"a{b,c}\"] # x");
        check("| # x", "!a/**", "\"!a/**\" # x");
        check("|", "a: b", "\"a: b\"");
    }

    #[test]
    fn value_inside_quotes_or_plain_text_is_inserted_verbatim() {
        check("[\"*|\"]", "**/*.ts", "[\"**/*.ts\"]");
        check("'a, |'", "**/*.ts", "'a, **/*.ts'");
        check("src/**, |", "**/*.ts", "src/**, **/*.ts");
        check("it's, |", "**/*.ts", "it's, **/*.ts");
    }

    #[test]
    fn value_that_cannot_be_quoted_is_not_offered() {
        check("|, src/**", "**/*.ts", "nothing");
        check("a, |", "x: y", "nothing");
        check("\"|\"", "a\"b", "nothing");
    }
}
