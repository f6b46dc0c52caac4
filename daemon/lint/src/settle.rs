//! Making fixes until none is left that has one right answer.
//!
//! A fix may uncover a finding: a name that is a text now is not yet the directory's. So the text is
//! checked again after each round, by whoever asks, and all rounds together are given out as edits of
//! the text as it was. They replace what differs and nothing else. Ends in any case: after so many
//! rounds, and of a very long text after fewer.

use std::collections::BTreeMap;

use skills_syntax::edit::Edit;
use skills_syntax::text::Span;

use super::MAX_SHOWN;
use super::finding::{Finding, Fix};

/// How many rounds are made at most; real files need three.
const MOST_ROUNDS: usize = 10;

/// How much text is checked again at most, in bytes: an editor waits for it.
const MOST_BYTES: usize = 4 << 20;

/// What the fixes of a text come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled {
    /// The text with all fixes made.
    pub text: String,
    /// The same as edits of the text as it was, in its order; none touches another.
    pub edits: Vec<Edit>,
    /// How many fixes were made.
    pub n_made: usize,
}

/// Makes the fixes of `findings` that have one right answer, then those that `check` finds in the
/// text that comes of it, until nothing changes any more.
///
/// `check` is [`super::check_to_mend`]: of very many findings not all have their fixes otherwise.
pub fn settle(
    text: &str,
    mut findings: Vec<Finding>,
    mut check: impl FnMut(&str) -> Vec<Finding>,
) -> Settled {
    if findings.len() > MAX_SHOWN {
        findings = check(text);
    }
    let mut draft = Draft::new(text);
    let mut now = text.to_owned();
    let (mut n_made, mut n_read) = (0, 0);
    for _ in 0..MOST_ROUNDS {
        let (edits, n_chosen) = chosen(&now, &findings);
        draft.apply(edits);
        let next = draft.text();
        if next == now {
            break;
        }
        now = next;
        n_made += n_chosen;
        n_read += now.len();
        if n_read > MOST_BYTES {
            break;
        }
        findings = check(&now);
    }
    Settled { edits: draft.edits(), text: now, n_made }
}

/// Returns the edits of the fixes that have one right answer and do not touch each other, in the
/// order of the text, and how many fixes they are.
fn chosen(text: &str, findings: &[Finding]) -> (Vec<Edit>, usize) {
    let mut chosen = Chosen::default();
    let fits = |it: &Edit| text.get(it.span.start..it.span.end).is_some();
    let fixes = findings.iter().filter_map(Finding::only_fix);
    let n_made = fixes.filter(|it| it.edits.iter().all(fits) && chosen.take(it)).count();
    (chosen.edits.into_values().cloned().collect(), n_made)
}

/// Fixes none of which touches another, but that what is removed may lie beside what is removed.
#[derive(Default)]
pub(super) struct Chosen<'f> {
    /// By where they start; since none touches another, by where they end as well.
    edits: BTreeMap<usize, &'f Edit>,
}

