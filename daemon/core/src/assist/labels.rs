//! Labels of a text: what `[label]: target` and `[^note]: text` define, and where it is used.

use std::collections::BTreeSet;

use crate::rules::Body;
use crate::text::{Span, after_line_end, line_end};

/// A label that is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Definition {
    label: String,
    /// Its lines, with their ends.
    pub(super) span: Span,
}

/// The labels of a text.
pub(super) struct Labels {
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
        let mut uses = Vec::new();
        for prose in &body.prose {
            let written = prose.slice(text);
            for (at, _) in written.match_indices('[') {
                let rest = &written[at + 1..];
                let Some(length) = rest.find([']', '[']) else { continue };
                let at = prose.start + at;
                let is_defined = definitions.iter().any(|it| it.begins_at(text, at));
                if rest[length..].starts_with(']') && !is_defined {
                    uses.push((at, normal(&rest[..length])));
                }
            }
        }
        uses.retain(|(_, label)| definitions.iter().any(|it| it.label == *label));
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
        let mut labels = BTreeSet::new();
        loop {
            let is_reached = |at: usize| {
                is_used(at) || self.within(at).is_some_and(|it| labels.contains(&*it.label))
            };
            let more = self.uses.iter().filter(|(at, _)| is_reached(*at));
            let more: BTreeSet<&str> = more.map(|(_, label)| &**label).collect();
            if more.len() == labels.len() {
                return labels;
            }
            labels = more;
        }
    }

    /// Returns the definition in which an offset lies.
    fn within(&self, at: usize) -> Option<&Definition> {
        self.definitions.iter().find(|it| it.span.contains(at))
    }
}

impl Definition {
    /// Whether its own label is what a bracket opens.
    fn begins_at(&self, text: &str, at: usize) -> bool {
        self.span.start <= at && text[self.span.start..at].trim().is_empty()
    }

    /// Whether both are of the same label.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.label == other.label
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
/// paragraph nor indented below it.
fn of_note(text: &str, line: Span, body: &Body) -> Option<Definition> {
    let is_text = |it: usize| body.prose.iter().any(|prose| prose.contains(it));
    let rest = line.slice(text).strip_prefix("[^").filter(|_| is_text(line.start))?;
    let label = rest.split_once("]:")?.0;
    let first = body.lines.partition_point(|it| it.start < line.start);
    let mut end = line.end;
    let mut in_paragraph = true;
    for next in body.lines.iter().skip(first + 1) {
        let written = next.slice(text);
        match written.trim() {
            "" => in_paragraph = false,
            _ if written.starts_with([' ', '\t']) => end = next.end,
            it if in_paragraph && !it.starts_with(['[', '#']) => end = next.end,
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
}
