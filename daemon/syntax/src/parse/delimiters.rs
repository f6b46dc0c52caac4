//! Finds the `---` lines: start and end of the frontmatter, start of the body.
//!
//! The rule of all agents comes first: a first line of `---` opens, the next `---` line closes, and
//! trailing white space is ignored. If that fails, the most likely intent is assumed and reported.
//! This file looks at lines only and knows no YAML.

use crate::diagnostic::{Diagnostic, ProblemCode};
use crate::parse::keys::Keys;
use crate::parse::line::{Line, is_key, lines, split_key};
use crate::text::Span;

/// The form of the opening line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OpeningKind {
    /// `---` is the first line.
    FirstLine,
    /// `---` follows blank lines, a comment, a heading or other text.
    Later,
    /// The keys start without `---`.
    Missing,
}

/// The form of the closing line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Closing {
    /// A line of `---`.
    Dashes,
    /// A line of more than three dashes.
    LongDashes,
    /// `---` followed by text on the same line.
    Glued,
    /// `...`, the YAML end-of-document marker.
    Dots,
    /// An indented `---`.
    Indented,
    /// A line such as `--` or `—` below the last key, which closes for no agent.
    Mistyped,
    /// No closing line.
    Missing,
}

/// The spans of the parts of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Delimiters {
    pub(super) opening: OpeningKind,
    pub(super) closing: Closing,
    pub(super) open: Span,
    pub(super) content: Span,
    pub(super) close: Option<Span>,
    pub(super) body: Span,
}

/// Maximum number of lines before a late opening `---`.
const MAX_LINES_BEFORE: usize = 40;

/// Finds the frontmatter of `text`, which starts at offset `start`.
pub(super) fn find(text: &str, start: usize, keys: Keys) -> Option<Delimiters> {
    let first = lines(text, start).next()?;
    if is_dashes(text, first) {
        return Some(find_end(text, OpeningKind::FirstLine, first.whole(), first.next, keys));
    }
    let first = lines(text, start).find(|line| !line.is_blank())?;
    if is_key(text, first) {
        return keys_without_opening(text, first, keys);
    }
    let open = later_opening(text, start)?;
    Some(find_end(text, OpeningKind::Later, open.whole(), open.next, keys))
}

/// Returns the parts of a text whose content is known, between a first and a last line.
pub(super) fn around(text: &str, content: Span) -> Delimiters {
    Delimiters {
        opening: OpeningKind::FirstLine,
        closing: Closing::Dashes,
        open: Span::new(0, content.start),
        content,
        close: Some(Span::new(content.end, text.len())),
        body: Span::empty(text.len()),
    }
}

/// Reports deviations of the `---` lines.
pub(super) fn diagnose(text: &str, delims: &Delimiters, diagnostics: &mut Vec<Diagnostic>) {
    match delims.opening {
        OpeningKind::FirstLine => {}
        OpeningKind::Later => diagnostics.push(
            Diagnostic::error(
                ProblemCode::TextBeforeFrontmatter,
                text_before(text, delims.open.start),
                "the opening `---` is not on the first line",
            )
            .with_help(
                "Make `---` the first line of the file; agents see no frontmatter otherwise.",
            ),
        ),
        OpeningKind::Missing => diagnostics.push(
            Diagnostic::error(
                ProblemCode::MissingOpening,
                delims.open,
                "the frontmatter has no opening `---`",
            )
            .with_help("Add a first line of `---`; agents see no frontmatter otherwise."),
        ),
    }
    let odd = match delims.closing {
        Closing::Dashes => return,
        Closing::Missing => {
            diagnostics.push(
                Diagnostic::error(
                    ProblemCode::UnclosedFrontmatter,
                    delims.open,
                    "the frontmatter is never closed",
                )
                .with_help("Add a line of `---` after the last key."),
            );
            return;
        }
        Closing::LongDashes => "more than three dashes",
        Closing::Glued => "`---` followed by text",
        Closing::Dots => "`...`",
        Closing::Indented => "an indented `---`",
        Closing::Mistyped => "a line that is almost `---`",
    };
    diagnostics.push(
        Diagnostic::error(
            ProblemCode::OddClosing,
            delims.close.unwrap_or(delims.open),
            format!("the frontmatter is closed by {odd}"),
        )
        .with_help("Close it with a line that is exactly `---`; otherwise agents read past it."),
    );
}

/// Returns the text before the opening line, trimmed; at least one byte.
fn text_before(text: &str, end: usize) -> Span {
    let found = Span::new(0, end).slice(text);
    let trimmed = found.trim();
    if trimmed.is_empty() {
        return Span::new(0, end);
    }
    let start = found.len() - found.trim_start().len();
    Span::new(start, start + trimmed.len())
}

