//! Thread pool for scans and parsing; results keep the order of the inputs.
//!
//! Each input is prepared on the caller's thread, in order, and then processed by any thread:
//! directories are armed one after the other and read in parallel.

use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread;

use skills_platform::lock::lock;

/// Maximum number of threads: a scan mostly waits for the disk.
const MAX_THREADS: usize = 4;

/// Number of threads; the standard library reads the control group's files at each call.
static THREADS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS));

/// Positions of the caller's thread and the workers.
#[derive(Default)]
struct PoolProgress {
    prepared: usize,
    /// Number of inputs taken by a thread.
    taken: usize,
    /// True once no more inputs will be prepared.
    ended: bool,
}

#[derive(Default)]
struct WorkQueue {
    progress: Mutex<PoolProgress>,
    more: Condvar,
}

/// Calls `prepare` for each input on this thread, in order, then `work` on any thread. Returns the
/// results of `work` in the order of the inputs. Starts no thread for fewer than `worth` inputs.
pub(crate) fn map_after<I: Sync, O: Send>(
    inputs: &[I],
    worth: usize,
    mut prepare: impl FnMut(&I),
    work: impl Fn(&I) -> O + Sync,
) -> Vec<O> {
    let threads = *THREADS;
    if inputs.len() < worth || threads < 2 {
        let both = |it: &I| {
            prepare(it);
            work(it)
        };
        return inputs.iter().map(both).collect();
    }
    let queue = WorkQueue::default();
    let run = || {
        let mut done = Vec::new();
        while let Some(index) = queue.take() {
            done.push((index, work(&inputs[index])));
        }
        done
    };
    let mut results: Vec<(usize, O)> = thread::scope(|scope| {
        // With fewer threads than asked for, the work takes longer.
        let start = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        // Ends the queue even if `prepare` panics, so that workers do not wait forever.
        let ending = EndOnDrop(&queue);
        for input in inputs {
            prepare(input);
            queue.put();
        }
        drop(ending);
        let mut all = run();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, output)| output).collect()
}

/// Ends a queue on drop.
struct EndOnDrop<'a>(&'a WorkQueue);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.0.progress).ended = true;
        self.0.more.notify_all();
    }
}

impl WorkQueue {
    fn put(&self) {
        lock(&self.progress).prepared += 1;
        self.more.notify_one();
    }

    /// Takes the next prepared input; none at the end of the queue.
    fn take(&self) -> Option<usize> {
        let mut progress = lock(&self.progress);
        loop {
            if progress.taken < progress.prepared {
                progress.taken += 1;
                return Some(progress.taken - 1);
            }
            if progress.ended {
                return None;
            }
            progress = self.more.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn inputs_are_prepared_first_and_results_keep_order() {
        for count in [3, 1000] {
            let inputs: Vec<usize> = (0..count).collect();
            let prepared = AtomicUsize::new(0);
            let results = map_after(
                &inputs,
                32,
                |it| assert_eq!(prepared.fetch_add(1, Ordering::SeqCst), *it),
                |it| {
                    assert!(prepared.load(Ordering::SeqCst) > *it);
                    it * 2
                },
            );
            assert_eq!(results, inputs.iter().map(|it| it * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn panic_in_prepare_ends_the_workers() {
        let inputs = [0; 100];
        let panic =
            std::panic::catch_unwind(|| map_after(&inputs, 32, |_| panic!("on purpose"), |_| ()));
        assert!(panic.is_err());
    }
}
