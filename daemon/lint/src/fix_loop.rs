//! Fix loop: applies unambiguous fixes until none is left.
//!
//! A fix can uncover another finding: a name that becomes a string can still differ from the
//! directory's. The caller checks the text again after each round. The result of all rounds is a
//! set of minimal edits of the original text. The number of rounds is limited, and lower for long
//! texts.

use std::collections::BTreeMap;

use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::text::Span;

use super::finding::{Finding, Fix};
use super::finding_limits::MAX_SHOWN;

/// Maximum number of rounds; real files need three.
const MAX_ROUNDS: usize = 10;

/// Maximum number of bytes checked again: an editor waits for the result.
const MAX_BYTES: usize = 4 << 20;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FixResult {
    pub text: String,
    /// Edits of the original text with the same result, in text order and without overlaps.
    pub edits: Vec<Edit>,
    /// Number of applied fixes.
    pub n_made: usize,
}

/// Applies the unambiguous fixes of `findings`, then those of the findings that `check` reports for
/// the new text, until the text no longer changes.
///
/// Pass [`super::check_for_fixing`] as `check`; [`super::check`] omits fixes if there are very many
/// findings.
pub fn apply_fixes(
    text: &str,
    mut findings: Vec<Finding>,
    mut check: impl FnMut(&str) -> Vec<Finding>,
) -> FixResult {
    if findings.len() > MAX_SHOWN {
        findings = check(text);
    }
    let mut draft = EditedText::new(text);
    let mut now = text.to_owned();
    let (mut n_made, mut n_read) = (0, 0);
    for _ in 0..MAX_ROUNDS {
        let (edits, n_chosen) = chosen(&now, &findings);
        draft.apply(edits);
        let next = draft.text();
        if next == now {
            break;
        }
        now = next;
        n_made += n_chosen;
        n_read += now.len();
        if n_read > MAX_BYTES {
            break;
        }
        findings = check(&now);
    }
    FixResult { edits: draft.edits(), text: now, n_made }
}

/// Returns the edits of all unambiguous fixes that do not touch each other, in text order, and the
/// number of these fixes. Fixes of hints are left to the user.
fn chosen(text: &str, findings: &[Finding]) -> (Vec<Edit>, usize) {
    let mut chosen = DisjointFixes::default();
    let fits = |it: &Edit| text.get(it.span.start..it.span.end).is_some();
    let findings = findings.iter().filter(|it| it.diagnostic.severity != Severity::Hint);
    let fixes = findings.filter_map(Finding::only_fix);
    let n_made = fixes.filter(|it| it.edits.iter().all(fits) && chosen.take(it)).count();
    (chosen.edits.into_values().cloned().collect(), n_made)
}

/// Edits of fixes that do not touch each other. Two adjacent deletions are allowed.
#[derive(Default)]
pub(super) struct DisjointFixes<'f> {
    /// Edits by start offset; this also orders them by end offset.
    edits: BTreeMap<usize, &'f Edit>,
}

impl<'f> DisjointFixes<'f> {
    /// Adds a fix and returns true, unless it touches an earlier one.
    pub(super) fn take(&mut self, fix: &'f Fix) -> bool {
        let touches = |it: &Edit| {
            // An adjacent edit can follow the last one that overlaps.
            let near = self.edits.range(..=it.span.end).rev().take(2);
            near.into_iter()
                .any(|(_, made)| it.span.start <= made.span.end && !are_beside(it, made))
        };
        if fix.edits.iter().any(touches) {
            return false;
        }
        self.edits.extend(fix.edits.iter().map(|it| (it.span.start, it)));
        true
    }
}

/// Returns whether two edits delete adjacent spans.
fn are_beside(one: &Edit, other: &Edit) -> bool {
    let is_removal = |it: &Edit| it.text.is_empty() && !it.span.is_empty();
    is_removal(one)
        && is_removal(other)
        && (one.span.end == other.span.start || other.span.end == one.span.start)
}

/// A text under repeated edits that remembers which parts come from the original.
struct EditedText<'a> {
    original: &'a str,
    pieces: Vec<TextPart>,
}

enum TextPart {
    /// A span of the original text.
    Kept(Span),
    /// Inserted text.
    New(String),
}

impl TextPart {
    fn len(&self) -> usize {
        match self {
            Self::Kept(span) => span.end - span.start,
            Self::New(text) => text.len(),
        }
    }

    fn part(&self, from: usize, to: usize) -> Self {
        match self {
            Self::Kept(span) => Self::Kept(Span::new(span.start + from, span.start + to)),
            Self::New(text) => Self::New(text[from..to].to_owned()),
        }
    }
}

impl<'a> EditedText<'a> {
    fn new(original: &'a str) -> Self {
        Self { original, pieces: vec![TextPart::Kept(Span::new(0, original.len()))] }
    }

    fn text(&self) -> String {
        let parts = self.pieces.iter().map(|it| match it {
            TextPart::Kept(span) => span.slice(self.original),
            TextPart::New(text) => text,
        });
        parts.collect()
    }

