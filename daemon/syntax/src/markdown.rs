//! Splits a Markdown body into prose, code, links and comments ([`Body`]).
//!
//! This is not a full Markdown parser. It finds fences, inline code, links, HTML comments and
//! verbatim HTML blocks (such as `<pre>`) as CommonMark does for ordinary texts, in one pass over
//! the lines, and never fails. Searches for closing delimiters are cached ([`ByteFinder`]), so
//! unclosed ones do not make it quadratic.

mod lookahead;
mod target;

use crate::text::{Span, after_line_end, line_end};
use lookahead::{BacktickRuns, ByteFinder};

pub use target::{link_path, percent_decode};

/// Maximum nesting of parentheses in a link target; CommonMark requires at least three.
const MAX_DEPTH: usize = 32;

/// The parts of a body. All spans refer to the whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The lines without their ends.
    pub lines: Vec<Span>,
    /// The fenced code blocks.
    pub fences: Vec<Fence>,
    /// Inline code, without its backticks.
    pub codes: Vec<Span>,
    /// The targets of links and images.
    pub links: Vec<Span>,
    /// Running text between code, comments and link targets.
    pub prose: Vec<Span>,
    /// HTML comments, including `<!--` and `-->`.
    pub comments: Vec<Span>,
    /// Multi-line HTML blocks without Markdown inside, including comments.
    pub verbatim: Vec<Span>,
}

/// A fenced code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The opening line without its indentation.
    pub open: Span,
    /// The info string after the fence.
    pub info: Span,
    /// The lines in between, including line ends.
    pub content: Span,
    /// The opening fence characters.
    pub mark: Span,
    /// True if a closing fence was found.
    pub closed: bool,
}

impl Body {
    /// Splits the body of `text` at `span`.
    pub fn new(text: &str, span: Span) -> Self {
        let mut body = Self::default();
        let mut fence: Option<Fence> = None;
        // Cached answer of `is_closed_below` for the open fence.
        let mut is_closed = None;
        let mut items = ListStack::default();
        let mut paragraph: Option<Span> = None;
        let mut in_list = false;
        let mut html = HtmlBlocks::default();
        let mut at = span.start;
        while at < span.end {
            let end = line_end(text, at).unwrap_or(span.end).min(span.end);
            let line = Span::new(at, end);
            let next = after_line_end(text, end).min(span.end).max(end);
            body.lines.push(line);
            if at < html.end {
                at = next;
                continue;
            }
            if let Some(open) = &mut fence
                && items.ends_before(text, line)
                && !*is_closed
                    .get_or_insert_with(|| is_closed_below(text, Span::new(at, span.end), open))
            {
                open.closed = true;
                open.content.end = at;
                body.fences.extend(fence.take());
            }
            if fence.is_none() {
                items.take(text, line);
            }
            if let Some(open) = &mut fence {
                if closes_fence(line.slice(text), open.mark.slice(text)) {
                    open.closed = true;
                    open.content.end = at;
                    body.fences.extend(fence.take());
                } else {
                    open.content.end = next;
                }
            } else if html.begins(text, line, span.end) {
                body.flush(text, paragraph.take());
                body.comments.extend(html.comment.take());
                body.verbatim.push(Span::new(line.start, html.end));
            } else if let Some(open) = opening_fence(text, line, next)
                .filter(|_| indent_columns(line.slice(text)) < CODE_INDENT + items.column(in_list))
            {
                body.flush(text, paragraph.take());
                items.leave(indent_columns(line.slice(text)));
                fence = Some(open);
                is_closed = None;
            } else if line.slice(text).trim().is_empty() {
                body.flush(text, paragraph.take());
            } else if paragraph.is_none()
                && !in_list
                && indent_columns(line.slice(text)) >= CODE_INDENT
            {
                // An indented code block.
            } else {
                in_list = begins_item(line.slice(text))
                    || in_list && (paragraph.is_some() || indent_columns(line.slice(text)) > 0);
                let start = paragraph.map_or(line.start, |it| it.start);
                paragraph = Some(Span::new(start, line.end));
            }
            if next == at {
                break;
            }
            at = next;
        }
        body.flush(text, paragraph);
        body.fences.extend(fence);
        body
    }

