//! Suppression comments in the frontmatter and the body.
//!
//! `# skillsd-ignore: rule` applies to the key or item that it follows, or to the next one if it is
//! alone on its line. `<!-- skillsd-ignore rule -->` in the body applies to its own line, or to the
//! next non-blank line if it is alone. A rule about the whole file can be suppressed anywhere in
//! it. `family/*` covers a family.

use std::collections::HashMap;

use skills_discovery::levels::names;
use skills_syntax::parse::{Entry, Value, ValueKind};
use skills_syntax::text::{Span, after_line_end};

use super::finding::Finding;
use super::rule_id::RuleId;
use super::subject::Cx;
use super::table::ids;

/// First word of a suppression comment.
pub(super) const WORD: &str = "skillsd-ignore";

/// Maximum length of a comment behind the row of a table, in bytes.
const MAX_COMMENT: usize = 512;

#[derive(Debug)]
pub(super) struct Suppression {
    /// Suppressed rules or families, each with its span.
    rules: Vec<(String, Span)>,
    /// Span in which the suppression applies.
    scope: Span,
}

/// Spans in which a pattern is suppressed: each start offset, in order, with the largest end offset
/// up to there.
type Scopes = Vec<(usize, usize)>;

/// Returns the suppressed spans of each pattern.
fn by_pattern(suppressions: &[Suppression]) -> HashMap<&str, Scopes> {
    let mut all: HashMap<&str, Scopes> = HashMap::new();
    let mut sorted: Vec<&Suppression> = suppressions.iter().collect();
    sorted.sort_by_key(|it| it.scope);
    for Suppression { rules, scope } in sorted {
        for (pattern, _) in rules {
            let scopes = all.entry(pattern).or_default();
            let before = scopes.last().map_or(0, |(_, end)| *end);
            scopes.push((scope.start, before.max(scope.end)));
        }
    }
    all
}

/// Returns whether a finding is suppressed; a finding about the whole file is suppressed by any
/// scope.
fn covers(scopes: &Scopes, finding: &Finding) -> bool {
    let span = finding.diagnostic.span;
    let before = scopes.partition_point(|(start, _)| *start <= span.start);
    let end = scopes[..before].last().map_or(0, |(_, end)| *end);
    // The position after the last character belongs to the scope.
    let is_here = span.start < end || (span.is_empty() && span.start == end && before > 0);
    finding.rule.whole_file || is_here
}

/// Returns whether `pattern` matches an existing rule.
pub fn is_known(pattern: &str) -> bool {
    pattern.parse::<RuleId>().is_ok() || ids().iter().any(|it| names(pattern, it))
}

pub(super) fn suppressions(cx: &Cx<'_>) -> Vec<Suppression> {
    if !cx.text.contains(WORD) {
        return Vec::new();
    }
    let comments = cx.frontmatter().map(|it| it.comments.as_slice()).unwrap_or_default();
    let mut nodes = Vec::new();
    keys_of(cx.frontmatter().map(|it| it.entries.as_slice()).unwrap_or_default(), &mut nodes);
    let keys = comments.iter().filter_map(|it| in_frontmatter(cx, &nodes, *it));
    let behind_rows = comments_behind_rows(cx);
    let in_bodies = cx.body().comments.iter().chain(&behind_rows);
    keys.chain(in_bodies.filter_map(|it| in_body(cx, *it))).collect()
}

/// Returns the comments behind the last cell of a table's row, which Markdown drops.
fn comments_behind_rows(cx: &Cx<'_>) -> Vec<Span> {
    let (text, body) = (cx.text, cx.body());
    let start = cx.document.body.start;
    let words = text[start..].match_indices(WORD).filter_map(|(at, _)| {
        let line = cx.line(start + at);
        let before = Span::new(line.start, start + at).slice(text).trim_end();
        let row = before.strip_suffix("<!--")?;
        let comment_start = line.start + row.len();
        // Bounded, because many could begin on one long line.
        let end = text.floor_char_boundary(line.end.min(comment_start + MAX_COMMENT));
        let length = Span::new(comment_start, end).slice(text).find("-->")? + "-->".len();
        row.trim_end().ends_with('|').then(|| Span::new(comment_start, comment_start + length))
    });
    let is_known = |it: &Span| {
        let next = body.comments.partition_point(|comment| comment.end <= it.start);
        let fence = body.fences.partition_point(|fence| fence.content.end <= it.start);
        body.comments.get(next).is_some_and(|comment| comment.start <= it.start)
            || body.fences.get(fence).is_some_and(|fence| fence.open.start <= it.start)
    };
    words.filter(|it| !is_known(it)).collect()
}

