//! Checks of fenced code blocks that are not closed.

use std::collections::HashSet;

use skills_syntax::edit::Edit;
use skills_syntax::markdown::Fence;
use skills_syntax::text::{Span, after_line_end};

use super::super::Finding;
use super::super::finding::{Fix, Offer};
use super::super::subject::Cx;
use super::rules::UNCLOSED_FENCE;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let fences = &cx.body().fences;
    let Some(last) = fences.iter().find(|it| !it.closed) else { return };
    let mut without_end = HashSet::new();
    let nested = fences.iter().enumerate().find_map(|(at, outer)| {
        // A fence without an info string may be the end of a block above.
        let info = inner_info(cx, outer).filter(|_| outer.closed && !is_bare(cx, outer))?;
        let mark = outer.mark.slice(cx.text);
        if without_end.contains(mark) {
            return None;
        }
        let end = find_end(cx, mark, &fences[at + 1..]);
        if end.is_none() {
            // Later blocks with this mark have none either.
            without_end.insert(mark);
        }
        Some((outer, info, end?))
    });
    out.push(match nested {
        Some((outer, info, end)) => lengthen(cx, outer, info, end),
        None => close(cx, last),
    });
}

/// Returns the info string of a line in a code block that would open another one with the same
/// fence.
fn inner_info<'t>(cx: &Cx<'t>, fence: &Fence) -> Option<&'t str> {
    let mark = fence.mark.slice(cx.text);
    fence.content.slice(cx.text).lines().find_map(|line| {
        let info = line.trim().strip_prefix(mark)?;
        // A closing fence has no info string, and one on a line of its own no backticks.
        let is_info = info.starts_with(char::is_alphabetic) && !info.contains('`');
        is_info.then_some(info)
    })
}

/// Returns the intended end of a code block that has another one inside: a fence that has no info
/// string, and opens a code block that is not closed, or that contains the start of the next one.
fn find_end<'f>(cx: &Cx<'_>, mark: &str, after: &'f [Fence]) -> Option<&'f Fence> {
    after.iter().find(|it| {
        let is_same = is_bare(cx, it) && it.mark.slice(cx.text) == mark;
        is_same && (!it.closed || inner_info(cx, it).is_some())
    })
}

fn is_bare(cx: &Cx<'_>, fence: &Fence) -> bool {
    fence.info.slice(cx.text).trim().is_empty()
}

/// Reports a code block that ends with a block inside it, and offers longer fences.
fn lengthen(cx: &Cx<'_>, outer: &Fence, info: &str, end: &Fence) -> Finding {
    let message = format!(
        "this code block ends with the `{}` block inside it, because their fences are equally long",
        info.split_whitespace().next().unwrap_or_default()
    );
    let finding = Finding::new(&UNCLOSED_FENCE, outer.open, message)
        .help("Write longer fences around the outer block.");
    let letter = &outer.mark.slice(cx.text)[..1];
    let inside = Span::new(outer.open.start, end.open.end).slice(cx.text);
    let length =
        |it: &str| it.trim_start().bytes().take_while(|it| [*it] == *letter.as_bytes()).count();
    let longest = inside.lines().map(length).max().unwrap_or_default();
    let mark = letter.repeat(longest + 1);
    let edits = [outer, end].map(|it| Edit { span: it.mark, text: mark.clone() }).to_vec();
    finding.offer(Offer::Draft(Fix { title: format!("Lengthen both fences to `{mark}`"), edits }))
}

/// Reports a code block without an end. It is closed at the end of the text if only code follows.
fn close(cx: &Cx<'_>, fence: &Fence) -> Finding {
    let finding = Finding::new(&UNCLOSED_FENCE, fence.open, "this code block is not closed");
    let (text, line_break) = (cx.text, cx.line_break());
    let mark = fence.mark.slice(text);
    let before = if text.ends_with(['\n', '\r']) { "" } else { line_break };
    let closing = format!("{before}{mark}{line_break}");
    let at_end =
        finding.clone().fix("Close the block at the end", Span::empty(text.len()), closing);
    let content = fence.content.slice(text);
    let prose = start_of_prose(content);
    if is_bare(cx, fence) && (prose.is_some() || content.trim().is_empty()) {
        let line = cx.line(fence.open.start);
        let is_alone = Span::new(line.start, fence.open.start).slice(text).trim().is_empty();
        let whole = Span::new(line.start, after_line_end(text, line.end));
        let place = if is_alone { whole } else { fence.open };
        let finding = finding
            .help("Remove the fence, or close the block where the code ends.")
            .draft("Remove the fence", place, "");
        return Finding {
            offers: [finding.offers, at_end.into_drafts().offers].concat(),
            ..finding
        };
    }
    let Some(prose) = prose else { return at_end };
    let end = Span::empty(fence.content.start + prose);
    let finding =
        finding.draft("Close the block before the text", end, format!("{mark}{line_break}"));
    Finding { offers: [finding.offers, at_end.into_drafts().offers].concat(), ..finding }
}

/// Returns the start of the first line that may be prose: a heading, an item of a list, or the
/// blank lines before any other line.
fn start_of_prose(content: &str) -> Option<usize> {
    let is_mark = |it: &str| {
        let number = it.strip_suffix(['.', ')']).unwrap_or_default();
        matches!(it, "-" | "*" | "+" | "#" | "##" | "###" | "####" | "#####" | "######")
            || !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
    };
    let (mut at, mut blank) = (0, None);
    for line in content.split_inclusive('\n') {
        match line.split_whitespace().next() {
            None => blank = blank.or(Some(at)),
            Some(word) if blank.is_some() || is_mark(word) => return blank.or(Some(at)),
            Some(_) => {}
        }
        at += line.len();
    }
    None
}