    /// Splits a paragraph; inline code does not cross paragraphs.
    fn flush(&mut self, text: &str, paragraph: Option<Span>) {
        let Some(paragraph) = paragraph else { return };
        let bytes = text.as_bytes();
        let start = self.definitions(text, paragraph);
        let (mut at, mut prose) = (start, start);
        let mut ends = Closers::default();
        // Open brackets that a link could close.
        let mut n_open = 0_usize;
        // Every construct starts with one of these bytes.
        let begins = |it: &u8| matches!(it, b'\\' | b'`' | b'<' | b'[' | b']');
        while let Some(next) = bytes[at..paragraph.end].iter().position(begins) {
            at += next;
            let rest = &text[at..paragraph.end];
            let taken = match bytes[at] {
                b'\\' if rest.len() > 1 => {
                    at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                    continue;
                }
                b'`' => Some(self.code(text, paragraph, at, &mut ends)),
                b'<' if rest.starts_with("<!--") => {
                    let length = rest.find("-->").map_or(rest.len(), |it| it + 3);
                    self.comments.push(Span::new(at, at + length));
                    Some(length)
                }
                b']' if n_open > 0 => {
                    n_open -= 1;
                    let is_link = rest.starts_with("](");
                    is_link.then(|| self.link(text, paragraph, at, &mut ends)).flatten()
                }
                b'[' => {
                    n_open += 1;
                    None
                }
                _ => None,
            };
            if let Some(length) = taken {
                self.prose.extend(non_empty(Span::new(prose, at)));
                at += length;
                prose = at;
            } else {
                at += 1;
            }
        }
        self.prose.extend(non_empty(Span::new(prose, paragraph.end)));
    }

    /// Takes the inline code at `at` and returns its length; for unmatched backticks, their own
    /// length.
    fn code(&mut self, text: &str, paragraph: Span, at: usize, ends: &mut Closers) -> usize {
        let rest = &text[at..paragraph.end];
        let ticks = rest.bytes().take_while(|it| *it == b'`').count();
        let runs = ends.runs.get_or_insert_with(|| BacktickRuns::new(rest.as_bytes(), at));
        let Some(close) = runs.next(ticks, at + ticks) else { return ticks };
        self.codes.push(Span::new(at + ticks, close));
        close + ticks - at
    }

    /// Takes the link definitions at the start of a paragraph (`[label]: target`) and returns the
    /// start of the rest.
    fn definitions(&mut self, text: &str, paragraph: Span) -> usize {
        let mut at = paragraph.start;
        while at < paragraph.end {
            let end = line_end(text, at).unwrap_or(paragraph.end).min(paragraph.end);
            let Some(target) = definition(text, Span::new(at, end)) else { break };
            self.links.extend(non_empty(target));
            at = after_line_end(text, end).min(paragraph.end).max(end);
        }
        at
    }

    /// Takes the target of the link whose `](` is at `at` and returns its length.
    fn link(
        &mut self,
        text: &str,
        paragraph: Span,
        at: usize,
        ends: &mut Closers,
    ) -> Option<usize> {
        let bytes = &text.as_bytes()[..paragraph.end];
        let blanks = bytes[at + 2..].iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        let start = at + 2 + blanks;
        let target = if bytes[start..].starts_with(b"<") {
            let is_end = |it: &u8| matches!(it, b'>' | b'\n');
            Span::new(start + 1, ends.pointed.next(bytes, start + 1, is_end)?)
        } else {
            Span::new(start, start + bare_target_len(&text[start..paragraph.end])?)
        };
        let close = ends.parentheses.next(bytes, target.end, |it| *it == b')')?;
        self.links.extend(non_empty(target));
        Some(close + 1 - at)
    }
}

/// Cached searches for closing delimiters in a paragraph.
#[derive(Debug, Default)]
struct Closers {
    runs: Option<BacktickRuns>,
    pointed: ByteFinder,
    parentheses: ByteFinder,
}

/// Returns the length of a link target without angle brackets: up to white space or the closing
/// parenthesis. `None` if neither follows or the nesting is too deep.
fn bare_target_len(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' if depth == MAX_DEPTH => return None,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => return Some(at),
            it if it.is_whitespace() => return Some(at),
            _ => {}
        }
    }
    None
}

/// Returns the target of a link definition, `[label]: target "title"`; `None` for footnotes.
fn definition(text: &str, line: Span) -> Option<Span> {
    let written = line.slice(text);
    let content = written.trim_start_matches(' ');
    let indent = written.len() - content.len();
    let label = content.strip_prefix('[')?.split_once("]:")?.0;
    if indent > 3 || label.trim().is_empty() || label.starts_with('^') || label.contains(['[', ']'])
    {
        return None;
    }
    let behind = &content[label.len() + 3..];
    let target = behind.trim_start_matches([' ', '\t']);
    let at = line.start + written.len() - target.len();
    let (start, length) = match target.strip_prefix('<') {
        Some(pointed) => (at + 1, pointed.find('>')?),
        None => (at, target.find(char::is_whitespace).unwrap_or(target.len())),
    };
    let end = start + length;
    let rest = Span::new(end, line.end).slice(text).trim_start_matches('>').trim();
    let is_title = rest.is_empty() || rest.starts_with(['"', '\'', '(']);
    (is_title && length > 0).then(|| Span::new(start, end))
}

