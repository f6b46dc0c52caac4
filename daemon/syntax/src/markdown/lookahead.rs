//! What comes next in a text, for whoever asks again and again further on.
//!
//! A text of nothing but beginnings asks for an end at each of them. Here each byte is looked at
//! once for all who ask in the order of the text, so that such a text takes no longer than another.

use std::collections::HashMap;
use std::collections::VecDeque;

/// The next byte of a kind. Whoever asks goes forwards, mostly: an answer counts for all places from
/// the one that it was looked for from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ByteFinder {
    searched: Option<SearchedRange>,
}

/// That there is none of a kind from one place to another, which is one or the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SearchedRange {
    from: usize,
    to: usize,
}

impl ByteFinder {
    /// Returns where the first byte from `from` on is for which `is` holds. The text and the kind
    /// are the same at each call.
    pub(super) fn next(
        &mut self,
        bytes: &[u8],
        from: usize,
        is: impl Fn(&u8) -> bool,
    ) -> Option<usize> {
        let searched = self.searched.filter(|it| from <= it.to);
        let to = match searched {
            Some(searched) if searched.from <= from => searched.to,
            // Between here and there nobody has looked.
            searched => {
                let stop = searched.map_or(bytes.len(), |it| it.from);
                let found = bytes[from..stop].iter().position(is).map(|it| from + it);
                found.unwrap_or(searched.map_or(bytes.len(), |it| it.to))
            }
        };
        self.searched = Some(SearchedRange { from, to });
        (to < bytes.len()).then_some(to)
    }
}

/// The runs of backticks in a text, by their length.
#[derive(Debug)]
pub(super) struct BacktickRuns(HashMap<usize, VecDeque<usize>>);

impl BacktickRuns {
    /// Finds the runs of a text that begins at `start` of another.
    pub(super) fn new(bytes: &[u8], start: usize) -> Self {
        let mut runs: HashMap<usize, VecDeque<usize>> = HashMap::new();
        let mut at = 0;
        while at < bytes.len() {
            let length = bytes[at..].iter().take_while(|it| **it == b'`').count();
            if length > 0 {
                runs.entry(length).or_default().push_back(start + at);
            }
            at += length.max(1);
        }
        Self(runs)
    }

    /// Returns where the first run of a length begins from `from` on; those before are let go of.
    pub(super) fn next(&mut self, length: usize, from: usize) -> Option<usize> {
        let runs = self.0.get_mut(&length)?;
        while runs.front().is_some_and(|it| *it < from) {
            runs.pop_front();
        }
        runs.front().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_byte_is_looked_at_once() {
        for text in ["a".repeat(1000), format!("{})", "a".repeat(999))] {
            let n_looks = Cell::new(0);
            let is = |it: &u8| {
                n_looks.set(n_looks.get() + 1);
                *it == b')'
            };
            let expected = text.find(')');
            let mut ahead = ByteFinder::default();
            for from in (0..500).chain(400..1000) {
                assert_eq!(ahead.next(text.as_bytes(), from, is), expected);
            }
            assert!(n_looks.get() <= 1100, "{n_looks:?}");
        }
    }

    #[test]
    fn what_lies_before_is_found_when_somebody_goes_back() {
        let mut ahead = ByteFinder::default();
        let mut next = |from| ahead.next(b"a)b)c", from, |it| *it == b')');
        assert_eq!([3, 1, 2, 4, 0].map(&mut next), [Some(3), Some(1), Some(3), None, Some(1)]);
    }

    #[test]
    fn runs_are_told_by_their_length() {
        let mut runs = BacktickRuns::new(b"`` ` ``` ` ``", 10);
        assert_eq!(runs.next(2, 12), Some(21));
        assert_eq!(runs.next(1, 12), Some(13));
        assert_eq!(runs.next(1, 14), Some(19));
        assert_eq!(runs.next(4, 10), None);
    }
}
