//! Classifies a cursor position in a SKILL.md as a [`CursorContext`]: on a frontmatter key, in a
//! value, on a variable of the body, or elsewhere.
//!
//! Completion, hover and selection share this classification. A text that is being typed is rarely
//! valid YAML, so [`open_state`] tracks which keys, quotes and brackets the lines before the cursor
//! leave open. If the parser has read a value, its span decides how far the value reaches.

mod flow;
mod item;
mod locate;
mod open_state;
#[cfg(test)]
mod tests;

use skills_agents::field_table::{self, Shape};
use skills_syntax::parse::{Document, Frontmatter};
use skills_syntax::text::Span;

/// The syntactic context of a cursor position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CursorContext<'a> {
    /// The file is empty or blank.
    Empty,
    /// On a frontmatter key, or where a key may be written.
    Key {
        /// The parent keys, outermost first.
        path: Vec<&'a str>,
        /// The key typed so far.
        word: Span,
        /// True if completion must not add a colon: a colon follows, or the key is quoted.
        has_colon: bool,
        /// True inside a flow mapping, `{…}`.
        in_flow: bool,
    },
    /// In a frontmatter value, or where a value may be written.
    Value {
        /// The keys of the value, outermost first; the last one is its own key.
        path: Vec<&'a str>,
        /// The list item under the cursor, or the whole value.
        word: Span,
        /// The YAML context of inserted text.
        style: InsertStyle,
        /// True if the value consists of the word only.
        is_alone: bool,
    },
    /// On a variable of the body.
    Variable {
        /// The variable, including `$` and braces.
        word: Span,
    },
    /// Anywhere else.
    Other,
}

/// The YAML context of a position in a value; decides how inserted text is quoted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InsertStyle {
    /// As the start of a value or of a flow list item.
    Start {
        /// True inside brackets or braces.
        in_flow: bool,
    },
    /// As the continuation of an unquoted value.
    Continuation {
        /// True inside brackets or braces.
        in_flow: bool,
    },
    /// Literally, up to this closing quote.
    Quoted(char),
    /// Literally, as text of a block scalar.
    Block,
    /// Not as part of the value: the position is past its end, or on a block header.
    Outside,
}

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

/// Returns whether the children of `path` are keys rather than a value.
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
