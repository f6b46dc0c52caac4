//! The `---` lines: where the frontmatter starts, where it ends, where the body starts.
//!
//! The rule every agent shares comes first: a first line of `---` opens, the next line of `---`
//! closes, blanks after the dashes do not matter. Where that finds nothing, what was evidently
//! meant is taken and said in a diagnostic. This file looks at lines only and knows no YAML.

use crate::diagnostic::Diagnostic;
use crate::parse::keys::Keys;
use crate::parse::line::{Line, is_key, lines, split_key};
use crate::text::Span;

/// How the frontmatter starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Opening {
    /// `---` is the first line.
    FirstLine,
    /// `---` comes after blank lines, a comment, a heading or other text.
    Later,
    /// The keys start without a `---`.
    Missing,
}

/// How the frontmatter ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Closing {
    /// A line of `---`.
    Dashes,
    /// A line of more than three dashes.
    LongDashes,
    /// `---` with the body's first words on the same line.
    Glued,
    /// `...`, the end of a document in YAML.
    Dots,
    /// A `---` that is indented.
    Indented,
    /// Nothing ends it.
    Missing,
}

/// Where the parts of a document are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Delimiters {
    pub(super) opening: Opening,
    pub(super) closing: Closing,
    pub(super) open: Span,
    pub(super) content: Span,
    pub(super) close: Option<Span>,
    pub(super) body: Span,
}

/// How many lines may stand before a `---` that is still taken for the opening one.
const MAX_LINES_BEFORE: usize = 40;

/// Finds the frontmatter of `text`, which starts at `start`.
pub(super) fn find(text: &str, start: usize, keys: Keys) -> Option<Delimiters> {
    let first = lines(text, start).next()?;
    if is_dashes(text, first) {
        return Some(close(text, Opening::FirstLine, first.whole(), first.next, keys));
    }
    let first = lines(text, start).find(|line| !line.is_blank())?;
    if is_key(text, first) {
        return keys_without_opening(text, first, keys);
    }
    let open = later_opening(text, start)?;
    Some(close(text, Opening::Later, open.whole(), open.next, keys))
}

/// Says what is unusual about the `---` lines.
pub(super) fn diagnose(text: &str, fence: &Delimiters, diagnostics: &mut Vec<Diagnostic>) {
    match fence.opening {
        Opening::FirstLine => {}
        Opening::Later => diagnostics.push(
            Diagnostic::error(
                "yaml/text-before-frontmatter",
                before(text, fence.open.start),
                "something stands before the opening `---`",
            )
            .with_help(
                "Make `---` the first line of the file; agents see no frontmatter otherwise.",
            ),
        ),
        Opening::Missing => diagnostics.push(
            Diagnostic::error(
                "yaml/missing-opening",
                fence.open,
                "the frontmatter has no opening `---`",
            )
            .with_help("Add a first line of `---`; agents see no frontmatter otherwise."),
        ),
    }
    let odd = match fence.closing {
        Closing::Dashes => return,
        Closing::Missing => {
            diagnostics.push(
                Diagnostic::error(
                    "yaml/unclosed-frontmatter",
                    fence.open,
                    "the frontmatter is never closed",
                )
                .with_help("Add a line of `---` after the last key."),
            );
            return;
        }
        Closing::LongDashes => "more than three dashes",
        Closing::Glued => "`---` with text behind it",
        Closing::Dots => "`...`",
        Closing::Indented => "an indented `---`",
    };
    diagnostics.push(
        Diagnostic::error(
            "yaml/odd-closing",
            fence.close.unwrap_or(fence.open),
            format!("the frontmatter is closed by {odd}"),
        )
        .with_help("Close it with a line that is exactly `---`; agents read on otherwise."),
    );
}

/// What stands before the opening line, without the blanks around it; at least one byte.
fn before(text: &str, end: usize) -> Span {
    let found = Span::new(0, end).slice(text);
    let trimmed = found.trim();
    if trimmed.is_empty() {
        return Span::new(0, end);
    }
    let start = found.len() - found.trim_start().len();
    Span::new(start, start + trimmed.len())
}

/// Ends a frontmatter whose content starts at `start`.
fn close(text: &str, opening: Opening, open: Span, start: usize, keys: Keys) -> Delimiters {
    let Some((closing, line)) = closing_line(text, start) else {
        let end = unclosed_end(text, start, keys);
        let content = Span::new(start, end);
        let body = Span::new(end, text.len());
        return Delimiters { opening, closing: Closing::Missing, open, content, close: None, body };
    };
    let (close, body_start) = if closing == Closing::Glued {
        let dashes = Span::new(line.start, line.start + 3);
        (dashes, dashes.end)
    } else {
        (line.whole(), line.next)
    };
    let content = Span::new(start, line.first);
    let body = Span::new(body_start, text.len());
    Delimiters { opening, closing, open, content, close: Some(close), body }
}

