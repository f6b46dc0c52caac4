//! Link definitions (`[label]: target`) and footnotes (`[^note]: text`) of a body, and their uses.

use std::collections::{BTreeMap, BTreeSet};

use skills_syntax::markdown::{Body, Definition, LabelUse};

/// The definitions of a body and their uses.
pub(super) struct Labels {
    /// Sorted by position; they do not overlap.
    pub(super) definitions: Vec<Definition>,
    /// Sorted by position.
    uses: Vec<LabelUse>,
}

impl Labels {
    /// Takes the definitions and uses of a body.
    pub(super) fn new(body: &Body) -> Self {
        let mut definitions = body.definitions.clone();
        definitions.dedup_by(|it, before| it.span.start < before.span.end);
        Self { definitions, uses: body.references.clone() }
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
        for LabelUse { at, label } in &self.uses {
            if let Some(definition) = self.definition_at(*at) {
                within.entry(&definition.label).or_default().push(label);
            }
        }
        let free = self.uses.iter().filter(|it| is_used(it.at));
        let mut waiting: Vec<&str> = free.map(|it| &*it.label).collect();
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

#[cfg(test)]
mod tests {
    use skills_syntax::text::Span;

    use super::*;

    #[test]
    fn needed_definitions_include_indirect_uses() {
        let text = "See [a][One], [two] and x[^n].\n\nLater [^m] `[code]`.\n\n[one]: a.md 't'\n[two]: <b c.md>\n[code]: c.md\n[^n]: A note\n  with [four].\n\n    More.\n\n[^m]: Other\nlazy\n\n[four]: d.md\n";
        let body = Body::new(text, Span::new(0, text.len()));
        let labels = Labels::new(&body);
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
                "[^n]: A note\n  with [four].\n\n    More.\n",
                "[four]: d.md\n",
            ]
        );
        assert_eq!(shown(&|it| it > later), ["[^m]: Other\nlazy\n"]);
        assert_eq!(labels.definitions.len(), 6);
    }

    #[test]
    fn block_below_a_footnote_is_not_part_of_it() {
        for block in ["```\n\nx\n```\n", "- x\n", "> x\n", "# x\n", "---\n"] {
            let text = format!("[^1]: A note\nlazy\n{block}\nx\n");
            let body = Body::new(&text, Span::new(0, text.len()));
            let labels = Labels::new(&body);
            let notes: Vec<_> = labels.definitions.iter().map(|it| it.span.slice(&text)).collect();
            assert_eq!(notes, ["[^1]: A note\nlazy\n"], "{block}");
        }
    }
}