fn non_empty(span: Span) -> Option<Span> {
    (!span.is_empty()).then_some(span)
}

/// Minimum indentation of a code block.
const CODE_INDENT: usize = 4;

/// Returns whether a line starts a list item or footnote, to which indented lines below belong.
fn begins_item(line: &str) -> bool {
    let content = line.trim_start_matches(['>', ' ', '\t']);
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let behind = match content.strip_prefix(['-', '*', '+']) {
        Some(behind) => behind,
        None if digits > 0 => match content[digits..].strip_prefix(['.', ')']) {
            Some(behind) => behind,
            None => return false,
        },
        None => return content.starts_with("[^"),
    };
    behind.is_empty() || behind.starts_with([' ', '\t'])
}

/// The open list items, each by the column of its text.
#[derive(Default)]
struct ListStack(Vec<usize>);

impl ListStack {
    /// Returns whether a line ends the innermost item by being indented less than its text.
    fn ends_before(&self, text: &str, line: Span) -> bool {
        let written = line.slice(text);
        !written.trim().is_empty() && self.0.last().is_some_and(|it| indent_columns(written) < *it)
    }

    /// Returns the column from which indentation counts towards a code block.
    fn column(&self, in_list: bool) -> usize {
        if in_list { self.0.last().copied().unwrap_or(CODE_INDENT) } else { 0 }
    }

    /// Closes the items that a line at this column is not part of.
    fn leave(&mut self, columns: usize) {
        self.0.retain(|it| *it <= columns);
    }

    /// Opens the items that start on a line.
    fn take(&mut self, text: &str, line: Span) {
        let written = line.slice(text);
        let mut rest = written.trim_start();
        let mut column = indent_columns(written);
        if rest.is_empty() {
            return;
        }
        self.leave(column);
        // A line may start several items: `- - x`.
        while let Some(length) = list_marker_len(rest) {
            let behind = &rest[length..];
            let blanks = indent_columns(behind);
            if behind.trim().is_empty() {
                self.0.push(column + length + 1);
                return;
            }
            // Five or more spaces start a code block inside the item.
            column += length + if blanks > 4 { 1 } else { blanks };
            self.0.push(column);
            rest = behind.trim_start();
        }
    }
}

/// Multi-line HTML blocks without Markdown inside: comments and verbatim elements. An unclosed
/// block is treated as Markdown.
#[derive(Default)]
struct HtmlBlocks {
    /// End of the last block.
    end: usize,
    /// The comment in the last block.
    comment: Option<Span>,
    /// True once no closing delimiter follows, so that it is not searched again.
    lacks_comment_end: bool,
    lacks_tag: bool,
}

/// Elements with verbatim text.
const VERBATIM: [&str; 4] = ["pre", "script", "style", "textarea"];

impl HtmlBlocks {
    /// Takes the block that starts on a line, up to the line with its closing delimiter. Returns
    /// whether there is one.
    fn begins(&mut self, text: &str, line: Span, end: usize) -> bool {
        let written = line.slice(text);
        let content = written.trim_start();
        if !content.starts_with('<') || written.len() - content.len() >= CODE_INDENT {
            return false;
        }
        let start = line.start + written.len() - content.len();
        let rest = &text[start..end];
        let is_comment = content.starts_with("<!--");
        let close = if is_comment && !self.lacks_comment_end {
            let length = rest.find("-->").map(|it| it + 3);
            self.lacks_comment_end = length.is_none();
            length
        } else if begins_verbatim(content) && !self.lacks_tag {
            let length = closing_tag(rest);
            self.lacks_tag = length.is_none();
            length
        } else {
            None
        };
        // A block on one line is part of a paragraph.
        let Some(close) = close.map(|it| start + it).filter(|it| *it > line.end) else {
            return false;
        };
        self.comment = is_comment.then(|| Span::new(start, close));
        self.end = line_end(text, close).unwrap_or(end).min(end);
        true
    }
}

