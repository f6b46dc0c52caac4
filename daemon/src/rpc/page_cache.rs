//! [`PageCache`]: results of disk searches that are answered in pages, kept until the last page.
//!
//! No clock covers everything that such a result depends on, so all pages are cut from one result.
//! A cursor carries the result's revision. If the result is no longer cached, the search runs
//! again; if its revision differs by then, the caller must start again without the cursor.
//!
//! Invariant: the pages of one answer never mix two different results.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_platform::lock::lock;
use skills_protocol::error::RpcError;
use tokio::time::sleep;

use crate::rpc::heavy::HeavyCalls;
use crate::rpc::paging::{Cursor, PAGE, PageRange};
use crate::rpc::peer::ClientPeer;
use crate::rpc::tasks::spawn;

/// Time after the last page request for which a result stays cached.
const KEPT: Duration = Duration::from_secs(30);

/// Maximum number of cached results; each can have many megabytes.
const MAX_CACHED_RESULTS: usize = 4;

/// A complete result.
#[derive(Debug)]
pub(crate) struct PagedResult {
    /// Clock of the view that was searched.
    pub(crate) clock: String,
    /// Number of files that were read, for methods that report it.
    pub(crate) n_checked: u64,
    /// The items, each as JSON.
    items: Vec<Box<RawValue>>,
    /// Hash of the content, with the clock.
    revision: String,
}

impl PagedResult {
    pub(crate) fn new<T: Serialize>(
        clock: &str,
        n_checked: u64,
        items: impl IntoIterator<Item = T>,
    ) -> Self {
        let json = |it: T| to_raw_value(&it).expect("it is text, numbers and lists of both");
        let items: Vec<_> = items.into_iter().map(json).collect();
        let mut hasher = DefaultHasher::new();
        n_checked.hash(&mut hasher);
        for item in &items {
            item.get().hash(&mut hasher);
        }
        let revision = format!("{clock} {:x}", hasher.finish());
        Self { clock: clock.to_owned(), n_checked, items, revision }
    }

    /// Returns the item range of one page and its size in bytes.
    fn cut(&self, part: PageRange) -> (Range<usize>, usize) {
        let start = part.start.min(self.items.len());
        let end = start.saturating_add(part.limit).min(self.items.len());
        let mut size = 0;
        for (at, item) in (start..end).zip(&self.items[start..end]) {
            let length = item.get().len() + 1;
            // An item larger than a page gets a page of its own.
            if at > start && size + length > PAGE {
                return (start..at, size);
            }
            size += length;
        }
        (start..end, size)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRequest<'a> {
    /// Key of the query, from [`query_key`].
    pub(crate) query_key: u64,
    pub(crate) cursor: Option<&'a str>,
    pub(crate) limit: usize,
}

#[derive(Debug)]
pub(crate) struct ResultPage {
    found: Arc<PagedResult>,
    range: Range<usize>,
    /// Size of its items in bytes.
    pub(crate) size: usize,
    /// True if more items follow.
    pub(crate) is_cut: bool,
    /// Cursor of the next page; `None` on the last page.
    pub(crate) next_cursor: Option<String>,
}

impl ResultPage {
    pub(crate) fn whole(&self) -> &PagedResult {
        &self.found
    }

