//! Cached forward searches ([`ByteFinder`], [`BacktickRuns`]) for linear-time scanning.
//!
//! A text of unclosed openings would search for an end at each of them. The caches look at each
//! byte once, as long as queries move forward.

use std::collections::HashMap;
use std::collections::VecDeque;

/// Finds the next byte of a kind. An answer is reused for all later offsets up to the found one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ByteFinder {
    searched: Option<SearchedRange>,
}

/// A range without a match; it ends at a match or at the end of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SearchedRange {
    from: usize,
    to: usize,
}

impl ByteFinder {
    /// Returns the offset of the first byte at or after `from` for which `is` holds. Text and
    /// predicate must be the same in each call.
    pub(super) fn next(
        &mut self,
        bytes: &[u8],
        from: usize,
        is: impl Fn(&u8) -> bool,
    ) -> Option<usize> {
        let searched = self.searched.filter(|it| from <= it.to);
        let to = match searched {
            Some(searched) if searched.from <= from => searched.to,
            // The range before the cached one has not been searched.
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

/// Offsets of the backtick runs in a text, grouped by length.
#[derive(Debug)]
pub(super) struct BacktickRuns(HashMap<usize, VecDeque<usize>>);

impl BacktickRuns {
    /// Finds the runs in `bytes`, which start at offset `start` of the whole text.
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

    /// Returns the first run of a length at or after `from`, and drops earlier ones.
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
    fn each_byte_is_searched_once() {
        for text in ["a".repeat(1000), format!("{})", "a".repeat(999))] {
            let n_tests = Cell::new(0);
            let is = |it: &u8| {
                n_tests.set(n_tests.get() + 1);
                *it == b')'
            };
            let expected = text.find(')');
            let mut ahead = ByteFinder::default();
            for from in (0..500).chain(400..1000) {
                assert_eq!(ahead.next(text.as_bytes(), from, is), expected);
            }
            assert!(n_tests.get() <= 1100, "{n_tests:?}");
        }
    }

    #[test]
    fn queries_may_move_backwards() {
        let mut ahead = ByteFinder::default();
        let mut next = |from| ahead.next(b"a)b)c", from, |it| *it == b')');
        assert_eq!([3, 1, 2, 4, 0].map(&mut next), [Some(3), Some(1), Some(3), None, Some(1)]);
    }

    #[test]
    fn backtick_runs_are_found_by_length() {
        let mut runs = BacktickRuns::new(b"`` ` ``` ` ``", 10);
        assert_eq!(runs.next(2, 12), Some(21));
        assert_eq!(runs.next(1, 12), Some(13));
        assert_eq!(runs.next(1, 14), Some(19));
        assert_eq!(runs.next(4, 10), None);
    }
}
