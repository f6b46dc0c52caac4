//! Pages of long lists: their size limits and cursors.
//!
//! A [`Cursor`] carries the clock of its list, so that all pages come from one clock. If the list
//! has changed since, the caller must start again without the cursor.

use skills_protocol::error::RpcError;

/// Maximum size in bytes of the items in one page. Half of the message limit, which leaves room for
/// the rest of the answer.
pub(crate) const PAGE: usize = 4 * 1024 * 1024;

/// A requested part of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRange {
    /// Index of the first item.
    pub(crate) start: usize,
    /// Maximum number of items.
    pub(crate) limit: usize,
}

impl PageRange {
    pub(crate) const ALL: Self = Self { start: 0, limit: usize::MAX };
}

/// Fills one page from several lists that are treated as one.
#[derive(Debug)]
pub(crate) struct PageBuilder {
    part: PageRange,
    /// Number of items passed so far.
    at: usize,
    n_taken: usize,
    /// Size in bytes of the taken items, as JSON.
    size: usize,
    /// Index of the first item of the next page.
    pub(crate) next: Option<usize>,
}

impl PageBuilder {
    pub(crate) fn of(part: PageRange) -> Self {
        Self { part, at: 0, n_taken: 0, size: 0, next: None }
    }

    /// Takes the items of the next list that belong to this page. `make` returns the item at an
    /// index and its size in bytes as JSON; it is called only for items of this page.
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

/// Returns an upper bound for the size of a text as JSON.
pub(crate) fn json_length(text: &str) -> usize {
    let length = |byte| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(length).sum::<usize>()
}

/// Returns the `limit` of a call.
///
/// # Errors
/// If it is 0.
pub(crate) fn limit(asked: Option<u32>) -> Result<usize, RpcError> {
    match asked {
        Some(0) => Err(RpcError::invalid_params("`limit` is 0")
            .with_param("params.limit")
            .with_hint("Use a limit of at least 1.")),
        Some(limit) => Ok(limit as usize),
        None => Ok(usize::MAX),
    }
}

/// Start of a page: `INDEX@CLOCK`, or `INDEX@CLOCK@SINCE` in a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor<'a> {
    pub(crate) start: usize,
    /// Clock that a difference starts from; `None` for a whole list.
    pub(crate) since: Option<&'a str>,
}

impl<'a> Cursor<'a> {
    /// Parses the cursor of a list at `clock`.
    ///
    /// # Errors
    /// If it is no cursor or belongs to another clock.
    pub(crate) fn read(cursor: &'a str, clock: &str) -> Result<Self, RpcError> {
        let (start, of) = cursor.split_once('@').unwrap_or_default();
        let (of, since) = of.split_once('@').map_or((of, None), |(of, since)| (of, Some(since)));
        let refused = |message: &str| {
            RpcError::invalid_params(message)
                .with_param("params.cursor")
                .with_hint("Start again without `cursor`.")
        };
        match start.parse() {
            Ok(start) if of == clock => Ok(Self { start, since }),
            Ok(_) => Err(refused("the list has changed since the page of this `cursor`")),
            Err(_) => Err(refused("this `cursor` is not the `nextCursor` of a page")),
        }
    }

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
            let mut page = PageBuilder::of(PageRange { start, limit });
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
    fn page_items_are_built_once_and_only_for_their_page() {
        let n_made = Cell::new(0);
        let make = |at: usize| {
            n_made.set(n_made.get() + 1);
            (at, 1)
        };
        for start in 0..10 {
            let mut page = PageBuilder::of(PageRange { start, limit: 1 });
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
    fn cursors_of_another_list_and_other_texts_are_refused_differently() {
        let message = |cursor| Cursor::read(cursor, "c1").map_err(|it| it.message);
        assert_eq!(message("2@c1"), Ok(Cursor { start: 2, since: None }));
        let changed = Err("the list has changed since the page of this `cursor`".to_owned());
        assert_eq!(message("2@c0"), changed);
        for other in ["", "bogus", "x@c1"] {
            let refused = Err("this `cursor` is not the `nextCursor` of a page".to_owned());
            assert_eq!(message(other), refused, "{other}");
        }
    }

    #[test]
    fn a_length_is_that_of_the_json_at_the_least() {
        for text in ["", "plain", "a\"b\\c", "\n\t\u{1}", "ü\u{2028}"] {
            assert!(json_length(text) >= serde_json::to_string(text).unwrap().len(), "{text:?}");
        }
    }
}
