//! Discovery of large views on a thread of its own, so that it delays no other view.
//!
//! The thread reads a clone of the index, which the event loop goes on changing. A result counts
//! only if every node that it depends on is still the same; otherwise discovery runs again. After
//! some runs it runs on the event loop, so that a tree that always changes is published too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use super::state::{EngineState, Scan, ScanPhase};
use crate::views::discovery_run::{DiscoveryInput, DiscoveryRun};
use crate::views::event::{Discovered, Event};

/// Maximum number of runs for one view before it runs on the event loop.
const MAX_RUNS: usize = 3;

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

    /// Runs discovery for a scan, or returns the result of its thread. Returns none if a thread was
    /// started, or if the scan must wait for another's; [`Scan::phase`] says which.
    pub(super) fn discover(&mut self, scan: &mut Scan) -> Option<DiscoveryRun> {
        let input = self.discovery_input();
        if let Some((before, run)) = scan.discovered.take().filter(|_| !scan.is_outdated)
            && input.dir_index.is_unchanged_since(&before.dir_index, |it| run.depends.contains(it))
        {
            return Some(run);
        }
        if scan.size < self.large_view || scan.n_runs == MAX_RUNS {
            return Some(input.run(&scan.ctx));
        }
        if self.pending_scans.iter().any(|it| it.phase == ScanPhase::Running) {
            scan.phase = ScanPhase::Waiting;
            return None;
        }
        let (key, ctx) = (Arc::clone(&scan.key), Arc::clone(&scan.ctx));
        let (events, its_input) = (self.events.clone(), input.clone());
        let run = move || {
            // Unwind safety: a run changes nothing that outlives it.
            let run = catch_unwind(AssertUnwindSafe(|| its_input.run(&ctx))).ok();
            // The event loop may have ended.
            let _ =
                events.send(Event::Discovered(Box::new(Discovered { key, input: its_input, run })));
        };
        if let Err(error) = thread::Builder::new().name("discovery".to_owned()).spawn(run) {
            tracing::warn!(%error, "no thread for discovery");
            return Some(input.run(&scan.ctx));
        }
        scan.n_runs += 1;
        scan.is_outdated = false;
        scan.phase = ScanPhase::Running;
        None
    }

    /// Takes the result of a thread, and lets scans continue.
    pub(super) fn take_discovered(&mut self, discovered: Discovered) {
        let Discovered { key, input, run } = discovered;
        for scan in &mut self.pending_scans {
            if scan.key == key {
                match run {
                    Some(run) => scan.discovered = Some((input, run)),
                    // The panic repeats on the event loop, whose end is reported.
                    None => scan.n_runs = MAX_RUNS,
                }
                break;
            }
        }
        for scan in &mut self.pending_scans {
            if scan.phase == ScanPhase::Waiting || scan.key == key {
                scan.phase = ScanPhase::Ready;
            }
        }
    }

    /// Makes running scans discover again, after a change that is not in the index.
    pub(super) fn outdate_scans(&mut self) {
        for scan in &mut self.pending_scans {
            scan.is_outdated = true;
        }
    }
}
