//! The `lines` strategy: takes name and description from the lines that begin with these keys
//! (Gemini CLI, read in its source).
//!
//! No YAML is involved: quotes, brackets and block headers stay in the text, an indented `name:`
//! counts, and the last match wins.

use skills_syntax::text::Span;

use super::repair::line_spans;

/// The fields found by line.
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
