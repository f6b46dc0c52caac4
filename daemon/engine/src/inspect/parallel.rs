//! Work on many items, on a few threads, that can be cancelled.

use crate::cancel::Cancel;
use crate::files::pool::map_after;

/// Applies `work` to each item, on this thread and a few more. Results keep the order of the items.
/// None if cancelled.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    cancel: &Cancel,
    work: impl Fn(&T) -> R + Sync,
) -> Option<Vec<R>> {
    // For fewer items, starting threads costs more than it saves.
    const MIN_PARALLEL_ITEMS: usize = 8;
    // A thread takes several items at once, because a look at a file takes hardly longer than
    // taking one item.
    const MAX_TAKEN: usize = 64;
    if items.len() < MIN_PARALLEL_ITEMS {
        return each(items, cancel, &work);
    }
    let parts: Vec<&[T]> = items.chunks(items.len().div_ceil(MAX_TAKEN).min(MAX_TAKEN)).collect();
    let results = map_after(&parts, 0, |_| {}, |part| each(part, cancel, &work));
    let results: Vec<Vec<R>> = results.into_iter().collect::<Option<_>>()?;
    Some(results.into_iter().flatten().collect()).filter(|_| !cancel.is_cancelled())
}

/// Applies `work` to each item; none if cancelled.
fn each<T, R>(items: &[T], cancel: &Cancel, work: impl Fn(&T) -> R) -> Option<Vec<R>> {
    let unless_cancelled = |it: &T| (!cancel.is_cancelled()).then(|| work(it));
    items.iter().map(unless_cancelled).collect::<Option<_>>().filter(|_| !cancel.is_cancelled())
}
