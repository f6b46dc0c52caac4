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
    const FEW: usize = 8;
    let unless_cancelled = |it: &T| (!cancel.is_cancelled()).then(|| work(it));
    let results = map_after(items, FEW, |_| {}, unless_cancelled);
    results.into_iter().collect::<Option<_>>().filter(|_| !cancel.is_cancelled())
}
