//! Link definitions (`[label]: target`) and footnotes (`[^note]: text`) of a body, and their uses.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use skills_syntax::markdown::Body;
use skills_syntax::text::{Span, after_line_end, line_end};

/// A link definition or footnote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Definition {
    pub(super) label: String,
    /// Its lines, including line ends.
    pub(super) span: Span,
}

/// The definitions of a body and their uses.
pub(super) struct Labels {
    /// Sorted by position; they do not overlap.
    pub(super) definitions: Vec<Definition>,
    /// Offset and label of each use, sorted by position.
    uses: Vec<(usize, String)>,
}

impl Labels {
    /// Finds the definitions and uses in a body.
    pub(super) fn new(text: &str, body: &Body) -> Self {
        let links = body.links.iter().filter_map(|it| link_definition(text, *it));
        let notes = body.lines.iter().filter_map(|it| footnote_definition(text, *it, body));
        let mut definitions: Vec<Definition> = links.chain(notes).collect();
        definitions.sort_by_key(|it| it.span);
        definitions.dedup_by(|it, before| it.span.start < before.span.end);
        let begin = |it: &Definition| it.span.start + it.span.slice(text).find('[').unwrap_or(0);
        let begun: HashSet<usize> = definitions.iter().map(begin).collect();
        let defined: HashSet<&str> = definitions.iter().map(|it| &*it.label).collect();
        let mut uses = Vec::new();
        for prose in &body.prose {
            let written = prose.slice(text);
            for (at, _) in written.match_indices('[') {
                let rest = &written[at + 1..];
                let Some(length) = rest.find([']', '[']) else { continue };
                let at = prose.start + at;
                let label = normalize(&rest[..length]);
                let is_use = rest[length..].starts_with(']') && !begun.contains(&at);
                if is_use && defined.contains(&*label) {
                    uses.push((at, label));
                }
            }
        }
        Self { definitions, uses }
    }

    /// Returns the definitions used at offsets for which `is_here` is true, and those that these
    /// definitions use in turn.
    pub(super) fn needed(&self, is_here: impl Fn(usize) -> bool) -> Vec<&Definition> {
        let used = self.reachable(|at| self.definition_at(at).is_none());
        let is_free = |at: usize| match self.definition_at(at) {
            // An unused definition stays in place, and its own references count from there.
            Some(definition) => !used.contains(&*definition.label) && is_here(at),
            None => is_here(at),
        };
        let labels = self.reachable(is_free);
        self.definitions.iter().filter(|it| labels.contains(&*it.label)).collect()
    }

    /// Returns the labels used at offsets for which `is_used` is true, with all labels that their
    /// definitions refer to.
    fn reachable(&self, is_used: impl Fn(usize) -> bool) -> BTreeSet<&str> {
        let mut within: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (at, label) in &self.uses {
            if let Some(definition) = self.definition_at(*at) {
                within.entry(&definition.label).or_default().push(label);
            }
        }
        let free = self.uses.iter().filter(|(at, _)| is_used(*at));
        let mut waiting: Vec<&str> = free.map(|(_, label)| &**label).collect();
        let mut reached = BTreeSet::new();
        while let Some(label) = waiting.pop() {
            if reached.insert(label) {
                waiting.extend(within.get(label).into_iter().flatten());
            }
        }
        reached
    }

    /// Returns the definition that contains an offset.
    fn definition_at(&self, at: usize) -> Option<&Definition> {
        let next = self.definitions.partition_point(|it| it.span.end <= at);
        self.definitions.get(next).filter(|it| it.span.contains(at))
    }
}

/// Returns the link definition whose target is at `target`.
fn link_definition(text: &str, target: Span) -> Option<Definition> {
    let start = text[..target.start].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let before = text[start..target.start].trim_start().strip_prefix('[')?;
    let (label, rest) = before.split_once("]:")?;
    let is_target = matches!(rest.trim(), "" | "<") && !label.contains(['[', ']']);
    let end = line_end(text, target.end).map_or(text.len(), |it| after_line_end(text, it));
    is_target.then(|| Definition { label: normalize(label), span: Span::new(start, end) })
}

/// Returns the footnote that starts on a line. It extends over its paragraph and the indented lines
/// below; a line that starts another block ends the paragraph.
fn footnote_definition(text: &str, line: Span, body: &Body) -> Option<Definition> {
    let rest = line.slice(text).strip_prefix("[^")?;
    let before = body.prose.partition_point(|it| it.end <= line.start);
    body.prose.get(before).filter(|it| it.contains(line.start))?;
    let label = rest.split_once("]:")?.0;
    let first = body.lines.partition_point(|it| it.start < line.start);
    let mut end = line.end;
    let mut in_paragraph = true;
    let fence = body.fences.partition_point(|it| it.open.start < line.end);
    let fence = body.fences.get(fence).map_or(text.len(), |it| it.open.start);
    let begins_block =
        |it: &str| it.starts_with(['[', '#', '>', '|', '<', '-', '*', '+', '_', '=']);
    for next in body.lines.iter().skip(first + 1) {
        let written = next.slice(text);
        // A fenced block belongs to the footnote if it is indented.
        if next.end > fence && !written.starts_with([' ', '\t']) {
            break;
        }
        match written.trim() {
            "" => in_paragraph = false,
            _ if written.starts_with([' ', '\t']) => end = next.end,
            it if in_paragraph && !begins_block(it) => end = next.end,
            _ => break,
        }
    }
    let label = normalize(&format!("^{label}"));
    Some(Definition { label, span: Span::new(line.start, after_line_end(text, end).max(end)) })
}

/// Normalizes a label for comparison.
fn normalize(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_definitions_include_indirect_uses() {
        let text = "See [a][One], [two] and x[^n].\n\nLater [^m] `[code]`.\n\n[one]: a.md 't'\n[two]: <b c.md>\n[code]: c.md\n[^n]: A note\n  with [four].\n\n  More.\n\n[^m]: Other\nlazy\n\n[four]: d.md\n";
        let body = Body::new(text, Span::new(0, text.len()));
        let labels = Labels::new(text, &body);
        let later = text.find("Later").unwrap();
        let shown = |is_here: &dyn Fn(usize) -> bool| {
            let needed = labels.needed(is_here);
            needed.iter().map(|it| it.span.slice(text)).collect::<Vec<_>>()
        };
        assert_eq!(
            shown(&|it| it < later),
            [
                "[one]: a.md 't'\n",
                "[two]: <b c.md>\n",
                "[^n]: A note\n  with [four].\n\n  More.\n",
                "[four]: d.md\n",
            ]
        );
        assert_eq!(shown(&|it| it > later), ["[^m]: Other\nlazy\n"]);
        assert_eq!(labels.definitions.len(), 6);
    }

    #[test]
    fn block_below_a_footnote_is_not_part_of_it() {
        for block in ["```\n\nx\n```\n", "- x\n", "> x\n", "| x |\n", "---\n"] {
            let text = format!("[^1]: A note\nlazy\n{block}\nx\n");
            let body = Body::new(&text, Span::new(0, text.len()));
            let labels = Labels::new(&text, &body);
            let notes: Vec<_> = labels.definitions.iter().map(|it| it.span.slice(&text)).collect();
            assert_eq!(notes, ["[^1]: A note\nlazy\n"], "{block}");
        }
    }
}
