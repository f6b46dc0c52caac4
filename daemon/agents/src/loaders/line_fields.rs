//! The `lines` strategy: takes name and description from the lines that begin with these keys
//! (Gemini CLI, read in its source).
//!
//! No YAML is involved: quotes, brackets and block headers stay in the text, an indented `name:`
//! counts, and the last match wins.

use skills_syntax::text::Span;

use crate::fence::line_spans;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineFields {
    /// The text after `name:` and its range.
    pub name: Option<(String, Span)>,
    /// The text after `description:` with the indented lines below it, and its range.
    pub description: Option<(String, Span)>,
}

/// Extracts name and description from the lines of a frontmatter.
pub fn extract_lines(content: &str) -> LineFields {
    let mut rescue = LineFields::default();
    let mut rest = line_spans(content).peekable();
    while let Some(line) = rest.next() {
        if let Some(span) = value_span(content, line, "name:") {
            rescue.name = Some((span.slice(content).to_owned(), span));
        } else if let Some(mut span) = value_span(content, line, "description:") {
            let mut text = span.slice(content).to_owned();
            while let Some(more) = rest.next_if(|it| is_continuation(it.slice(content))) {
                let words = more.slice(content).trim();
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(words);
                span.end = more.end;
            }
            rescue.description = Some((text, span));
        }
    }
    rescue
}

/// A value on a line of the `colon-lines` strategy.
pub(super) enum LineValue {
    /// A value without quotes.
    Plain(String),
    /// A value in double quotes.
    Quoted(String),
}

/// Returns name and description of the `colon-lines` strategy: the text before a line's first colon
/// is the key, the last line of a key wins, and lines below a key without a value are skipped if
/// two spaces indent them.
pub(super) fn colon_lines(content: &str) -> (Option<LineValue>, Option<LineValue>) {
    let (mut name, mut description) = (None, None);
    let is_text = |it: &&str| !it.trim().is_empty() && !it.trim().starts_with('#');
    let mut lines = content.lines().filter(is_text).peekable();
    let mut is_inside = false;
    while let Some(line) = lines.next() {
        if line.starts_with("  - ") || line.starts_with("  ") && is_inside {
            continue;
        }
        is_inside = false;
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if value.is_empty() {
            let next = lines.peek().filter(|it| it.starts_with("  "));
            is_inside = next.is_some_and(|it| !it.starts_with("  - "));
            continue;
        }
        let inner = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let value = match inner {
            Some(inner) => LineValue::Quoted(inner.replace("\\\"", "\"").replace("\\\\", "\\")),
            None => LineValue::Plain(value.to_owned()),
        };
        match key.trim() {
            "name" => name = Some(value),
            "description" => description = Some(value),
            _ => {}
        }
    }
    (name, description)
}

/// Returns the values of the `any-lines` strategy for some keys, without quotes around them: the
/// text before a line's first colon is the key, and the last line of a key wins.
pub(super) fn any_lines<'a, const N: usize>(
    content: &'a str,
    keys: [&str; N],
) -> [Option<&'a str>; N] {
    let mut values = [None; N];
    for line in content.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let quoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| value.strip_prefix(quote).and_then(|it| it.strip_suffix(quote)));
        if let Some(at) = keys.iter().position(|it| *it == key.trim()) {
            values[at] = Some(quoted.unwrap_or(value));
        }
    }
    values
}

/// Returns the range of the value on a line that begins with `key`.
fn value_span(content: &str, line: Span, key: &str) -> Option<Span> {
    let value = line.slice(content).trim_start().strip_prefix(key)?.trim_start();
    let start = line.end - value.len();
    Some(Span::new(start, start + value.trim_end().len()))
}

/// Returns whether a line is indented and not blank.
fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, name: Option<&str>, description: Option<&str>) {
        let rescue = extract_lines(content);
        assert_eq!(rescue.name.as_ref().map(|it| it.0.as_str()), name, "{content:?}");
        assert_eq!(rescue.description.as_ref().map(|it| it.0.as_str()), description);
    }

    #[test]
    fn value_is_the_text_after_the_colon() {
        check("name: a\ndescription: Use when: asked\n", Some("a"), Some("Use when: asked"));
        check("name:123\ndescription: [a, b] # c\n", Some("123"), Some("[a, b] # c"));
        check("name: \"x\"\ndescription:\n", Some("\"x\""), Some(""));
    }

    #[test]
    fn indented_lines_continue_the_description() {
        check("description: >\n  one\n\n  two\nname: a\n", Some("a"), Some("> one"));
        check("description:\n\tone\n  two\n  name: b\n", None, Some("one two name: b"));
    }

    #[test]
    fn last_matching_line_wins() {
        check("name: a\n  name: b\nnames: c\n- name: d\n", Some("b"), None);
    }
}
