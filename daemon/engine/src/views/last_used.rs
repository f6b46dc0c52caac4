//! Times of the last use of views.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time after which an unused view is dropped.
pub(crate) const VIEW_IDLE: Duration = Duration::from_hours(1);

/// Time of a view's last use, through the event loop or by callers that took the published view.
pub(crate) struct LastUsed {
    first: Instant,
    /// Nanoseconds since `first`.
    last: AtomicU64,
    /// Number of this view, unique in the process.
    number: u64,
    /// Number of the most recently used view of the worktree.
    latest: Latest,
}

/// Number of a worktree's most recently used view; shared by all of its views.
pub(crate) type Latest = Arc<AtomicU64>;

impl LastUsed {
    /// Returns the record of a view used now, in a worktree with this most recent view.
    pub(crate) fn new(latest: &Latest) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let latest = Arc::clone(latest);
        Self { first: Instant::now(), last: AtomicU64::new(0), number, latest }
    }

    /// Records a use now. Returns true if another view of the worktree was the most recent one
    /// before.
    pub(crate) fn now(&self) -> bool {
        let since = u64::try_from(self.first.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.fetch_max(since, Ordering::Relaxed);
        !self.is_latest() && self.latest.swap(self.number, Ordering::Relaxed) != self.number
    }

    /// Returns the time of the last use.
    pub(crate) fn last(&self) -> Instant {
        self.first + Duration::from_nanos(self.last.load(Ordering::Relaxed))
    }

    /// Returns true if this is the worktree's most recently used view.
    pub(crate) fn is_latest(&self) -> bool {
        self.latest.load(Ordering::Relaxed) == self.number
    }
}