/// Finds the end of a frontmatter whose content starts at `start`.
fn find_end(text: &str, opening: OpeningKind, open: Span, start: usize, keys: Keys) -> Delimiters {
    let found = match closing_line(text, start) {
        Some(exact @ (Closing::Dashes, _)) => Some(exact),
        other => {
            let mistyped = mistyped_line(text, start, keys);
            let is_first = |it: &Line| other.is_none_or(|(_, other)| it.first < other.first);
            mistyped.filter(is_first).map(|it| (Closing::Mistyped, it)).or(other)
        }
    };
    let Some((closing, line)) = found else {
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

/// Finds the closing line.
///
/// The first `---` wins. Another candidate is used if no `---` follows, or if the text after it
/// does not continue with keys, so that the `---` is a rule in the body. `...` right above `---` is
/// part of the end. Dashes in a block scalar are text.
fn closing_line(text: &str, start: usize) -> Option<(Closing, Line)> {
    let mut candidate: Option<(Closing, Line)> = None;
    let mut keys_go_on = None;
    // Candidate inside a block scalar, and the indentation of the block's key.
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

/// Finds a line right below the keys that is almost `---`. Fields below it show that it closes
/// nothing.
fn mistyped_line(text: &str, start: usize, keys: Keys) -> Option<Line> {
    let is_mistyped = |it: &Line| it.indent == 0 && is_almost_dashes(it.content(text));
    let line = lines(text, start).find(is_mistyped)?;
    let before = &text[..line.first];
    let end = unclosed_end(before, start, keys);
    let above = lines(before, start).filter(|it| !it.is_blank()).last()?;
    // Between comments and text it may be a rule of the body.
    let is_rule = above.is_comment(text) && !line.content(text).starts_with(DASHES);
    let below = lines(text, line.next).find(|it| !it.is_insignificant(text));
    let key = below.filter(|it| it.indent == 0).and_then(|it| split_key(text, it));
    let goes_on = key.is_some_and(|it| (keys.is_field)(it.key.slice(text)));
    (before[end..].trim().is_empty() && !is_rule && !goes_on).then_some(line)
}

/// Dashes of all kinds.
const DASHES: [char; 6] = ['-', '\u{2010}', '\u{2012}', '–', '—', '−'];

/// Returns whether a line, other than one of three dashes, is made of dashes or is a rule of
/// Markdown. One `-` is an item of a list.
fn is_almost_dashes(content: &str) -> bool {
    let mut marks = content.chars().filter(|it| *it != ' ');
    let Some(first) = marks.clone().next() else { return false };
    let n_marks = marks.clone().count();
    if DASHES.contains(&first) {
        return !matches!(content, "-" | "---") && marks.all(|it| DASHES.contains(&it));
    }
    matches!(first, '*' | '_') && n_marks >= 3 && marks.all(|it| it == first)
}

/// Returns whether a line ends with a block scalar header, `|` or `>` after a key or dash.
fn opens_block(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let content = content.split_once(" #").map_or(content, |(it, _)| it.trim_end());
    let Some((before, header)) = content.rsplit_once([' ', '\t']) else { return false };
    let is_header = |it: &str| it.chars().all(|it| "+-123456789".contains(it));
    header.strip_prefix(['|', '>']).is_some_and(is_header)
        && before.trim_end().ends_with([':', '-'])
}

/// Returns the content without a final `...` line.
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

/// Returns the end of an unclosed frontmatter: the blank lines that no key follows, or the heading
/// or sentence that starts the body right below the keys.
fn unclosed_end(text: &str, start: usize, keys: Keys) -> usize {
    let mut blank = None;
    let mut comment = false;
    let mut heading = false;
    let mut headings = Headings { text, start, keys, next: None, is_end: false, last_field: None };
    // Start of the lines after the last key; and if they include more than blank lines and
    // comments.
    let mut tail = None;
    let mut has_prose = false;
    for line in lines(text, start) {
        if line.is_blank() {
            // Between blank lines it is a heading of the body; before a key it is a comment.
            heading |= comment && blank.is_some();
            blank = blank.or(Some(line.first));
            tail = tail.or(blank);
            comment = false;
        } else if line.is_comment(text) {
            if headings.is_heading(line) {
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

/// Tells headings of the body from comments.
struct Headings<'t> {
    text: &'t str,
    start: usize,
    keys: Keys,
    /// The first significant line after the last queried line.
    next: Option<Line>,
    /// True if no significant line follows, so that the search is not repeated.
    is_end: bool,
    /// Offset of the last field key, computed once.
    last_field: Option<usize>,
}

impl Headings<'_> {
    /// Returns whether a line is a heading: followed by text that is not YAML, or, after a blank
    /// line, by something like a key, unless field keys follow.
    fn is_heading(&mut self, line: Line) -> bool {
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

/// Returns whether a line below keys starts the body. A single word may be a key being typed, and a
/// lower-case letter continues the value above.
fn is_sentence(text: &str, line: Line) -> bool {
    let content = line.content(text);
    let is_new = !content.starts_with(char::is_lowercase) && content.contains(' ');
    line.indent == 0 && is_new && !may_be_yaml(text, line)
}

/// Reads a frontmatter without an opening line: keys on the first lines, and a closing `---`.
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
    Some(find_end(text, OpeningKind::Missing, Span::empty(first.first), first.first, keys))
}

fn may_be_yaml(text: &str, line: Line) -> bool {
    is_key(text, line)
        || matches!(line.content(text).as_bytes(), [b'-', b' ', ..] | [b'#' | b']' | b'}', ..])
}

/// Finds a `---` after other text, such as a heading, comment or fence, if keys follow it.
fn later_opening(text: &str, start: usize) -> Option<Line> {
    let mut seen_text = false;
    for line in lines(text, start).take(MAX_LINES_BEFORE) {
        if is_dashes(text, line) {
            return frontmatter_follows(text, line.next).then_some(line);
        }
        let content = line.content(text);
        // A later code block is an example; only one that wraps the whole file counts.
        if seen_text && (content.starts_with("```") || content.starts_with("~~~")) {
            return None;
        }
        seen_text |= !content.is_empty();
    }
    None
}

/// Returns whether the lines up to a closing line start with a key and include a name or
/// description.
fn frontmatter_follows(text: &str, start: usize) -> bool {
    let mut has_name = false;
    let mut first = true;
    for line in lines(text, start) {
        if closing_of(text, line).is_some() {
            return has_name;
        }
        let content = line.content(text);
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if first && !is_key(text, line) {
            return false;
        }
        first = false;
        has_name |= content.starts_with("name:") || content.starts_with("description:");
    }
    false
}

fn is_dashes(text: &str, line: Line) -> bool {
    line.indent == 0 && line.content(text) == "---"
}

#[cfg(test)]
mod tests;
