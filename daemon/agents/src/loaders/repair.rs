//! A text with some of its bytes replaced, and which those were.

use skills_syntax::text::Span;

pub(super) use crate::fence::line_spans;

/// One replaced stretch of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What was replaced, in the text before.
    pub span: Span,
    /// What stands there now.
    pub text: String,
}

/// A repaired text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The whole text, repaired.
    pub text: String,
    /// What was changed, in the order of the text; never empty.
    pub changes: Vec<Change>,
}

impl Repair {
    /// Applies changes, which are in the order of the text; nothing when there are none.
    pub(super) fn of(source: &str, changes: Vec<Change>) -> Option<Self> {
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

    /// Returns where something in the repaired text stood before: inside a changed stretch, at
    /// its start.
    pub fn origin(&self, offset: usize) -> usize {
        // Where it was is `offset + removed - added`: two sums, so that nothing goes below zero.
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
    fn offsets_lead_back_to_where_they_were() {
        let change =
            |start, end, text: &str| Change { span: Span::new(start, end), text: text.into() };
        let repair = Repair::of("abcdef", vec![change(1, 2, "XYZ"), change(4, 4, "-")]).unwrap();
        assert_eq!(repair.text, "aXYZcd-ef");
        let origins: Vec<_> = (0..=9).map(|it| repair.origin(it)).collect();
        assert_eq!(origins, [0, 1, 1, 1, 2, 3, 4, 4, 5, 6]);
        assert_eq!(Repair::of("abc", Vec::new()), None);
    }

    #[test]
    fn lines_have_no_line_ends() {
        let text = "a\r\n\nb";
        let lines: Vec<_> = line_spans(text).map(|it| it.slice(text)).collect();
        assert_eq!(lines, ["a", "", "b"]);
        assert_eq!(line_spans("").count(), 0);
    }
}
