//! A small pool for scans and parsing: one function over many inputs, results in their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Below this many inputs, starting threads costs more than it saves.
const WORTH_THREADS: usize = 32;

/// The most threads that work at a time: what a scan needs is mostly waiting for the disk.
const MAX_THREADS: usize = 4;

/// Applies `work` to each input, on several threads when there are many.
pub(crate) fn map<I: Sync, O: Send>(inputs: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    if inputs.len() < WORTH_THREADS || threads < 2 {
        return inputs.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(index) else { return done };
            done.push((index, work(input)));
        }
    };
    let mut results: Vec<(usize, O)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut all = run();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_inputs() {
        let inputs: Vec<usize> = (0..1000).collect();
        assert_eq!(map(&inputs, |it| it * 2), inputs.iter().map(|it| it * 2).collect::<Vec<_>>());
    }
}
