//! Where in a SKILL.md a cursor stands, as far as the lines around it tell.

use super::written::Flow;
use crate::parse::{Document, Frontmatter};
use crate::text::Span;

/// Where a cursor stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place<'a> {
    /// In a file that says nothing yet.
    Empty,
    /// On a key of the frontmatter, or where one may be written.
    Key {
        /// The keys it lies under, from the outermost.
        path: Vec<&'a str>,
        /// The key as far as it is there.
        word: Span,
        /// Whether a colon follows it.
        has_colon: bool,
    },
    /// On a value of the frontmatter, or where one may be written.
    Value {
        /// The keys it lies under, the last is its own.
        path: Vec<&'a str>,
        /// The part of the value that stands alone: an item, or all of it.
        word: Span,
        /// Where its line's part of the value begins.
        from: usize,
    },
    /// On a variable of the body.
    Variable {
        /// All of it, with `$` and braces.
        word: Span,
    },
    /// Anywhere else.
    Elsewhere,
}

/// Returns where `offset` stands in a text.
pub(super) fn place<'a>(text: &'a str, document: &Document, offset: usize) -> Place<'a> {
    if text.trim_start_matches('\u{FEFF}').trim().is_empty() {
        return Place::Empty;
    }
    match &document.frontmatter {
        Some(frontmatter) if is_inside(frontmatter, offset) => {
            in_frontmatter(text, frontmatter, offset)
        }
        Some(frontmatter) if offset < frontmatter.content.start => Place::Elsewhere,
        Some(_) | None => in_body(text, offset),
    }
}

fn is_inside(frontmatter: &Frontmatter, offset: usize) -> bool {
    let Span { start, end } = frontmatter.content;
    let is_before_close = frontmatter.close.is_none_or(|it| offset < it.start);
    start <= offset && offset <= end && is_before_close
}

/// One line of a frontmatter, in its parts.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    /// Where the first dash stands, for an item of a list.
    dash: Option<usize>,
    /// Where what is written begins, behind blanks and dashes.
    column: usize,
    /// What is written there.
    content: &'a str,
}

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Self {
        let mut column = line.len() - line.trim_start_matches(' ').len();
        let mut dash = None;
        while let Some(rest) = line[column..].strip_prefix('-') {
            if !(rest.is_empty() || rest.starts_with(' ')) {
                break;
            }
            dash = dash.or(Some(column));
            column = line.len() - rest.trim_start_matches(' ').len();
        }
        Self { dash, column, content: line[column..].trim_end() }
    }

    /// Returns the key that is written here, if one is.
    fn key(&self) -> Option<&'a str> {
        let (key, rest) = self.content.split_once(':')?;
        let is_key = rest.is_empty() || rest.starts_with([' ', '\t']);
        (is_key && !key.is_empty() && !key.starts_with('#'))
            .then(|| key.trim_matches(['"', '\'', ' ']))
    }

    /// Returns the column left of which the key lies that this line is under.
    fn bound(&self) -> usize {
        // A list may stand in the column of its own key.
        self.dash.map_or(self.column, |it| it + 1)
    }
}

fn in_frontmatter<'a>(text: &'a str, frontmatter: &Frontmatter, offset: usize) -> Place<'a> {
    let content = frontmatter.content;
    let start =
        text[content.start..offset].rfind('\n').map_or(content.start, |it| content.start + it + 1);
    let end = text[offset..content.end].find('\n').map_or(content.end, |it| offset + it);
    let line = Line::new(&text[start..end]);
    if line.content.starts_with('#') {
        return Place::Elsewhere;
    }
    let begin = start + line.column;
    if offset < begin && !line.content.is_empty() {
        return Place::Elsewhere;
    }
    let begin = begin.min(offset);
    let mut path = parents(&text[content.start..start], line.bound());
    let colon = line.key().and_then(|_| line.content.find(':')).map(|it| begin + it);
    match colon {
        Some(colon) if offset > colon => {
            path.extend(line.key());
            value(text, path, Span::new(colon + 1, end), offset)
        }
        // An item of a list is a value until a colon makes it a key, unless it lies in hooks.
        None if line.dash.is_some() && path.first() != Some(&"hooks") => {
            value(text, path, Span::new(begin, end), offset)
        }
        Some(_) | None => {
            let is_key = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '$');
            let is_indented = path.is_empty() && line.column > 0 && line.dash.is_none();
            // Words before it: a sentence, no key.
            if is_indented || !text[begin..offset].chars().all(is_key) {
                return Place::Elsewhere;
            }
            let end = text[offset..end].find(|it| !is_key(it)).map_or(end, |it| offset + it);
            let word = Span::new(begin, end);
            Place::Key { path, word, has_colon: colon.is_some() }
        }
    }
}

/// Returns the place on a line's part of a value; none in the comment behind it.
fn value<'a>(text: &str, path: Vec<&'a str>, part: Span, offset: usize) -> Place<'a> {
    if Flow::before(&text[part.start..offset]).is_comment {
        return Place::Elsewhere;
    }
    Place::Value { path, word: item(text, part.start, part.end, offset), from: part.start }
}

/// Returns the keys that a line lies under whose parents are left of `bound`, the outermost first.
fn parents(before: &str, bound: usize) -> Vec<&str> {
    let mut bound = bound;
    let mut path = Vec::new();
    for line in before.lines().rev() {
        if bound == 0 {
            break;
        }
        let line = Line::new(line);
        if line.content.is_empty() || line.content.starts_with('#') {
            continue;
        }
        if line.column < bound {
            path.extend(line.key());
            bound = line.bound().min(line.column);
        } else if let Some(dash) = line.dash
            && dash < bound
        {
            bound = dash + 1;
        }
    }
    path.reverse();
    path
}

/// Returns the part of a value that stands alone around `offset`: an item between separators.
pub(super) fn item(text: &str, start: usize, end: usize, offset: usize) -> Span {
    let is_separator =
        |it: char| it.is_whitespace() || matches!(it, ',' | '[' | ']' | '"' | '\'' | '{' | '}');
    let mut depth = 0_i32;
    // Blanks and commas within parentheses belong to what stands before them.
    let mut from = start;
    for (at, character) in text[start..offset].char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            it if depth <= 0 && is_separator(it) => from = start + at + it.len_utf8(),
            _ => {}
        }
    }
    // What nothing closes ends as everything else does.
    let mut depth = if closes(&text[offset..end], depth) { depth } else { 0 };
    let mut to = end;
    for (at, character) in text[offset..end].char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            it if depth <= 0 && is_separator(it) => {
                to = offset + at;
                break;
            }
            _ => {}
        }
    }
    Span::new(from, to)
}

/// Whether as many parentheses as are open are closed in a text.
fn closes(text: &str, open: i32) -> bool {
    let mut depth = open;
    text.chars().any(|it| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        depth <= 0
    })
}

fn in_body(text: &str, offset: usize) -> Place<'_> {
    let line = text[..offset].rfind('\n').map_or(0, |it| it + 1);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let stem = text[line..offset].trim_end_matches(is_name);
    let stem = stem.strip_suffix('{').unwrap_or(stem);
    if !stem.ends_with('$') {
        return Place::Elsewhere;
    }
    let start = line + stem.len() - 1;
    let behind = &text[offset..];
    let mut end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    if text[start..].starts_with("${") && text[end..].starts_with('}') {
        end += 1;
    }
    Place::Variable { word: Span::new(start, end) }
}
