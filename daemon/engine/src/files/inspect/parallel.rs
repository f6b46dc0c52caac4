//! Work on many items, on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cancel::Cancel;

/// Maximum number of threads of one call.
const MOST_THREADS: usize = 4;

/// Applies `work` to each item, on this thread and a few more. Results keep the order of the items.
/// None if cancelled.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    cancel: &Cancel,
    work: impl Fn(&T) -> R + Sync,
) -> Option<Vec<R>> {
    // For fewer items, starting threads costs more than it saves.
    const FEW: usize = 8;
    let most = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let n_threads = if items.len() < FEW { 1 } else { most };
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        while !cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            done.push((index, work(item)));
        }
        done
    };
    let all: Vec<(usize, R)> = thread::scope(|scope| {
        let start = || thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..n_threads).map_while(|_| start()).collect();
        let mut all = run();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    if cancel.is_cancelled() {
        return None;
    }
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    for (index, result) in all {
        results[index] = Some(result);
    }
    results.into_iter().collect()
}
