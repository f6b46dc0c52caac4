//! Discovery of large views on a thread of its own, so that it delays no other view.
//!
//! The thread reads a clone of the index, which the event loop goes on changing. A result counts
//! only if every node that it depends on is still the same; otherwise discovery runs again. After
//! some outdated results it runs on the event loop, so that a tree that always changes is published
//! too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

use super::state::{EngineState, Scan};
use crate::views::discovery_run::DiscoveryRun;
use crate::views::event::Event;
use crate::views::tracked_tree::DiscoveryInput;

/// Number of outdated results of a scan after which it runs on the event loop.
const MAX_OUTDATED: usize = 3;

/// Limit on the visits of a run that must end.
const NO_LIMIT: usize = usize::MAX;

impl EngineState {
    /// Returns the input for discovery now.
    fn discovery_input(&self) -> DiscoveryInput {
        DiscoveryInput {
            dir_index: self.scanner.dir_index.clone(),
            uid: self.uid,
            sources: self.sources.provided().clone(),
            policy: Arc::clone(&self.policy),
        }
    }

    /// Returns the result of a scan's thread if it is not outdated, and otherwise runs discovery:
    /// here for a small view or after too many outdated results, else on a thread. Returns none if
    /// a thread was started, or if the scan must wait for another's.
    pub(super) fn discover(&mut self, scan: &mut Scan) -> Option<DiscoveryRun> {
        let input = self.discovery_input();
        if let Some((before, run)) = scan.discovered.take() {
            let depends = |it| run.depends.contains(it);
            if !scan.is_outdated && input.dir_index.is_unchanged_since(&before.dir_index, depends) {
                return Some(run);
            }
            scan.n_outdated += 1;
        }
        if scan.n_outdated == MAX_OUTDATED {
            return Some(input.run(&scan.ctx, NO_LIMIT));
        }
        // The size is known only of a view's last run, and each round of a scan may visit much
        // more.
        if scan.size < self.large_view {
            let run = input.run(&scan.ctx, self.large_view);
            if run.n_visits < self.large_view {
                return Some(run);
            }
            scan.size = run.n_visits;
        }
        if self.pending_scans.iter().any(|it| it.running.is_some()) {
            scan.is_waiting = true;
            return None;
        }
        let (reply, result) = mpsc::channel();
        let (ctx, events, its_input) = (Arc::clone(&scan.ctx), self.events.clone(), input.clone());
        let run = move || {
            // Unwind safety: a run changes nothing that outlives it.
            let run = catch_unwind(AssertUnwindSafe(|| its_input.run(&ctx, NO_LIMIT)));
            // The scan, or the event loop, may have ended.
            if let Ok(run) = run {
                let _ = reply.send(run);
            }
            drop(reply);
            let _ = events.send(Event::Discovered);
        };
        if let Err(error) = thread::Builder::new().name("discovery".to_owned()).spawn(run) {
            tracing::warn!(%error, "no thread for discovery");
            return Some(input.run(&scan.ctx, NO_LIMIT));
        }
        scan.running = Some((input, result));
        scan.is_outdated = false;
        None
    }

    /// Takes the results of threads, and lets scans continue.
    pub(super) fn take_discovered(&mut self) {
        for scan in &mut self.pending_scans {
            if let Some((input, result)) = scan.running.take() {
                match result.try_recv() {
                    Ok(run) => scan.discovered = Some((input, run)),
                    // The panic repeats on the event loop, whose end is reported.
                    Err(TryRecvError::Disconnected) => scan.n_outdated = MAX_OUTDATED,
                    Err(TryRecvError::Empty) => {
                        scan.running = Some((input, result));
                        continue;
                    }
                }
            }
            scan.is_waiting = false;
        }
    }

    /// Makes running scans discover again, after a change that is not in the index.
    pub(super) fn outdate_scans(&mut self) {
        for scan in &mut self.pending_scans {
            scan.is_outdated = true;
        }
    }
}
