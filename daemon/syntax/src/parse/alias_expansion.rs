//! Limits the expanded size of YAML aliases, because a few lines can expand to gigabytes.

use std::collections::HashMap;

use crate::parse::tree::{Anchor, Entry, Value, ValueKind};
use crate::text::Span;

/// Maximum size in bytes of all aliases together. The largest real frontmatter with an alias has
/// less than a thousandth of it.
const MAX_EXPANDED: usize = 1 << 20;

/// Returns the first alias at which the expanded size exceeds the limit.
pub(super) fn first_alias_over_limit(entries: &[Entry], anchors: &[Anchor]) -> Option<Span> {
    if anchors.is_empty() {
        return None;
    }
    let sizes = anchors.iter().map(|it| (it.span, Anchored { value: it.value, size: 0 })).collect();
    let named = anchors.iter().map(|it| (it.value, it.span)).collect();
    let mut expansion = Expansion { sizes, named, total: 0, first_alias_over_limit: None };
    expansion.entries(entries);
    expansion.first_alias_over_limit
}

/// A value with an anchor.
struct Anchored {
    value: Span,
    /// Its expanded size; zero until it is complete, so that recursion ends.
    size: usize,
}

struct Expansion {
    /// The value of each anchor.
    sizes: HashMap<Span, Anchored>,
    /// The last anchor of each value.
    named: HashMap<Span, Span>,
    /// The expanded size of all aliases so far.
    total: usize,
    first_alias_over_limit: Option<Span>,
}

impl Expansion {
    fn entries(&mut self, entries: &[Entry]) -> usize {
        entries.iter().fold(0, |size: usize, it| {
            size.saturating_add(it.key.text.len()).saturating_add(self.value(&it.value))
        })
    }

    // The recursion depth is at most `MAX_DEPTH`.
    fn value(&mut self, value: &Value) -> usize {
        let size = match &value.kind {
            ValueKind::Null => 0,
            ValueKind::Scalar { text, .. } => text.len(),
            ValueKind::Sequence { items, .. } => {
                items.iter().fold(items.len(), |size, it| size.saturating_add(self.value(it)))
            }
            ValueKind::Mapping { entries, .. } => self.entries(entries),
            ValueKind::Alias { target } => self.alias(value.span, *target),
        };
        if let Some(anchored) = self.named.get(&value.span).and_then(|it| self.sizes.get_mut(it))
            && anchored.value == value.span
        {
            anchored.size = size;
        }
        size
    }

    fn alias(&mut self, span: Span, target: Option<Span>) -> usize {
        let size = target.and_then(|it| self.sizes.get(&it)).map_or(0, |it| it.size);
        self.total = self.total.saturating_add(size);
        if self.total > MAX_EXPANDED {
            self.first_alias_over_limit = self.first_alias_over_limit.or(Some(span));
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::ProblemCode;
    use crate::parse::parse;

    #[track_caller]
    fn check(yaml: &str, expected: Option<&str>) {
        let text = format!("---\n{yaml}---\nbody\n");
        let document = parse(&text);
        let found = document.diagnostics.iter().find(|it| it.code == ProblemCode::TooDeep);
        assert_eq!(found.map(|it| it.span.slice(&text)), expected);
        let frontmatter = document.frontmatter.unwrap();
        assert_eq!(frontmatter.exceeds_alias_limit, expected.is_some());
        let last = &frontmatter.entries.last().unwrap().value;
        assert_eq!(frontmatter.resolve(last).span == last.span, expected.is_some());
    }

    #[test]
    fn aliases_within_the_size_limit_are_followed() {
        check("a: &a [x, y]\nb: *a\n", None);
        check("a: &a [x, *a]\nb: *a\n", None);
        let long = "x".repeat(10_000);
        check(&format!("a: &a {long}\nb: [{}]\nc: *a\n", "*a, ".repeat(90)), None);
    }

    #[test]
    fn aliases_over_the_size_limit_are_not_followed() {
        let long = "x".repeat(10_000);
        check(&format!("a: &a {long}\nb: [{}]\nc: *a\n", "*a, ".repeat(110)), Some("*a"));
        let level =
            |it: usize| format!("a{}: &a{} [{}]\n", it + 1, it + 1, format!("*a{it}, ").repeat(9));
        let levels: String = (0..9).map(level).collect();
        check(&format!("a0: &a0 [x, y]\n{levels}c: *a9\n"), Some("*a5"));
    }
}
