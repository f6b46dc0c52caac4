//! Answers in pages: how long one is, and where the next begins.
//!
//! A cursor is bound to the clock of the answer that it goes on with, so that all pages are of one
//! clock: where that is another one by now the caller has to begin anew.

use skills_protocol::error::RpcError;

/// How long what is listed in one answer may be together where the caller sets no limit. Half of
/// what one message may be, so that whatever is around it has room.
pub(crate) const PAGE: usize = 4 * 1024 * 1024;

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The index that it begins at.
    pub(crate) start: usize,
    /// How much of it at most.
    pub(crate) limit: usize,
}

impl Part {
    pub(crate) const ALL: Self = Self { start: 0, limit: usize::MAX };
}

/// Fills one page out of lists that count as one, the one behind the other.
#[derive(Debug)]
pub(crate) struct Page {
    part: Part,
    /// How much of the lists was gone through.
    at: usize,
    n_taken: usize,
    /// How long is what was taken, as JSON.
    size: usize,
    /// The index that the next page begins at.
    pub(crate) next: Option<usize>,
}

impl Page {
    pub(crate) fn of(part: Part) -> Self {
        Self { part, at: 0, n_taken: 0, size: 0, next: None }
    }

    /// Takes what of the next list belongs to this page. `make` makes what stands at an index of
    /// the list, with how long it is as JSON; nothing is made that is on another page.
    pub(crate) fn take<W>(&mut self, len: usize, make: impl Fn(usize) -> (W, usize)) -> Vec<W> {
        let begin = self.at;
        self.at += len;
        let mut taken = Vec::new();
        if self.next.is_some() {
            return taken;
        }
        for index in self.part.start.max(begin)..self.at {
            if self.n_taken == self.part.limit || self.size >= PAGE {
                self.next = Some(index);
                break;
            }
            let (made, size) = make(index - begin);
            self.n_taken += 1;
            self.size += size;
            taken.push(made);
        }
        taken
    }
}

/// Returns how long a text is as JSON, at the most.
pub(crate) fn json_length(text: &str) -> usize {
    let length = |byte| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(length).sum::<usize>()
}

/// Reads how much a caller wants at most.
pub(crate) fn limit(asked: Option<u32>) -> Result<usize, RpcError> {
    match asked {
        Some(0) => Err(RpcError::invalid_params("`limit` is 0").with_hint("Ask for one at least.")),
        Some(limit) => Ok(limit as usize),
        None => Ok(usize::MAX),
    }
}

/// Where a page begins: `INDEX@CLOCK`; `INDEX@CLOCK@SINCE` in a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor<'a> {
    pub(crate) start: usize,
    /// The clock that the difference is from; none in a whole list.
    pub(crate) since: Option<&'a str>,
}

impl<'a> Cursor<'a> {
    /// Reads the cursor of an answer at this clock.
    pub(crate) fn read(cursor: &'a str, clock: &str) -> Result<Self, RpcError> {
        let (start, of) = cursor.split_once('@').unwrap_or_default();
        let (of, since) = of.split_once('@').map_or((of, None), |(of, since)| (of, Some(since)));
        let start = start.parse().ok().filter(|_| of == clock);
        start.map(|start| Self { start, since }).ok_or_else(|| {
            RpcError::invalid_params("the list has changed since the page of this `cursor`")
                .with_hint("Start again without `cursor`.")
        })
    }

    /// Returns the cursor as it is sent.
    pub(crate) fn text(self, clock: &str) -> String {
        let start = self.start;
        match self.since {
            Some(since) => format!("{start}@{clock}@{since}"),
            None => format!("{start}@{clock}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Goes through two lists in pages of so many, and returns what each page has.
    #[track_caller]
    fn check(limit: usize, size: usize, expected: &[&str]) {
        let mut start = 0;
        let mut pages = Vec::new();
        loop {
            let mut page = Page::of(Part { start, limit });
            let lists = ["abc", "de"].map(|it| page.take(it.len(), |at| (&it[at..=at], size)));
            pages.push(lists.map(|it| it.concat()).join("/"));
            match page.next {
                Some(next) => start = next,
                None => break,
            }
        }
        assert_eq!(pages, expected);
    }

    #[test]
    fn lists_are_cut_where_a_page_is_full() {
        check(usize::MAX, 1, &["abc/de"]);
        check(5, 1, &["abc/de"]);
        check(3, 1, &["abc/", "/de"]);
        check(2, 1, &["ab/", "c/d", "/e"]);
        check(usize::MAX, PAGE, &["a/", "b/", "c/", "/d", "/e"]);
    }

    #[test]
    fn what_is_on_a_page_is_made_once_and_for_no_other() {
        let n_made = Cell::new(0);
        let make = |at: usize| {
            n_made.set(n_made.get() + 1);
            (at, 1)
        };
        for start in 0..10 {
            let mut page = Page::of(Part { start, limit: 1 });
            let lists = [4, 6].map(|len| page.take(len, make));
            let (list, at) = if start < 4 { (0, start) } else { (1, start - 4) };
            assert_eq!(
                (lists[list].as_slice(), page.next),
                (&[at][..], (start < 9).then_some(start + 1))
            );
        }
        assert_eq!(n_made.get(), 10);
    }

    #[test]
    fn a_length_is_that_of_the_json_at_the_least() {
        for text in ["", "plain", "a\"b\\c", "\n\t\u{1}", "ü\u{2028}"] {
            assert!(json_length(text) >= serde_json::to_string(text).unwrap().len(), "{text:?}");
        }
    }
}
