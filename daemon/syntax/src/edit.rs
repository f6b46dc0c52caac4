//! Edits of a text: a span and its replacement.

use crate::text::Span;

/// A span of the text and its replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The replaced span; empty to insert.
    pub span: Span,
    pub text: String,
}

/// Returns `text` with the edits applied in order of position. An edit that overlaps an earlier one
/// or lies outside the text is skipped.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<_> = edits.iter().collect();
    sorted.sort_by_key(|it| (it.span.start, it.span.end));
    let mut done = String::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        let (Some(kept), true) = (text.get(at..edit.span.start), edit.span.end <= text.len())
        else {
            continue;
        };
        done.push_str(kept);
        done.push_str(&edit.text);
        at = edit.span.end;
    }
    done.push_str(text.get(at..).unwrap_or_default());
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    #[test]
    fn edits_are_applied_in_order_of_position() {
        assert_eq!(apply("abc", &[edit(2, 3, "C"), edit(0, 0, ">"), edit(1, 2, "")]), ">aC");
        assert_eq!(apply("é", &[edit(2, 2, "!")]), "é!");
    }

    #[test]
    fn overlapping_and_invalid_edits_are_skipped() {
        assert_eq!(apply("abc", &[edit(0, 2, "x"), edit(1, 3, "y")]), "xc");
        assert_eq!(apply("abc", &[edit(2, 9, "x")]), "abc");
        assert_eq!(apply("é", &[edit(1, 2, "x")]), "é");
    }
}