/// Finds the line that ends the content.
///
/// The first `---` wins. Another line that could be meant so is taken when no `---` follows, or
/// when what follows it does not go on with keys: then the `---` is a rule in the body. A `...` right
/// above the `---` ends a document that ends anyway, and dashes in a block are its text.
fn closing_line(text: &str, start: usize) -> Option<(Closing, Line)> {
    let mut candidate: Option<(Closing, Line)> = None;
    let mut keys_go_on = None;
    // What would close it in the text of a block, and how far the block's key is indented.
    let mut in_text = None;
    let mut block: Option<usize> = None;
    for line in lines(text, start) {
        let closing = closing_of(text, line);
        if candidate.is_some() && keys_go_on.is_none() && !line.is_insignificant(text) {
            let is_dots = matches!(candidate, Some((Closing::Dots, _)));
            keys_go_on = Some(is_key(text, line) || (is_dots && closing == Some(Closing::Dashes)));
        }
        if !line.is_blank() {
            block = block.filter(|it| line.indent > *it);
            if block.is_some() {
                in_text = in_text.or(closing.map(|it| (it, line)));
                continue;
            }
            block = opens_block(text, line).then_some(line.indent);
        }
        match closing {
            Some(Closing::Dashes) => {
                let exact = (Closing::Dashes, line);
                return Some(if keys_go_on == Some(false) {
                    candidate.unwrap_or(exact)
                } else {
                    exact
                });
            }
            Some(closing) if candidate.is_none() => candidate = Some((closing, line)),
            _ => {}
        }
    }
    candidate.or(in_text)
}

/// Whether a line ends with the header of a block of text, `|` or `>` behind a key or a dash.
fn opens_block(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let content = content.split_once(" #").map_or(content, |(it, _)| it.trim_end());
    let Some((before, header)) = content.rsplit_once([' ', '\t']) else { return false };
    let is_header = |it: &str| it.chars().all(|it| "+-123456789".contains(it));
    header.strip_prefix(['|', '>']).is_some_and(is_header)
        && before.trim_end().ends_with([':', '-'])
}

/// Returns the content without a last line of `...`, which ends it as the `---` below does.
pub(super) fn without_end_mark(text: &str, content: Span) -> Span {
    let significant = |it: &Line| !it.is_insignificant(text);
    match lines(&text[..content.end], content.start).filter(significant).last() {
        Some(line) if closing_of(text, line) == Some(Closing::Dots) => {
            Span::new(content.start, line.first)
        }
        Some(_) | None => content,
    }
}

fn closing_of(text: &str, line: Line) -> Option<Closing> {
    let content = line.content(text);
    let Some(rest) = content.strip_prefix("---") else {
        return (content == "..." && line.indent == 0).then_some(Closing::Dots);
    };
    if line.indent > 0 {
        return rest.is_empty().then_some(Closing::Indented);
    }
    Some(match rest {
        "" => Closing::Dashes,
        _ if rest.bytes().all(|byte| byte == b'-') => Closing::LongDashes,
        _ => Closing::Glued,
    })
}

/// Where an unclosed frontmatter stops: at the blank lines after which no key comes, or at the
/// heading or sentence with which the body begins right below the keys.
fn unclosed_end(text: &str, start: usize, keys: Keys) -> usize {
    let mut blank = None;
    let mut comment = false;
    let mut heading = false;
    let mut headings = Headings { text, start, keys, next: None, is_end: false, last_field: None };
    // Where what is no key begins, and whether it is more than blank lines and comments.
    let mut tail = None;
    let mut has_prose = false;
    for line in lines(text, start) {
        if line.is_blank() {
            // Between blank lines it is the body's heading, before a key it is a comment.
            heading |= comment && blank.is_some();
            blank = blank.or(Some(line.first));
            tail = tail.or(blank);
            comment = false;
        } else if line.is_comment(text) {
            if headings.is_one(line) {
                return tail.unwrap_or(line.first);
            }
            tail = tail.or(Some(line.first));
            comment = true;
        } else if !heading
            && (is_key(text, line) || (line.indent > 0 && (!comment || blank.is_none())))
        {
            (blank, comment, tail, has_prose) = (None, false, None, false);
        } else if blank.is_some() {
            has_prose = true;
            break;
        } else if is_sentence(text, line) {
            tail = tail.or(Some(line.first));
            has_prose = true;
        }
    }
    tail.filter(|_| has_prose).or(blank).unwrap_or(text.len())
}