fn begins_verbatim(content: &str) -> bool {
    let name = content[1..].split(|it: char| !it.is_ascii_alphabetic()).next().unwrap_or_default();
    let behind = content[1 + name.len()..].chars().next();
    VERBATIM.iter().any(|it| it.eq_ignore_ascii_case(name))
        && behind.is_none_or(|it| matches!(it, ' ' | '\t' | '>'))
}

/// Returns the end of the first closing tag of a verbatim element.
fn closing_tag(text: &str) -> Option<usize> {
    text.match_indices("</").find_map(|(at, _)| {
        let behind = &text[at + 2..];
        let length = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let is_one = VERBATIM.iter().any(|it| it.eq_ignore_ascii_case(&behind[..length]));
        (is_one && behind[length..].starts_with('>')).then_some(at + 2 + length + 1)
    })
}

/// Returns the length of a list marker.
fn list_marker_len(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text.as_bytes().get(digits)?;
    let is_mark = match digits {
        0 => matches!(mark, b'-' | b'*' | b'+'),
        _ => digits < 10 && matches!(mark, b'.' | b')'),
    };
    if !is_mark {
        return None;
    }
    let behind = &text[digits + 1..];
    (behind.is_empty() || behind.starts_with([' ', '\t'])).then_some(digits + 1)
}

