//! [`RescanThrottle`] limits how often files outside the index are looked up again.
//!
//! Not every file is watched, so any message of the client may mean that one was created or
//! deleted. Such messages come at every keystroke, and a rescan walks the worktree. After a rescan
//! the next one waits, longer after slow walks; requests in between are merged into it.

use std::time::Duration;

use tokio::time::Instant;

/// The minimum time between two rescans.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The wait after a walk as a multiple of its duration; walks take at most a twentieth of the time.
const INTERVAL_PER_WALK: u32 = 20;

/// The maximum wait, even if a walk was slow.
const MAX_INTERVAL: Duration = Duration::from_secs(30);

/// A requested rescan, and the earliest time for it.
#[derive(Debug, Default)]
pub(super) struct RescanThrottle {
    is_requested: bool,
    earliest: Option<Instant>,
}

impl RescanThrottle {
    /// Requests a rescan: a file may have been created or deleted.
    pub(super) fn request(&mut self) {
        self.is_requested = true;
    }

    /// Returns true if a rescan is due now.
    pub(super) fn is_due(&self) -> bool {
        self.is_requested && self.earliest.is_none_or(|it| it <= Instant::now())
    }

    /// Returns true if a rescan is due now, and marks it as started.
    pub(super) fn take_if_due(&mut self) -> bool {
        let is_due = self.is_due();
        if is_due {
            self.start();
        }
        is_due
    }

    /// Marks a rescan as started.
    pub(super) fn start(&mut self) {
        self.is_requested = false;
        self.earliest = Some(Instant::now() + MIN_INTERVAL);
    }

    /// Records the duration of a rescan's walk.
    pub(super) fn record_walk(&mut self, took: Duration) {
        let until = Instant::now() + took.saturating_mul(INTERVAL_PER_WALK).min(MAX_INTERVAL);
        self.earliest = self.earliest.max(Some(until));
    }

    /// Returns when the requested rescan is due; `None` without a request.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.earliest.filter(|_| self.is_requested)
    }
}