impl<'f> Chosen<'f> {
    /// Takes a fix, unless it touches one that was taken. Returns whether it was.
    pub(super) fn take(&mut self, fix: &'f Fix) -> bool {
        let touches = |it: &Edit| {
            // Behind the last that could touch it there may be one that lies just beside it.
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

/// Whether two stretches are removed, one just behind the other.
fn are_beside(one: &Edit, other: &Edit) -> bool {
    let is_removal = |it: &Edit| it.text.is_empty() && !it.span.is_empty();
    is_removal(one)
        && is_removal(other)
        && (one.span.end == other.span.start || other.span.end == one.span.start)
}

/// A text that is edited again and again, and knows what of it is as it was.
struct Draft<'a> {
    original: &'a str,
    pieces: Vec<Piece>,
}

/// A part of a draft.
enum Piece {
    /// What stood there before, at this place of the original.
    Kept(Span),
    /// What was put there.
    New(String),
}

impl Piece {
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

impl<'a> Draft<'a> {
    fn new(original: &'a str) -> Self {
        Self { original, pieces: vec![Piece::Kept(Span::new(0, original.len()))] }
    }

    fn text(&self) -> String {
        let parts = self.pieces.iter().map(|it| match it {
            Piece::Kept(span) => span.slice(self.original),
            Piece::New(text) => text,
        });
        parts.collect()
    }

    /// Makes edits of the text as it is now, which lie in it, in its order, none on another.
    fn apply(&mut self, edits: Vec<Edit>) {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 2 * edits.len());
        let mut edits = edits.into_iter().peekable();
        // Where the piece begins, and up to where the text has been replaced.
        let (mut start, mut replaced) = (0, 0);
        for piece in &self.pieces {
            let end = start + piece.len();
            let mut at = start.max(replaced.min(end));
            while let Some(edit) = edits.next_if(|it| it.span.start < end) {
                pieces.push(piece.part(at - start, edit.span.start - start));
                pieces.push(Piece::New(edit.text));
                replaced = edit.span.end;
                at = replaced.min(end);
            }
            pieces.push(piece.part(at - start, end - start));
            start = end;
        }
        pieces.extend(edits.map(|it| Piece::New(it.text)));
        pieces.retain(|it| it.len() > 0);
        self.pieces = pieces;
    }

    /// Returns all that was done as edits of the original.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut at, mut new) = (0, String::new());
        let end = Piece::Kept(Span::new(self.original.len(), self.original.len()));
        for piece in self.pieces.iter().chain([&end]) {
            match piece {
                Piece::New(text) => new.push_str(text),
                Piece::Kept(span) => {
                    let gap =
                        Edit { span: Span::new(at, span.start), text: std::mem::take(&mut new) };
                    edits.extend(self.trimmed(&gap));
                    at = span.end;
                }
            }
        }
        edits
    }

    /// Takes from both ends of an edit what it leaves as it was; nothing where that is all.
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
    use crate::testing::World;

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit { span: Span::new(start, end), text: text.to_owned() }
    }

    /// Makes rounds of edits, and returns what they come to in one.
    #[track_caller]
    fn check(original: &str, rounds: &[&[Edit]], expected: &str, edits: &[Edit]) {
        let mut draft = Draft::new(original);
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
    fn rounds_come_to_edits_of_the_text_as_it_was() {
        check("", &[&[edit(0, 0, "a")]], "a", &[edit(0, 0, "a")]);
        check(
            "abc",
            &[&[edit(3, 3, "!")], &[edit(0, 0, ">")]],
            ">abc!",
            &[edit(0, 0, ">"), edit(3, 3, "!")],
        );
        // The second edit lies within the first one's text, and goes beyond it.
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
    fn what_is_the_same_before_and_after_is_no_edit() {
        check("abcd", &[&[edit(0, 4, "abXd")]], "abXd", &[edit(2, 3, "X")]);
        check("abc", &[&[edit(1, 2, "x")], &[edit(1, 2, "b")]], "abc", &[]);
        check("aé", &[&[edit(0, 3, "aè")]], "aè", &[edit(1, 3, "è")]);
        check("aa", &[&[edit(0, 2, "aaa")]], "aaa", &[edit(2, 2, "a")]);
    }

    fn settled(text: &str) -> Settled {
        let again = |text: &str| World::new("").with_text(text).check();
        settle(text, again(text), again)
    }

    #[test]
    fn what_a_fix_uncovers_is_mended_with_it() {
        let text = "---\nname: 123\nallowed-tools: \"Raed, Bash(x\"\ndescription: Reads. Use when asked.\n---\nRead.\n";
        let Settled { text: mended, edits, n_made } = settled(text);
        assert_eq!(
            mended,
            "---\nname: \"123\"\nallowed-tools: \"Read Bash(x)\"\ndescription: Reads. Use when asked.\n---\nRead.\n"
        );
        assert!(n_made > edits.len(), "{n_made}");
        assert_eq!(apply(text, &edits), mended);
        assert_eq!(settled(&mended).n_made, 0);
    }

    #[test]
    fn fixes_that_undo_each_other_come_to_an_end() {
        let flip = |text: &str| {
            let finding = super::super::found("name/case", Span::new(0, 1), "no");
            vec![finding.fix("Flip", Span::new(0, 1), if text == "a" { "b" } else { "a" })]
        };
        let settled = settle("a", flip("a"), flip);
        assert_eq!((settled.n_made, &*settled.text), (MOST_ROUNDS, "a"));
        assert_eq!(settled.edits, []);
    }
}