/// Returns the indentation of a line; a tab advances to the next multiple of four.
fn indent_columns(line: &str) -> usize {
    let blanks = line.bytes().take_while(|it| matches!(it, b' ' | b'\t'));
    blanks.fold(0, |column, it| if it == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// Returns whether the next fence line closes the open fence and has the same indentation.
///
/// If so, unindented lines in between are code, unlike in CommonMark.
fn is_closed_below(text: &str, rest: Span, open: &Fence) -> bool {
    let mark = open.mark.slice(text);
    let start = text[..open.open.start].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let indent = indent_columns(&text[start..open.open.start]);
    let is_fence =
        |it: &&str| it.trim_start().starts_with("```") || it.trim_start().starts_with("~~~");
    let next = rest.slice(text).lines().find(is_fence);
    next.is_some_and(|it| closes_fence(it, mark) && indent_columns(it) == indent && indent > 0)
}

fn opening_fence(text: &str, line: Span, next: usize) -> Option<Fence> {
    let written = line.slice(text);
    let content = written.trim_start();
    let mark = content.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let length = content.bytes().take_while(|it| *it == mark as u8).count();
    let info = &content[length..];
    if length < 3 || (mark == '`' && info.contains('`')) {
        return None;
    }
    let start = line.start + (written.len() - content.len());
    let info_start = start + length + (info.len() - info.trim_start().len());
    Some(Fence {
        open: Span::new(start, start + content.trim_end().len()),
        info: Span::new(info_start, info_start + info.trim().len()),
        content: Span::empty(next),
        mark: Span::new(start, start + length),
        closed: false,
    })
}

fn closes_fence(line: &str, mark: &str) -> bool {
    let content = line.trim();
    let Some(letter) = mark.chars().next() else { return false };
    content.len() >= mark.len() && content.chars().all(|it| it == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let body = Body::new(text, Span::new(0, text.len()));
        let mut parts: Vec<(usize, String)> = Vec::new();
        let mut add = |kind: &str, spans: &[Span]| {
            for span in spans {
                parts.push((span.start, format!("{kind} {:?}", span.slice(text))));
            }
        };
        add("code", &body.codes);
        add("link", &body.links);
        add("prose", &body.prose);
        add("comment", &body.comments);
        for fence in &body.fences {
            let closed = if fence.closed { "closed" } else { "open" };
            let info = fence.info.slice(text);
            parts.push((
                fence.open.start,
                format!("{closed} fence {info:?} {:?}", fence.content.slice(text)),
            ));
        }
        parts.sort();
        let parts: Vec<_> = parts.into_iter().map(|(_, it)| it).collect();
        assert_eq!(parts.join("\n"), expected);
    }

    #[test]
    fn links_need_an_opening_bracket_and_may_pad_the_target() {
        check(
            r"\[a](no.md) and [b]( yes.md ) and [c](<x y.md>)",
            r#"prose "\\[a](no.md) and [b"
link "yes.md"
prose " and [c"
link "x y.md""#,
        );
        check("a](no.md)", "prose \"a](no.md)\"");
    }

    #[test]
    fn link_definitions_are_links_and_footnotes_are_not() {
        check(
            "[c][r]\n\n[r]: yes.md\n[s]: <a b.md> 'title'\n\n[^1]: no.md\n\n[note]: see there\n",
            "prose \"[c][r]\"\nlink \"yes.md\"\nlink \"a b.md\"\nprose \"[^1]: no.md\"\nprose \"[note]: see there\"",
        );
    }

    #[test]
    fn prose_excludes_code_links_and_comments() {
        check(
            "See `a b` and [x](y.md \"t\") <!-- no --> end",
            "prose \"See \"\ncode \"a b\"\nprose \" and [x\"\nlink \"y.md\"\nprose \" \"\ncomment \"<!-- no -->\"\nprose \" end\"",
        );
        check("``a ` b`` c", "code \"a ` b\"\nprose \" c\"");
        check("[x](<a b.md>)", "prose \"[x\"\nlink \"a b.md\"");
        check("[x](a(1).md)!", "prose \"[x\"\nlink \"a(1).md\"\nprose \"!\"");
        check("a ` b\n\nc ` d", "prose \"a \"\nprose \" b\"\nprose \"c \"\nprose \" d\"");
        check("\\`a é\\é", "prose \"\\\\`a é\\\\é\"");
    }

    #[test]
    fn indented_text_is_code_except_in_list_items() {
        check("a\n\n    [x](no.md)\n\n\t[y](no.md)\nb", "prose \"a\"\nprose \"b\"");
        check("    [x](no.md)", "");
        check("a\n    b", "prose \"a\\n    b\"");
        check(
            "- a\n\n    b\n\n      c\n\nd\n\n    [x](no.md)",
            "prose \"- a\"\nprose \"    b\"\nprose \"      c\"\nprose \"d\"",
        );
        check("12) a\n\n    b", "prose \"12) a\"\nprose \"    b\"");
        check("[^1]: a\n\n    b", "prose \"[^1]: a\"\nprose \"    b\"");
    }

    #[test]
    fn fence_in_a_list_item_ends_with_the_item() {
        check(
            "- a\n\n  ```\n  x\n\nb [c](d)",
            "prose \"- a\"\nclosed fence \"\" \"  x\\n\\n\"\nprose \"b [c\"\nlink \"d\"",
        );
        // Unindented code belongs to a fence that is closed with its opening indentation.
        check(
            "1. a\n   ```\nx\n   ```\nb",
            "prose \"1. a\"\nclosed fence \"\" \"x\\n\"\nprose \"b\"",
        );
        check("- a\n\n```\n  x\nb\n```\n", "prose \"- a\"\nclosed fence \"\" \"  x\\nb\\n\"");
        check(
            "- a\n  - b\n    ```\n    x\n",
            "prose \"- a\\n  - b\"\nopen fence \"\" \"    x\\n\"",
        );
    }

    #[test]
    fn verbatim_html_is_not_parsed_as_markdown() {
        for (open, close) in
            [("<pre>", "</pre>"), ("<script a=b>", "</SCRIPT>"), ("  <style", "</style>")]
        {
            check(
                &format!("a\n{open}\n```\n\n[a](no.md)\n{close} x\nb"),
                "prose \"a\"\nprose \"b\"",
            );
        }
        check(
            "<!--\n```\n\n[a](no.md)\n--> x\nb",
            "comment \"<!--\\n```\\n\\n[a](no.md)\\n-->\"\nprose \"b\"",
        );
        // HTML on one line or without a closing tag does not hide Markdown.
        check("<!-- x --> [a](b)", "comment \"<!-- x -->\"\nprose \" [a\"\nlink \"b\"");
        check("<pre>\n\n[a](b)", "prose \"<pre>\"\nprose \"[a\"\nlink \"b\"");
        check("<preface>\n```\nx", "prose \"<preface>\"\nopen fence \"\" \"x\"");
    }

    #[test]
    fn fence_indented_like_code_is_not_a_fence() {
        check("a\n    ```\nb", "prose \"a\\n    \"\nprose \"\\nb\"");
        check("a\n\n    ```\n\nb", "prose \"a\"\nprose \"b\"");
        check(
            "1. a\n\n    ```\n    x\n    ```\n",
            "prose \"1. a\"\nclosed fence \"\" \"    x\\n\"",
        );
    }

    #[test]
    fn fence_is_closed_by_a_matching_fence() {
        check(
            "a\n```sh\n`x`\n~~~\n```\nb",
            "prose \"a\"\nclosed fence \"sh\" \"`x`\\n~~~\\n\"\nprose \"b\"",
        );
        check("````\n```\n````", "closed fence \"\" \"```\\n\"");
        check("~~~ x\n[a](b)", "open fence \"x\" \"[a](b)\"");
        check("``` a ``` b", "code \" a \"\nprose \" b\"");
    }
}
