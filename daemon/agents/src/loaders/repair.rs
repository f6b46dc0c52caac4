//! Repairs of a broken frontmatter's text, with their edits ([`Repair`]).

use skills_syntax::text::Span;

pub(super) use crate::fence::line_spans;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepairEdit {
    /// The replaced range in the original text.
    pub span: Span,
    pub text: String,
}

/// A repaired text with its edits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The whole text after the repair.
    pub text: String,
    /// The edits in text order; never empty.
    pub changes: Vec<RepairEdit>,
}

impl Repair {
    /// Applies edits that are in text order. Returns `None` if there are none.
    pub(super) fn of(source: &str, changes: Vec<RepairEdit>) -> Option<Self> {
        if changes.is_empty() {
            return None;
        }
        let mut text = String::with_capacity(source.len() + 16);
        let mut at = 0;
        for change in &changes {
            text.push_str(Span::new(at, change.span.start).slice(source));
            text.push_str(&change.text);
            at = change.span.end;
        }
        text.push_str(Span::new(at, source.len()).slice(source));
        Some(Self { text, changes })
    }

    /// Maps an offset in the repaired text to the original text. Offsets inside an edit map to the
    /// edit's start.
    pub fn origin(&self, offset: usize) -> usize {
        // The original offset is `offset + removed - added`. Two sums avoid an underflow.
        let (mut removed, mut added) = (0, 0);
        for change in &self.changes {
            let start = change.span.start + added - removed;
            if offset < start {
                break;
            }
            if offset < start + change.text.len() {
                return change.span.start;
            }
            removed += change.span.len();
            added += change.text.len();
        }
        offset + removed - added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repaired_offsets_map_to_original_offsets() {
        let change =
            |start, end, text: &str| RepairEdit { span: Span::new(start, end), text: text.into() };
        let repair = Repair::of("abcdef", vec![change(1, 2, "XYZ"), change(4, 4, "-")]).unwrap();
        assert_eq!(repair.text, "aXYZcd-ef");
        let origins: Vec<_> = (0..=9).map(|it| repair.origin(it)).collect();
        assert_eq!(origins, [0, 1, 1, 1, 2, 3, 4, 4, 5, 6]);
        assert_eq!(Repair::of("abc", Vec::new()), None);
    }

    #[test]
    fn line_spans_exclude_line_ends() {
        let text = "a\r\n\nb";
        let lines: Vec<_> = line_spans(text).map(|it| it.slice(text)).collect();
        assert_eq!(lines, ["a", "", "b"]);
        assert_eq!(line_spans("").count(), 0);
    }
}