/// Removes suppressed findings.
pub(super) fn apply(suppressions: &[Suppression], findings: &mut Vec<Finding>) {
    if suppressions.is_empty() {
        return;
    }
    let by_pattern = by_pattern(suppressions);
    findings.retain(|it| {
        let family = format!("{}/*", it.rule.family());
        let mut patterns = [it.rule.id.as_str(), &family, "*"].into_iter();
        !patterns.any(|pattern| by_pattern.get(pattern).is_some_and(|scopes| covers(scopes, it)))
    });
}

/// Returns the names that match no rule, each with its span.
pub(super) fn unknown(suppressions: &[Suppression]) -> impl Iterator<Item = &(String, Span)> {
    suppressions.iter().flat_map(|it| &it.rules).filter(|(name, _)| !is_known(name))
}

/// `nodes` contains the spans of keys and items with lines of their own, in text order.
fn in_frontmatter(cx: &Cx<'_>, nodes: &[Span], comment: Span) -> Option<Suppression> {
    let rules = rules(cx, comment, "#", "")?;
    let line = cx.line(comment.start);
    let alone = Span::new(line.start, comment.start).slice(cx.text).trim().is_empty();
    let scope = if alone {
        // The first node after the comment is the outermost one on its line.
        nodes.get(nodes.partition_point(|it| it.start <= comment.start)).copied()
    } else {
        let before = nodes.partition_point(|it| it.start < line.end);
        nodes[..before].last().copied().filter(|it| line.contains(it.start))
    };
    let scope = scope.map_or(line, |it| Span::new(cx.line(it.start).start, it.end));
    let end = cx.line(scope.end).end;
    Some(Suppression { rules, scope: Span::new(scope.start, after_line_end(cx.text, end)) })
}

/// Collects the spans of keys and items with lines of their own, in text order.
pub(super) fn keys_of(entries: &[Entry], nodes: &mut Vec<Span>) {
    for entry in entries {
        nodes.push(entry.span);
        values_of(&entry.value, nodes);
    }
}

fn values_of(value: &Value, nodes: &mut Vec<Span>) {
    match &value.kind {
        ValueKind::Mapping { flow: false, entries } => keys_of(entries, nodes),
        ValueKind::Sequence { flow: false, items } => {
            for item in items {
                nodes.push(item.span);
                values_of(item, nodes);
            }
        }
        ValueKind::Mapping { flow: true, .. }
        | ValueKind::Sequence { flow: true, .. }
        | ValueKind::Null
        | ValueKind::Scalar { .. }
        | ValueKind::Alias { .. } => {}
    }
}

fn in_body(cx: &Cx<'_>, comment: Span) -> Option<Suppression> {
    let rules = rules(cx, comment, "<!--", "-->")?;
    let body = cx.body();
    // Uses the line table, because many comments can share one long line.
    let line = |offset: usize| {
        let next = body.lines.partition_point(|it| it.start <= offset);
        body.lines[..next].last().copied().unwrap_or_else(|| cx.line(offset))
    };
    let (first, last) = (line(comment.start), line(comment.end));
    let before = Span::new(first.start, comment.start).slice(cx.text);
    let behind = Span::new(comment.end, last.end).slice(cx.text);
    // The markers of block quotes are no text.
    let is_blank = |it: &str| it.chars().all(|it| it == '>' || it.is_whitespace());
    let mut scope = Span::new(first.start, last.end + 1);
    // Only the last comment on a line looks at the following lines.
    if is_blank(behind) && is_blank(before) {
        let mut at = after_line_end(cx.text, last.end);
        while at < cx.text.len() {
            let next = cx.line(at);
            scope.end = next.end + 1;
            if !is_blank(next.slice(cx.text)) {
                // A code block counts as one line.
                let behind = body.fences.partition_point(|it| it.open.start < next.start);
                let fence = body.fences.get(behind).filter(|it| next.covers(it.open));
                scope.end = fence.map_or(scope.end, |it| scope.end.max(it.content.end + 1));
                break;
            }
            at = after_line_end(cx.text, next.end);
        }
    }
    Some(Suppression { rules, scope })
}

fn rules(cx: &Cx<'_>, comment: Span, open: &str, close: &str) -> Option<Vec<(String, Span)>> {
    let written = comment.slice(cx.text);
    let inner = written.strip_prefix(open)?.trim_start();
    let inner = inner.strip_prefix(WORD)?;
    let (inner, close) = inner.strip_suffix(close).map_or((inner, ""), |it| (it, close));
    let inner = inner.strip_prefix(':').unwrap_or(inner);
    let start = comment.end - close.len() - inner.len();
    let mut rules = Vec::new();
    let mut at = 0;
    for word in inner.split([' ', ',', '\t', '\n']) {
        if !word.is_empty() {
            let from = start + at;
            rules.push((word.to_owned(), Span::new(from, from + word.len())));
        }
        at += word.len() + 1;
    }
    // Text after ` -- ` is the author's reason.
    let reason = rules.iter().position(|(it, _)| it.chars().all(|it| it == '-'));
    rules.truncate(reason.unwrap_or(rules.len()));
    Some(rules)
}
