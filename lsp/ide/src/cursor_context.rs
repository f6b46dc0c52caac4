//! Where in a SKILL.md a cursor stands: on which key, in which key's value, on which item of it.
//!
//! The one place that says which value a line belongs to; completion, hover and whatever else is
//! asked about a cursor ask here. A text that is being typed is seldom YAML, so the lines before the
//! cursor are followed by their shape ([`open`]): what they leave open is what the cursor stands in.
//! Where the parser has read a value, it is believed on how far the value reaches.

mod flow;
mod item;
mod locate;
mod open_state;
#[cfg(test)]
mod tests;

use skills_agents::field_table::{self, Shape};
use skills_syntax::parse::{Document, Frontmatter};
use skills_syntax::text::Span;

/// Where a cursor stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CursorContext<'a> {
    /// In a file that says nothing yet.
    Empty,
    /// On a key of the frontmatter, or where one may be written.
    Key {
        /// The keys it lies under, from the outermost.
        path: Vec<&'a str>,
        /// The key as far as it is there.
        word: Span,
        /// Whether it is whole without a colon: one follows it, or it stands in quotes.
        has_colon: bool,
        /// Whether it lies in braces.
        in_flow: bool,
    },
    /// On a value of the frontmatter, or where one may be written.
    Value {
        /// The keys it lies under, the last is its own.
        path: Vec<&'a str>,
        /// The part of the value that stands alone: an item, or all of it.
        word: Span,
        /// How what stands there is read.
        style: InsertStyle,
        /// Whether nothing of the value stands beside the word.
        is_alone: bool,
    },
    /// On a variable of the body.
    Variable {
        /// All of it, with `$` and braces.
        word: Span,
    },
    /// Anywhere else.
    Other,
}

/// How YAML reads what is written at a place of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InsertStyle {
    /// As the beginning of a value, or of an item in brackets.
    Start {
        /// Whether it stands in brackets.
        in_flow: bool,
    },
    /// As more of a value without quotes.
    Continuation {
        /// Whether it stands in brackets.
        in_flow: bool,
    },
    /// As it is, up to this quotation mark.
    Quoted(char),
    /// As it is.
    Block,
    /// As nothing that belongs to the value: it is behind its end, or before the text of a block.
    Outside,
}

/// Returns where `offset` stands in a text.
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
    // On the opening line itself nothing can be written.
    let is_opening = content.start > 0 && content.start == frontmatter.open.end;
    if offset < content.start || (is_opening && offset == content.start) {
        return CursorContext::Other;
    }
    if offset <= content.end && frontmatter.close.is_none_or(|it| offset < it.start) {
        return locate::in_frontmatter(text, frontmatter, content, offset);
    }
    in_body(text, offset)
}

/// Returns what keys and values may be written in. Where nothing closes it, that is also the white
/// space in which it is being typed on.
fn content(text: &str, frontmatter: &Frontmatter) -> Span {
    let Span { start, end } = frontmatter.content;
    if frontmatter.close.is_some() {
        return frontmatter.content;
    }
    let behind = &text[end..];
    Span::new(start, end + behind.len() - behind.trim_start().len())
}

/// Whether what lies under these keys is keys again, and not a value.
fn holds_keys(path: &[&str]) -> bool {
    match path {
        [] | ["hooks"] | ["hooks", _] | ["hooks", _, "hooks"] => true,
        [key] => {
            field_table::find(key).is_none_or(|it| matches!(it.shape, Shape::TextMap | Shape::Any))
        }
        _ => false,
    }
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