    /// Applies edits of the current text, given in text order without overlaps.
    fn apply(&mut self, edits: Vec<Edit>) {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2 * edits.len());
        let mut edits = edits.into_iter().peekable();
        // Start of the current piece, and end of the replaced text.
        let (mut start, mut replaced) = (0, 0);
        for piece in &self.pieces {
            let end = start + piece.len();
            let mut at = start.max(replaced.min(end));
            while let Some(edit) = edits.next_if(|it| it.span.start < end) {
                pieces.push(piece.part(at - start, edit.span.start - start));
                pieces.push(TextPart::New(edit.text));
                replaced = edit.span.end;
                at = replaced.min(end);
            }
            pieces.push(piece.part(at - start, end - start));
            start = end;
        }
        pieces.extend(edits.map(|it| TextPart::New(it.text)));
        pieces.retain(|it| it.len() > 0);
        self.pieces = pieces;
    }

    /// Returns the changes so far as edits of the original text.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut at, mut new) = (0, String::new());
        let end = TextPart::Kept(Span::new(self.original.len(), self.original.len()));
        for piece in self.pieces.iter().chain([&end]) {
            match piece {
                TextPart::New(text) => new.push_str(text),
                TextPart::Kept(span) => {
                    let gap =
                        Edit { span: Span::new(at, span.start), text: std::mem::take(&mut new) };
                    edits.extend(self.trimmed(&gap));
                    at = span.end;
                }
            }
        }
        edits
    }

    /// Removes the common prefix and suffix from an edit; returns `None` if nothing remains.
    fn trimmed(&self, edit: &Edit) -> Option<Edit> {
        let old = edit.span.slice(self.original);
        let alike = |(a, b): &(char, char)| a == b;
        let n_first: usize =
            old.chars().zip(edit.text.chars()).take_while(alike).map(|(it, _)| it.len_utf8()).sum();
        let (old, new) = (&old[n_first..], &edit.text[n_first..]);
        let ends = old.chars().rev().zip(new.chars().rev());
        let n_last: usize = ends.take_while(alike).map(|(it, _)| it.len_utf8()).sum();
        let span = Span::new(edit.span.start + n_first, edit.span.end - n_last);
        let text = new[..new.len() - n_last].to_owned();
        (!span.is_empty() || !text.is_empty()).then_some(Edit { span, text })
    }
}

#[cfg(test)]
mod tests {
    use skills_syntax::edit::apply;

    use super::*;
    use crate::testing::Fixture;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    /// Applies rounds of edits and checks the resulting text and edits.
    #[track_caller]
    fn check(original: &str, rounds: &[&[Edit]], expected: &str, edits: &[Edit]) {
        let mut draft = EditedText::new(original);
        for round in rounds {
            let before = draft.text();
            draft.apply(round.to_vec());
            assert_eq!(draft.text(), apply(&before, round));
        }
        assert_eq!(draft.text(), expected);
        assert_eq!(draft.edits(), edits);
        assert_eq!(apply(original, &draft.edits()), expected);
    }

    #[test]
    fn rounds_are_merged_into_edits_of_the_original_text() {
        check("", &[&[edit(0, 0, "a")]], "a", &[edit(0, 0, "a")]);
        check(
            "abc",
            &[&[edit(3, 3, "!")], &[edit(0, 0, ">")]],
            ">abc!",
            &[edit(0, 0, ">"), edit(3, 3, "!")],
        );
        // The second edit starts inside the first one's text and ends after it.
        check(
            "one two",
            &[&[edit(4, 7, "2 3")], &[edit(6, 7, "4")]],
            "one 2 4",
            &[edit(4, 7, "2 4")],
        );
        check("one two", &[&[edit(3, 3, "X")], &[edit(2, 5, "")]], "ontwo", &[edit(2, 4, "")]);
        check(
            "abcdef",
            &[&[edit(1, 2, ""), edit(3, 4, "")], &[edit(0, 4, "z")]],
            "z",
            &[edit(0, 6, "z")],
        );
    }

    #[test]
    fn merged_edits_omit_unchanged_text() {
        check("abcd", &[&[edit(0, 4, "abXd")]], "abXd", &[edit(2, 3, "X")]);
        check("abc", &[&[edit(1, 2, "x")], &[edit(1, 2, "b")]], "abc", &[]);
        check("aé", &[&[edit(0, 3, "aè")]], "aè", &[edit(1, 3, "è")]);
        check("aa", &[&[edit(0, 2, "aaa")]], "aaa", &[edit(2, 2, "a")]);
    }

    fn run_fix_loop(text: &str) -> FixResult {
        let again = |text: &str| Fixture::new("").with_text(text).check();
        apply_fixes(text, again(text), again)
    }

    #[test]
    fn fix_loop_fixes_uncovered_findings() {
        let text = "---\nname: 123\nallowed-tools: \"Raed, Bash(x\"\ndescription: Reads. Use when asked.\n---\nRead.\n";
        let FixResult { text: fixed, edits, n_made } = run_fix_loop(text);
        assert_eq!(
            fixed,
            "---\nname: \"123\"\nallowed-tools: \"Read Bash(x)\"\ndescription: Reads. Use when asked.\n---\nRead.\n"
        );
        assert!(n_made > edits.len(), "{n_made}");
        assert_eq!(apply(text, &edits), fixed);
        assert_eq!(run_fix_loop(&fixed).n_made, 0);
    }

    #[test]
    fn fix_loop_ends_if_fixes_undo_each_other() {
        let flip = |text: &str| {
            let finding = Finding::new(&crate::name::CASE, Span::new(0, 1), "no");
            vec![finding.fix("Flip", Span::new(0, 1), if text == "a" { "b" } else { "a" })]
        };
        let run_fix_loop = apply_fixes("a", flip("a"), flip);
        assert_eq!((run_fix_loop.n_made, &*run_fix_loop.text), (MAX_ROUNDS, "a"));
        assert_eq!(run_fix_loop.edits, []);
    }
}
