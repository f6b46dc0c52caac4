//! The body of a skill, cut into what rules look at: prose, code, links and comments.
//!
//! Not a Markdown parser: it finds fences, inline code, links, HTML comments and the blocks of HTML
//! that hold text as it is written (`<pre>` and its like) as CommonMark does in the texts that people
//! write, in one pass over the lines, and never fails. What opens and is not closed costs no second
//! look: what closes is looked for once ([`ByteFinder`]).

mod lookahead;
mod target;

use crate::text::{Span, after_line_end, line_end};
use lookahead::{BacktickRuns, ByteFinder};

pub use target::{link_path, percent_decode};

/// How many parentheses may be open in the target of a link; CommonMark wants three at least.
const MAX_DEPTH: usize = 32;

/// A body, cut into its parts. All spans are of the whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Each line without its end.
    pub lines: Vec<Span>,
    /// The fenced blocks.
    pub fences: Vec<Fence>,
    /// What stands between backticks, without them.
    pub codes: Vec<Span>,
    /// The targets of links and images.
    pub links: Vec<Span>,
    /// Stretches of running text, between code, comments and the targets of links.
    pub prose: Vec<Span>,
    /// The comments, with `<!--` and `-->`.
    pub comments: Vec<Span>,
    /// The blocks of HTML of several lines in which nothing is Markdown, comments too.
    pub verbatim: Vec<Span>,
}

/// A fenced block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The opening line without its indentation.
    pub open: Span,
    /// What stands behind the fence.
    pub info: Span,
    /// The lines between, with their ends.
    pub content: Span,
    /// The fence as it is written, so that it can be closed alike.
    pub mark: Span,
    /// Whether it is closed.
    pub closed: bool,
}

impl Body {
    /// Cuts the part of `text` that is the body.
    pub fn new(text: &str, span: Span) -> Self {
        let mut body = Self::default();
        let mut fence: Option<Fence> = None;
        // Whether the open one is closed below, once that was asked.
        let mut is_closed = None;
        let mut items = ListStack::default();
        let mut paragraph: Option<Span> = None;
        let mut in_list = false;
        let mut raw = HtmlBlocks::default();
        let mut at = span.start;
        while at < span.end {
            let end = line_end(text, at).unwrap_or(span.end).min(span.end);
            let line = Span::new(at, end);
            let next = after_line_end(text, end).min(span.end).max(end);
            body.lines.push(line);
            if at < raw.end {
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
                if closes(line.slice(text), open.mark.slice(text)) {
                    open.closed = true;
                    open.content.end = at;
                    body.fences.extend(fence.take());
                } else {
                    open.content.end = next;
                }
            } else if raw.begins(text, line, span.end) {
                body.flush(text, paragraph.take());
                body.comments.extend(raw.comment.take());
                body.verbatim.push(Span::new(line.start, raw.end));
            } else if let Some(open) = opening(text, line, next)
                .filter(|_| columns(line.slice(text)) < CODE + items.column(in_list))
            {
                body.flush(text, paragraph.take());
                items.leave(columns(line.slice(text)));
                fence = Some(open);
                is_closed = None;
            } else if line.slice(text).trim().is_empty() {
                body.flush(text, paragraph.take());
            } else if paragraph.is_none() && !in_list && columns(line.slice(text)) >= CODE {
                // A block of code, without fences.
            } else {
                in_list = begins_item(line.slice(text))
                    || in_list && (paragraph.is_some() || columns(line.slice(text)) > 0);
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

    /// Cuts a paragraph: what a backtick opens, it does not close in another one.
    fn flush(&mut self, text: &str, paragraph: Option<Span>) {
        let Some(paragraph) = paragraph else { return };
        let bytes = text.as_bytes();
        let start = self.definitions(text, paragraph);
        let (mut at, mut prose) = (start, start);
        let mut ends = Closers::default();
        // Brackets that a link could close.
        let mut n_open = 0_usize;
        // All that begins something is one byte, so that the others need no look.
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
                self.prose.extend(some(Span::new(prose, at)));
                at += length;
                prose = at;
            } else {
                at += 1;
            }
        }
        self.prose.extend(some(Span::new(prose, paragraph.end)));
    }

    /// Takes a span of code at `at` and returns its length; of backticks without partners, these
    /// alone.
    fn code(&mut self, text: &str, paragraph: Span, at: usize, ends: &mut Closers) -> usize {
        let rest = &text[at..paragraph.end];
        let ticks = rest.bytes().take_while(|it| *it == b'`').count();
        let runs = ends.runs.get_or_insert_with(|| BacktickRuns::new(rest.as_bytes(), at));
        let Some(close) = runs.next(ticks, at + ticks) else { return ticks };
        self.codes.push(Span::new(at + ticks, close));
        close + ticks - at
    }

    /// Takes the definitions that a paragraph begins with, `[label]: target`, and returns where the
    /// rest of it starts.
    fn definitions(&mut self, text: &str, paragraph: Span) -> usize {
        let mut at = paragraph.start;
        while at < paragraph.end {
            let end = line_end(text, at).unwrap_or(paragraph.end).min(paragraph.end);
            let Some(target) = definition(text, Span::new(at, end)) else { break };
            self.links.extend(some(target));
            at = after_line_end(text, end).min(paragraph.end).max(end);
        }
        at
    }

    /// Takes the target of a link whose `](` is at `at`, and returns how far it goes.
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
            Span::new(start, start + bare(&text[start..paragraph.end])?)
        };
        let close = ends.parentheses.next(bytes, target.end, |it| *it == b')')?;
        self.links.extend(some(target));
        Some(close + 1 - at)
    }
}