/// Which of the lines that begin with `#` are headings of a body, and no comments.
struct Headings<'t> {
    text: &'t str,
    /// Where the frontmatter begins.
    start: usize,
    keys: Keys,
    /// The first line behind the last one asked about that is neither blank nor a comment.
    next: Option<Line>,
    /// Whether there is none, so that it is looked for once.
    is_end: bool,
    /// Where the last key stands that is a field, once that has been asked.
    last_field: Option<usize>,
}

impl Headings<'_> {
    /// A heading has a text below it that is no YAML; behind a blank line also one that looks like a
    /// key, unless fields follow.
    fn is_one(&mut self, line: Line) -> bool {
        let text = self.text;
        if line.indent > 0 || !line.content(text).trim_start_matches('#').starts_with(' ') {
            return false;
        }
        if !self.is_end && self.next.is_none_or(|it| it.first <= line.first) {
            self.next = lines(text, line.next).find(|it| !it.is_insignificant(text));
            self.is_end = self.next.is_none();
        }
        let Some(next) = self.next.filter(|it| it.indent == 0) else { return false };
        let content = next.content(text);
        let is_field = self.keys.is_field;
        if !may_be_yaml(text, next) {
            let first = content.split([' ', ':']).next().unwrap_or_default();
            let may_be_typed = content.starts_with(char::is_alphanumeric) && !content.contains(' ');
            return !may_be_typed && !is_field(first) && closing_of(text, next).is_none();
        }
        let is_apart = text[line.next..].starts_with(['\n', '\r']);
        if !is_apart || !is_key(text, next) {
            return false;
        }
        let start = self.start;
        let last = *self.last_field.get_or_insert_with(|| {
            let is_known = |it: &Line| {
                let key = split_key(text, *it).map(|it| it.key.slice(text));
                it.indent == 0 && key.is_some_and(is_field)
            };
            lines(text, start).filter(is_known).last().map_or(start, |it| it.first)
        });
        last < line.first
    }
}

/// Whether a line below keys begins a text of its own. One word may be a key that is being typed, and
/// a small letter goes on with the value above.
fn is_sentence(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let is_new = !content.starts_with(char::is_lowercase) && content.contains(' ');
    line.indent == 0 && is_new && !may_be_yaml(text, line)
}

/// Keys on the first lines, followed by a closing `---`.
fn keys_without_opening(text: &str, first: Line, keys: Keys) -> Option<Delimiters> {
    let known = ["name:", "description:"];
    if first.indent > 0 || !known.iter().any(|key| first.content(text).starts_with(key)) {
        return None;
    }
    let end = lines(text, first.next).find(|line| {
        is_dashes(text, *line) || !(line.indent > 0 || line.is_blank() || may_be_yaml(text, *line))
    })?;
    if !is_dashes(text, end) {
        return None;
    }
    Some(close(text, Opening::Missing, Span::empty(first.first), first.first, keys))
}

fn may_be_yaml(text: &str, line: Line) -> bool {
    is_key(text, line)
        || matches!(line.content(text).as_bytes(), [b'-', b' ', ..] | [b'#' | b']' | b'}', ..])
}

/// A `---` below other text, when keys follow it: a heading, a comment or a fence came first.
fn later_opening(text: &str, start: usize) -> Option<Line> {
    let mut seen_text = false;
    for line in lines(text, start).take(MAX_LINES_BEFORE) {
        if is_dashes(text, line) {
            return frontmatter_follows(text, line.next).then_some(line);
        }
        let content = line.content(text);
        // A code block further down shows an example; only one that wraps the file is meant.
        if seen_text && (content.starts_with("```") || content.starts_with("~~~")) {
            return None;
        }
        seen_text |= !content.is_empty();
    }
    None
}

/// Whether the lines up to one that could close them start with a key, and hold a name or a
/// description.
fn frontmatter_follows(text: &str, start: usize) -> bool {
    let mut named = false;
    let mut first = true;
    for line in lines(text, start) {
        if closing_of(text, line).is_some() {
            return named;
        }
        let content = line.content(text);
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if first && !is_key(text, line) {
            return false;
        }
        first = false;
        named |= content.starts_with("name:") || content.starts_with("description:");
    }
    false
}

fn is_dashes(text: &str, line: Line) -> bool {
    line.indent == 0 && line.content(text) == "---"
}

#[cfg(test)]
mod tests;
