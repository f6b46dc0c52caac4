//! `textDocument/foldingRange`: the frontmatter and its values with several lines; sections, fences
//! and list items of the body.

use std::cmp::Reverse;
use std::collections::HashMap;

use skills_syntax::parse::{Entry, Frontmatter, Value, ValueKind};
use skills_syntax::text::Span;
use tower_lsp::ls_types::FoldingRange;

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns the folding ranges of a skill, in document order; `None` for other documents.
pub(crate) fn folding_range(document: &Document, settings: Settings) -> Option<Vec<FoldingRange>> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let mut spans = Vec::new();
    if let Some(frontmatter) = &document.parsed().frontmatter {
        whole(frontmatter, &mut spans);
        in_entries(&frontmatter.entries, &mut spans);
    }
    in_body(document, &mut spans);
    let folds = spans.into_iter().filter_map(|span| to_proto::fold(document, span));
    let mut folds: Vec<FoldingRange> = folds.collect();
    // Editors show one fold marker per line, so only the outermost range that starts there is kept.
    folds.dedup_by_key(|fold| fold.start_line);
    folds.truncate(settings.max_folds.unwrap_or(usize::MAX));
    Some(folds)
}

/// Adds the sections, fences and list items, without blank lines at their ends.
fn in_body(document: &Document, spans: &mut Vec<Span>) {
    let parsed = document.parsed();
    let body = document.body();
    let sections = skills_ide::sections(parsed, body);
    let fences = body.fences.iter().map(|it| Span::new(it.open.start, it.content.end));
    let parts = sections.iter().map(|it| it.span).chain(fences).chain(body.items.iter().copied());
    // Nested parts often share an end, before which many blank lines may be.
    let mut ends = HashMap::new();
    let mut trim_end = |it: Span| {
        let before = || to_proto::trim_end(document, Span::new(0, it.end)).end;
        Span::new(it.start, (*ends.entry(it.end).or_insert_with(before)).max(it.start))
    };
    let mut parts: Vec<Span> = parts.map(&mut trim_end).collect();
    parts.sort_by_key(|it| (it.start, Reverse(it.end)));
    spans.extend(parts);
}

fn whole(frontmatter: &Frontmatter, spans: &mut Vec<Span>) {
    if let Some(close) = frontmatter.close {
        spans.push(Span::new(frontmatter.open.start, close.end));
    }
}

fn in_entries(entries: &[Entry], spans: &mut Vec<Span>) {
    for entry in entries {
        spans.push(entry.span);
        in_value(&entry.value, spans);
    }
}

fn in_value(value: &Value, spans: &mut Vec<Span>) {
    match &value.kind {
        ValueKind::Mapping { entries, .. } => in_entries(entries, spans),
        ValueKind::Sequence { items, .. } => {
            for item in items {
                spans.push(item.span);
                in_value(item, spans);
            }
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    #[track_caller]
    fn check(text: &str, max_folds: Option<usize>, expected: &[(u32, u32)]) {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), text.to_owned());
        let settings = Settings { max_folds, ..Settings::default() };
        let folds = folding_range(&document, settings).unwrap_or_default();
        let lines = folds.iter().map(|fold| (fold.start_line, fold.end_line));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    const HOOKS: &str = "---\nname: a\nhooks:\n  Stop:\n    - matcher: x\n      hooks:\n        - type: command\n---\n\nBody\n";

    #[test]
    fn frontmatter_and_multiline_values_fold() {
        check(HOOKS, None, &[(0, 7), (2, 6), (3, 6), (4, 6), (5, 6)]);
        check(
            "---\r\ndescription: |\r\n  a\r\n  b\r\n\r\nname: x\r\n---\r\n",
            None,
            &[(0, 6), (1, 3)],
        );
        check("---\ntools: [a,\n  b]\n---\n", None, &[(0, 3), (1, 2)]);
    }

    #[test]
    fn sections_fences_and_list_items_fold() {
        check("# Title\n\nText\n\n## B\n", None, &[(0, 4)]);
        check("---\na: b\n---\n# A\nx\n\n# B\nx\n", None, &[(0, 2), (3, 4), (6, 7)]);
        check("x\n\n```sh\na\nb\n```\n\nx\n", None, &[(2, 4)]);
        check("1. a\n   - b\n     c\n   - d\n\n2. e\n", None, &[(0, 3), (1, 2)]);
    }

    #[test]
    fn folding_ranges_respect_the_client_limit() {
        check(HOOKS, Some(2), &[(0, 7), (2, 6)]);
        check(HOOKS, Some(0), &[]);
    }

    #[test]
    fn single_lines_and_unclosed_frontmatter_do_not_fold() {
        check("# Title\n\n", None, &[]);
        check("---\nname: a\n", None, &[]);
        check("", None, &[]);
    }
}
