//! Whether the engine has nothing to do: then what is published is as good as what it would answer,
//! and whoever wants a view takes it without waking the engine's thread.
//!
//! Every event is counted before it is sent, and the engine notes up to which one all is done and
//! published. Where both are the same, and the watch has nothing that it has not passed on, there
//! is no change that was finished before and is not in the views. Of what was caused earlier, the
//! event is counted by then; one that is counted meanwhile was not finished before, and may wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, Sender};
use std::time::{Duration, Instant};

use crate::views::event_loop::Event;
use crate::watch::hints::QueueProbe;

/// Where events are sent to the engine's thread; cheap to clone.
#[derive(Clone)]
pub(crate) struct Events {
    queue: Sender<Event>,
    sent: Arc<AtomicU64>,
}

impl Events {
    pub(crate) fn new(queue: Sender<Event>) -> Self {
        Self { queue, sent: Arc::default() }
    }

    /// Sends an event.
    ///
    /// # Errors
    /// The engine's thread has ended. It is not at rest then, for good.
    pub(crate) fn send(&self, event: Event) -> Result<(), SendError<Event>> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        self.queue.send(event)
    }
}

/// What tells whether the engine is at rest; cheap to clone.
#[derive(Clone)]
pub(crate) struct IdleCheck {
    sent: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
    /// None where nobody can say whether the watch has passed on everything.
    watch: Option<Arc<dyn QueueProbe>>,
}

impl IdleCheck {
    pub(crate) fn new(
        events: &Events,
        done: &Arc<AtomicU64>,
        watch: Option<Arc<dyn QueueProbe>>,
    ) -> Self {
        Self { sent: Arc::clone(&events.sent), done: Arc::clone(done), watch }
    }

    /// Returns whether all that was finished before this call is in what is published after it.
    pub(crate) fn holds(&self) -> bool {
        // In this order: what the watch passes on while it is asked is counted as sent.
        self.watch.as_ref().is_some_and(|it| it.is_still())
            && self.sent.load(Ordering::SeqCst) == self.done.load(Ordering::SeqCst)
    }
}

/// When a view was asked for last: by way of the engine, or by those who took it as it is.
pub(crate) struct LastUsed {
    first: Instant,
    /// In nanoseconds since the first time.
    last: AtomicU64,
    /// What tells it from the other views of its worktree.
    number: u64,
    /// The number of the one of them that was asked for last.
    latest: Latest,
}

/// Which view of a worktree was asked for last; shared by all of them.
pub(crate) type Latest = Arc<AtomicU64>;

impl LastUsed {
    /// Returns that of a view which is asked for just now, in a worktree with this latest one.
    pub(crate) fn new(latest: &Latest) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let latest = Arc::clone(latest);
        Self { first: Instant::now(), last: AtomicU64::new(0), number, latest }
    }

    /// It is asked for now. Returns whether it was another one of its worktree before.
    pub(crate) fn now(&self) -> bool {
        let since = u64::try_from(self.first.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last.fetch_max(since, Ordering::Relaxed);
        !self.is_latest() && self.latest.swap(self.number, Ordering::Relaxed) != self.number
    }

    /// Returns when that was.
    pub(crate) fn last(&self) -> Instant {
        self.first + Duration::from_nanos(self.last.load(Ordering::Relaxed))
    }

    /// Whether no other view of its worktree has been asked for since.
    pub(crate) fn is_latest(&self) -> bool {
        self.latest.load(Ordering::Relaxed) == self.number
    }
}
