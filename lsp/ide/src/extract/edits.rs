//! Spans and edits of a text that is split in two.

use skills_syntax::edit::{Edit, apply};
use skills_syntax::markdown::Definition;
use skills_syntax::text::Span;

/// Returns whether one of the sorted, disjoint spans covers `span`.
pub(super) fn covers(spans: &[Span], span: Span) -> bool {
    let next = spans.partition_point(|it| it.start <= span.start);
    next.checked_sub(1).is_some_and(|it| spans[it].covers(span))
}

/// Returns whether one of the edits replaces a span that covers `span`.
pub(super) fn is_replaced(edits: &[Edit], span: Span) -> bool {
    let next = edits.partition_point(|it| it.span.start <= span.start);
    next.checked_sub(1).is_some_and(|it| edits[it].span.covers(span))
}

/// Returns whether the sorted `definitions` contain `it`.
pub(super) fn contains_definition(definitions: &[&Definition], it: &Definition) -> bool {
    definitions.binary_search_by_key(&it.span, |it| it.span).is_ok()
}

/// Returns the sorted edits that lie within a span.
pub(super) fn edits_within(edits: &[Edit], span: Span) -> &[Edit] {
    let start = edits.partition_point(|it| it.span.start < span.start);
    let length = edits[start..].partition_point(|it| it.span.end <= span.end);
    &edits[start..start + length]
}

/// Returns the edit that raises a heading by some levels: by removing `#`, or by underlining it
/// with `=` in place of `-`.
pub(super) fn raise_heading(text: &str, heading: Span, levels: usize) -> Edit {
    match heading.slice(text).rfind(['\n', '\r']) {
        Some(at) if levels > 0 => {
            let underline = Span::new(heading.start + at + 1, heading.end);
            Edit { span: underline, text: underline.slice(text).replace('-', "=") }
        }
        Some(_) => Edit { span: Span::empty(heading.start), text: String::new() },
        None => {
            Edit { span: Span::new(heading.start, heading.start + levels), text: String::new() }
        }
    }
}

/// Returns the text of a span with the edits inside it applied.
pub(super) fn apply_within(text: &str, span: Span, edits: &[Edit]) -> String {
    let moved = |it: &Edit| {
        let [start, end] = [it.span.start, it.span.end].map(|it| it - span.start);
        Edit { span: Span::new(start, end), text: it.text.clone() }
    };
    let edits: Vec<Edit> = edits_within(edits, span).iter().map(moved).collect();
    apply(span.slice(text), &edits)
}
