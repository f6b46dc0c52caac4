//! When files outside of the index are looked up again.
//!
//! Nobody watches a whole worktree, so whatever a client says may be a sign that a file has come or
//! gone. Signs come at every keystroke and a look costs a walk: after a look there is a rest, the
//! longer the more the walk has cost, and what was said meanwhile is looked into behind it.

use std::time::Duration;

use tokio::time::Instant;

/// How long a look counts at least.
const REST: Duration = Duration::from_secs(1);

/// How much longer than a walk the rest behind it is, so that walks are a twentieth of the time.
const SHARE: u32 = 20;

/// How long the rest is at most, whatever a walk had to wait for.
const LONGEST: Duration = Duration::from_secs(30);

/// What was said since the last look, and until when there is none.
#[derive(Debug, Default)]
pub(super) struct RescanThrottle {
    may_differ: bool,
    rests_until: Option<Instant>,
}

impl RescanThrottle {
    /// Says that a file may have come or gone.
    pub(super) fn doubt(&mut self) {
        self.may_differ = true;
    }

    /// Whether a look is due now.
    pub(super) fn is_time(&self) -> bool {
        self.may_differ && self.rests_until.is_none_or(|it| it <= Instant::now())
    }

    /// Returns whether a look is due now, and counts it as done.
    pub(super) fn look(&mut self) -> bool {
        let is_time = self.is_time();
        if is_time {
            self.may_differ = false;
            self.rests_until = Some(Instant::now() + REST);
        }
        is_time
    }

    /// Says how long the walk of a look took.
    pub(super) fn walked(&mut self, took: Duration) {
        let until = Instant::now() + took.saturating_mul(SHARE).min(LONGEST);
        self.rests_until = self.rests_until.max(Some(until));
    }

    /// Returns when the next look is due, where one is.
    pub(super) fn wakes(&self) -> Option<Instant> {
        self.rests_until.filter(|_| self.may_differ)
    }
}
