//! Classifies a cursor position in a SKILL.md as a [`CursorContext`]: on a frontmatter key, in a
//! value, on a variable of the body, or elsewhere.
//!
//! Completion, hover and selection share this classification. A text that is being typed is rarely
//! valid YAML, so [`open_state`] tracks which keys, quotes and brackets the lines before the cursor
//! leave open. If the parser has read a value, its span decides how far the value reaches.

mod context;
mod flow;
mod item;
mod locate;
mod open_state;
#[cfg(test)]
mod tests;

use skills_syntax::parse::{Document, Frontmatter};
use skills_syntax::text::Span;

pub(crate) use context::{CursorContext, InsertStyle};

/// Returns the context of `offset`.
pub(crate) fn context_at<'a>(
    text: &'a str,
    document: &'a Document,
    offset: usize,
) -> CursorContext<'a> {
    if text.trim_start_matches('\u{FEFF}').trim().is_empty() {
        return CursorContext::Empty;
    }
    let Some(frontmatter) = &document.frontmatter else { return in_body(text, offset) };
    let content = content(text, frontmatter);
    // The opening `---` line takes no input.
    let is_opening = content.start > 0 && content.start == frontmatter.open.end;
    if offset < content.start || (is_opening && offset == content.start) {
        return CursorContext::Other;
    }
    if offset <= content.end && frontmatter.close.is_none_or(|it| offset < it.start) {
        return locate::in_frontmatter(text, frontmatter, content, offset);
    }
    in_body(text, offset)
}

/// Returns the span in which keys and values may be written. Without a closing line it includes the
/// trailing white space, where the next key is being typed.
fn content(text: &str, frontmatter: &Frontmatter) -> Span {
    let Span { start, end } = frontmatter.content;
    if frontmatter.close.is_some() {
        return frontmatter.content;
    }
    let behind = &text[end..];
    Span::new(start, end + behind.len() - behind.trim_start().len())
}

fn in_body(text: &str, offset: usize) -> CursorContext<'_> {
    let line = text[..offset].rfind('\n').map_or(0, |it| it + 1);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let stem = text[line..offset].trim_end_matches(is_name);
    let stem = stem.strip_suffix('{').unwrap_or(stem);
    if !stem.ends_with('$') || stem.ends_with("\\$") {
        return CursorContext::Other;
    }
    let start = line + stem.len() - 1;
    let behind = &text[offset..];
    let mut end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    if text[start..].starts_with("${") && text[end..].starts_with('}') {
        end += 1;
    }
    CursorContext::Variable { word: Span::new(start, end) }
}