/// What closes something in a paragraph, looked for when something first opens.
#[derive(Debug, Default)]
struct Closers {
    runs: Option<BacktickRuns>,
    pointed: ByteFinder,
    parentheses: ByteFinder,
}

/// Returns the length of a target that nothing is written around: up to a blank, or to the
/// parenthesis that closes the link. Nothing where neither comes, or too much is open before.
fn bare(text: &str) -> Option<usize> {
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

/// Returns the target of a line that defines one for links, as `[label]: target "title"`. Footnotes
/// are none.
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

fn some(span: Span) -> Option<Span> {
    (!span.is_empty()).then_some(span)
}

/// How many blanks make code of a line behind an empty one.
const CODE: usize = 4;

/// Whether a line begins an item of a list, or a footnote: what is indented below belongs to it.
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

/// The items of lists that a line lies in, each by the column at which its text begins.
#[derive(Default)]
struct ListStack(Vec<usize>);

impl ListStack {
    /// Whether the innermost item is over at a line: it is less indented than the item's text.
    fn ends_before(&self, text: &str, line: Span) -> bool {
        let written = line.slice(text);
        !written.trim().is_empty() && self.0.last().is_some_and(|it| columns(written) < *it)
    }

    /// Returns the column from which on blanks make code of a line.
    fn column(&self, in_list: bool) -> usize {
        if in_list { self.0.last().copied().unwrap_or(CODE) } else { 0 }
    }

    /// Leaves the items that a line of so many columns is not in.
    fn leave(&mut self, columns: usize) {
        self.0.retain(|it| *it <= columns);
    }

    /// Takes the items that begin in a line, behind those that it lies in.
    fn take(&mut self, text: &str, line: Span) {
        let written = line.slice(text);
        let mut rest = written.trim_start();
        let mut column = columns(written);
        if rest.is_empty() {
            return;
        }
        self.leave(column);
        // One line may begin several: `- - x`.
        while let Some(length) = marker(rest) {
            let behind = &rest[length..];
            let blanks = columns(behind);
            if behind.trim().is_empty() {
                self.0.push(column + length + 1);
                return;
            }
            // From five blanks on they are code in an item that begins at the first.
            column += length + if blanks > 4 { 1 } else { blanks };
            self.0.push(column);
            rest = behind.trim_start();
        }
    }
}

/// Blocks of HTML of several lines in which nothing is Markdown: comments, and elements whose text
/// stands as it is written. What nothing closes is none of them: then the text would be nobody's.
#[derive(Default)]
struct HtmlBlocks {
    /// Where the last one ends.
    end: usize,
    /// What of it is a comment.
    comment: Option<Span>,
    /// What closes a comment or an element, looked for once where there is none.
    lacks_comment_end: bool,
    lacks_tag: bool,
}

/// The elements whose text stands as it is written.
const VERBATIM: [&str; 4] = ["pre", "script", "style", "textarea"];

impl HtmlBlocks {
    /// Takes the block that begins in a line, up to the end of the line that closes it. Returns
    /// whether there is one.
    fn begins(&mut self, text: &str, line: Span, end: usize) -> bool {
        let written = line.slice(text);
        let content = written.trim_start();
        if !content.starts_with('<') || written.len() - content.len() >= CODE {
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
        // On one line it stands within a paragraph.
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

/// Returns where the first closing tag of an element that is verbatim ends.
fn closing_tag(text: &str) -> Option<usize> {
    text.match_indices("</").find_map(|(at, _)| {
        let behind = &text[at + 2..];
        let length = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let is_one = VERBATIM.iter().any(|it| it.eq_ignore_ascii_case(&behind[..length]));
        (is_one && behind[length..].starts_with('>')).then_some(at + 2 + length + 1)
    })
}

/// Returns the length of the mark with which an item begins.
fn marker(text: &str) -> Option<usize> {
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

/// Returns how far a line is indented; a tab reaches to the next multiple of four.
fn columns(line: &str) -> usize {
    let blanks = line.bytes().take_while(|it| matches!(it, b' ' | b'\t'));
    blanks.fold(0, |column, it| if it == b'\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// Whether the next line that looks like a fence closes the open one and is indented as that is.
///
/// Then the lines between are code whose author has not indented them, whatever CommonMark says.
fn is_closed_below(text: &str, rest: Span, open: &Fence) -> bool {
    let mark = open.mark.slice(text);
    let start = text[..open.open.start].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let indent = columns(&text[start..open.open.start]);
    let is_fence =
        |it: &&str| it.trim_start().starts_with("```") || it.trim_start().starts_with("~~~");
    let next = rest.slice(text).lines().find(is_fence);
    next.is_some_and(|it| closes(it, mark) && columns(it) == indent && indent > 0)
}

fn opening(text: &str, line: Span, next: usize) -> Option<Fence> {
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

fn closes(line: &str, mark: &str) -> bool {
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
    fn links_have_a_bracket_that_opens_them_and_blanks_around_their_target() {
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
    fn a_definition_is_a_link_and_a_footnote_is_none() {
        check(
            "[c][r]\n\n[r]: yes.md\n[s]: <a b.md> 'title'\n\n[^1]: no.md\n\n[note]: see there\n",
            "prose \"[c][r]\"\nlink \"yes.md\"\nlink \"a b.md\"\nprose \"[^1]: no.md\"\nprose \"[note]: see there\"",
        );
    }

    #[test]
    fn code_links_and_comments_are_no_prose() {
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
    fn what_is_indented_is_code_but_below_an_item() {
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
    fn a_fence_in_an_item_ends_with_the_item() {
        check(
            "- a\n\n  ```\n  x\n\nb [c](d)",
            "prose \"- a\"\nclosed fence \"\" \"  x\\n\\n\"\nprose \"b [c\"\nlink \"d\"",
        );
        // Code that is not indented is code where its fence is closed as it was opened.
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
    fn what_stands_in_html_as_it_is_written_is_no_markdown() {
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
        // On one line, and where nothing closes it, the rest is Markdown.
        check("<!-- x --> [a](b)", "comment \"<!-- x -->\"\nprose \" [a\"\nlink \"b\"");
        check("<pre>\n\n[a](b)", "prose \"<pre>\"\nprose \"[a\"\nlink \"b\"");
        check("<preface>\n```\nx", "prose \"<preface>\"\nopen fence \"\" \"x\"");
    }

    #[test]
    fn a_fence_that_is_indented_like_code_is_none() {
        check("a\n    ```\nb", "prose \"a\\n    \"\nprose \"\\nb\"");
        check("a\n\n    ```\n\nb", "prose \"a\"\nprose \"b\"");
        check(
            "1. a\n\n    ```\n    x\n    ```\n",
            "prose \"1. a\"\nclosed fence \"\" \"    x\\n\"",
        );
    }

    #[test]
    fn fences_are_closed_by_their_like() {
        check(
            "a\n```sh\n`x`\n~~~\n```\nb",
            "prose \"a\"\nclosed fence \"sh\" \"`x`\\n~~~\\n\"\nprose \"b\"",
        );
        check("````\n```\n````", "closed fence \"\" \"```\\n\"");
        check("~~~ x\n[a](b)", "open fence \"x\" \"[a](b)\"");
        check("``` a ``` b", "code \" a \"\nprose \" b\"");
    }
}