    pub(crate) fn items(&self) -> Vec<&RawValue> {
        self.found.items[self.range.clone()].iter().map(|it| &**it).collect()
    }
}

/// Returns the cache key of a query over `views`.
pub(crate) fn query_key(method: &str, views: &[Arc<View>], more: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    method.hash(&mut hasher);
    for view in views {
        view.key.hash(&mut hasher);
    }
    more.hash(&mut hasher);
    hasher.finish()
}

/// Returns one page. Calls `find`, which reads the disk, if the result is not cached.
pub(crate) async fn page(
    (cache, heavy): (&Arc<PageCache>, &HeavyCalls),
    peer: &ClientPeer,
    wanted: PageRequest<'_>,
    find: impl FnOnce(&Cancel) -> Result<PagedResult, RpcError> + Send + 'static,
) -> Result<ResultPage, RpcError> {
    let PageRequest { query_key, cursor, limit } = wanted;
    let found = match cursor.and_then(|it| cache.find(query_key, it)) {
        Some(found) => found,
        None => Arc::new(heavy.run(peer, find).await?),
    };
    let start = match cursor {
        Some(cursor) => Cursor::read(cursor, &found.revision)?.start,
        None => 0,
    };
    let (range, size) = found.cut(PageRange { start, limit });
    let is_cut = range.end < found.items.len();
    // A limit of 0 only asks if there are items.
    let goes_on = is_cut && limit > 0;
    if goes_on {
        cache.keep(query_key, &found);
    } else {
        cache.forget(query_key, &found);
    }
    let cursor = Cursor { start: range.end, since: None };
    let next_cursor = goes_on.then(|| cursor.text(&found.revision));
    Ok(ResultPage { found, range, size, is_cut, next_cursor })
}

/// The results whose pages are being requested.
#[derive(Debug, Default)]
pub(crate) struct PageCache(Mutex<CachedResults>);

#[derive(Debug, Default)]
struct CachedResults {
    /// Least recently requested first.
    answers: Vec<(u64, Instant, Arc<PagedResult>)>,
    /// True while a task runs that removes expired results.
    is_tidied: bool,
}

impl PageCache {
    fn find(&self, query_key: u64, cursor: &str) -> Option<Arc<PagedResult>> {
        let kept = lock(&self.0);
        let mut of = kept.answers.iter().filter(|it| it.0 == query_key);
        let found = of.find(|(.., it)| Cursor::read(cursor, &it.revision).is_ok())?;
        Some(Arc::clone(&found.2))
    }

    fn keep(self: &Arc<Self>, query_key: u64, found: &Arc<PagedResult>) {
        let mut kept = lock(&self.0);
        kept.remove(query_key, found);
        if kept.answers.len() == MAX_CACHED_RESULTS {
            kept.answers.remove(0);
        }
        kept.answers.push((query_key, Instant::now(), Arc::clone(found)));
        if !std::mem::replace(&mut kept.is_tidied, true) {
            let cache = Arc::downgrade(self);
            spawn(async move {
                loop {
                    sleep(KEPT).await;
                    let Some(cache) = cache.upgrade() else { return };
                    if cache.tidy() {
                        return;
                    }
                }
            });
        }
    }

    fn forget(&self, query_key: u64, found: &Arc<PagedResult>) {
        lock(&self.0).remove(query_key, found);
    }

    /// Removes expired results. Returns true if the cache is empty.
    fn tidy(&self) -> bool {
        let mut kept = lock(&self.0);
        kept.answers.retain(|(_, since, _)| since.elapsed() < KEPT);
        kept.is_tidied = !kept.answers.is_empty();
        !kept.is_tidied
    }
}

impl CachedResults {
    fn remove(&mut self, query_key: u64, found: &PagedResult) {
        self.answers.retain(|(of, _, it)| *of != query_key || it.revision != found.revision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lengths: &[usize]) -> PagedResult {
        // Two quotes and a comma surround each text.
        PagedResult::new("c", 0, lengths.iter().map(|it| "x".repeat(it - 3)))
    }

    #[track_caller]
    fn check(lengths: &[usize], limit: usize, ends: &[usize]) {
        let found = found(lengths);
        let mut start = 0;
        let mut pages = Vec::new();
        while start < lengths.len() {
            let (range, size) = found.cut(PageRange { start, limit });
            assert_eq!(size, lengths[range.clone()].iter().sum::<usize>());
            assert_eq!(range.start, start);
            start = range.end;
            pages.push(start);
        }
        assert_eq!(pages, ends);
    }

    #[test]
    fn a_page_is_full_before_it_is_too_long() {
        check(&[10, 10, 10], usize::MAX, &[3]);
        check(&[10, 10, 10], 2, &[2, 3]);
        check(&[PAGE / 2, PAGE / 2, 10], usize::MAX, &[2, 3]);
        check(&[10, PAGE + 1, 10], usize::MAX, &[1, 2, 3]);
    }

    #[test]
    fn page_after_the_end_is_empty() {
        assert_eq!(found(&[10]).cut(PageRange { start: 9, limit: 1 }), (1..1, 0));
    }

    #[test]
    fn revision_differs_between_results() {
        let revision = |clock, n, items: &[&str]| PagedResult::new(clock, n, items).revision;
        let first = revision("c", 1, &["a", "b"]);
        assert_eq!(revision("c", 1, &["a", "b"]), first);
        for other in [
            revision("d", 1, &["a", "b"]),
            revision("c", 2, &["a", "b"]),
            revision("c", 1, &["a"]),
            revision("c", 1, &["b", "a"]),
        ] {
            assert_ne!(other, first);
        }
    }
}
