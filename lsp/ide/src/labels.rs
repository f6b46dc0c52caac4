//! Labels of a text: what `[label]: target` and `[^note]: text` define, and where it is used.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use skills_syntax::markdown::Body;
use skills_syntax::text::{Span, after_line_end, line_end};

/// A label that is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Definition {
    pub(super) label: String,
    /// Its lines, with their ends.
    pub(super) span: Span,
}

/// The labels of a text.
pub(super) struct Labels {
    /// In the order of the text; none lies in another.
    pub(super) definitions: Vec<Definition>,
    /// Where each is used, in the order of the text.
    uses: Vec<(usize, String)>,
}

impl Labels {
    /// Finds the labels of a body.
    pub(super) fn new(text: &str, body: &Body) -> Self {
        let links = body.links.iter().filter_map(|it| of_link(text, *it));
        let notes = body.lines.iter().filter_map(|it| of_note(text, *it, body));
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
                let label = normal(&rest[..length]);
                let is_use = rest[length..].starts_with(']') && !begun.contains(&at);
                if is_use && defined.contains(&*label) {
                    uses.push((at, label));
                }
            }
        }
        Self { definitions, uses }
    }

    /// Returns the definitions that are needed where `is_here`, those among them that others of them
    /// use.
    pub(super) fn needed(&self, is_here: impl Fn(usize) -> bool) -> Vec<&Definition> {
        let used = self.reached(|at| self.within(at).is_none());
        let is_free = |at: usize| match self.within(at) {
            // What nobody uses stays where it is, and uses others from there.
            Some(definition) => !used.contains(&*definition.label) && is_here(at),
            None => is_here(at),
        };
        let labels = self.reached(is_free);
        self.definitions.iter().filter(|it| labels.contains(&*it.label)).collect()
    }

    /// Returns the labels that are used where `is_used`, and by what these are defined as.
    fn reached(&self, is_used: impl Fn(usize) -> bool) -> BTreeSet<&str> {
        let mut within: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (at, label) in &self.uses {
            if let Some(definition) = self.within(*at) {
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

    /// Returns the definition in which an offset lies.
    fn within(&self, at: usize) -> Option<&Definition> {
        let next = self.definitions.partition_point(|it| it.span.end <= at);
        self.definitions.get(next).filter(|it| it.span.contains(at))
    }
}

/// Returns the definition that a link is the target of.
fn of_link(text: &str, target: Span) -> Option<Definition> {
    let start = text[..target.start].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let before = text[start..target.start].trim_start().strip_prefix('[')?;
    let (label, rest) = before.split_once("]:")?;
    let is_target = matches!(rest.trim(), "" | "<") && !label.contains(['[', ']']);
    let end = line_end(text, target.end).map_or(text.len(), |it| after_line_end(text, it));
    is_target.then(|| Definition { label: normal(label), span: Span::new(start, end) })
}

/// Returns the footnote that begins in a line: to the next line that is neither a part of its
/// paragraph nor indented below it. What begins a block of its own is not of the paragraph.
fn of_note(text: &str, line: Span, body: &Body) -> Option<Definition> {
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
        // A block of code is of the note where it is indented below it.
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
    let label = normal(&format!("^{label}"));
    Some(Definition { label, span: Span::new(line.start, after_line_end(text, end).max(end)) })
}

/// Returns a label as it is compared.
fn normal(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_needed_where_they_are_used_and_where_those_are() {
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
    fn a_block_below_a_note_is_none_of_its() {
        for block in ["```\n\nx\n```\n", "- x\n", "> x\n", "| x |\n", "---\n"] {
            let text = format!("[^1]: A note\nlazy\n{block}\nx\n");
            let body = Body::new(&text, Span::new(0, text.len()));
            let labels = Labels::new(&text, &body);
            let notes: Vec<_> = labels.definitions.iter().map(|it| it.span.slice(&text)).collect();
            assert_eq!(notes, ["[^1]: A note\nlazy\n"], "{block}");
        }
    }
}
