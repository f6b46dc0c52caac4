//! Finds link targets in the source, and interprets them as paths.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::text::Span;

/// Returns the target of an inline link, and the span from its `](` to its end; `None` for other
/// links. `rest` is the link without its text.
pub(super) fn inline_target(text: &str, rest: Span) -> Option<(Span, Span)> {
    let written = rest.slice(text);
    let open = written.find(']').filter(|it| written[*it..].starts_with("]("))?;
    let start = rest.start + open + 2;
    let target = target(text, Span::new(start, rest.end))?;
    Some((target, Span::new(start - 2, rest.end)))
}

/// Returns the target of a link definition, `[label]: target "title"`.
pub(super) fn definition_target(text: &str, definition: Span) -> Option<Span> {
    let colon = definition.slice(text).find("]:")?;
    target(text, Span::new(definition.start + colon + 2, definition.end))
}

/// Returns the target that `text` has at `span` after white space: between angle brackets, or up to
/// white space or an unmatched parenthesis.
fn target(text: &str, span: Span) -> Option<Span> {
    let written = span.slice(text).trim_start();
    let pointed = written.strip_prefix('<');
    let rest = pointed.unwrap_or(written);
    let (mut depth, mut is_escaped) = (0_usize, false);
    let is_end = |letter: char| {
        if std::mem::take(&mut is_escaped) && letter.is_ascii_punctuation() {
            return false;
        }
        is_escaped = letter == '\\';
        match letter {
            _ if pointed.is_some() => return letter == '>',
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ => return letter == ')' || letter.is_ascii_whitespace(),
        }
        false
    };
    let start = span.end - rest.len();
    match rest.find(is_end) {
        Some(length) => Some(Span::new(start, start + length)),
        None => pointed.is_none().then(|| Span::new(start, span.end)),
    }
}

/// Returns the path in a link target; `None` for URLs, fragments and templates.
pub fn link_path(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let is_sign = |it: char| {
        matches!(
            it,
            '/' | '.' | '_' | '-' | '%' | ' ' | '(' | ')' | '+' | '@' | ',' | '&' | '=' | '~'
        )
    };
    let is_name = |it: char| it.is_alphanumeric() || is_sign(it);
    // The colon of a URL is no such character.
    let is_path = !path.is_empty()
        && !path.starts_with(['/', '~'])
        && path.chars().all(is_name)
        && path != "..."
        && path != "path"
        && path != "url";
    is_path.then(|| percent_decode(path))
}

/// Returns a path with its `%XX` escapes decoded.
pub fn percent_decode(path: &str) -> String {
    percent_decode_str(path).decode_utf8().map_or_else(|_| path.to_owned(), Cow::into_owned)
}

/// Returns a text with its `%XX` escapes decoded. Bytes that are no UTF-8 become `U+FFFD`.
pub fn percent_decode_text(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_path_accepts_relative_paths_only() {
        assert_eq!(link_path("references/a%20b.md#x").as_deref(), Some("references/a b.md"));
        assert_eq!(link_path("./a.md").as_deref(), Some("./a.md"));
        for other in
            ["https://a.b/c.md", "#x", "mailto:a@b.c", "/a.md", "{name}.md", "<file>", "$X/a"]
        {
            assert_eq!(link_path(other), None, "{other}");
        }
    }
}
