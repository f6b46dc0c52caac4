//! [`IdleCheck`]: detects that the event loop has no work left, so that callers can use the
//! published view without waking its thread.
//!
//! Every event is counted before it is sent, and the loop records the count at which all work was
//! done and published. If both are equal and the watcher has no pending events, every change
//! finished before the check is in the published views. An event counted during the check belongs
//! to a change that was not finished before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, Sender};

use crate::views::event::Event;
use crate::watch::service::WatchService;

/// Sender of events to the event loop; cheap to clone.
#[derive(Clone)]
pub(crate) struct EventSender {
    queue: Sender<Event>,
    n_sent: Arc<AtomicU64>,
}

impl EventSender {
    pub(crate) fn new(queue: Sender<Event>) -> Self {
        Self { queue, n_sent: Arc::default() }
    }

    /// Sends an event.
    ///
    /// # Errors
    ///
    /// The event loop has ended; [`IdleCheck::holds`] is false from then on.
    pub(crate) fn send(&self, event: Event) -> Result<(), SendError<Event>> {
        self.n_sent.fetch_add(1, Ordering::SeqCst);
        self.queue.send(event)
    }
}

/// Handle to check whether the event loop is idle; cheap to clone.
#[derive(Clone)]
pub(crate) struct IdleCheck {
    n_sent: Arc<AtomicU64>,
    n_done: Arc<AtomicU64>,
    watch: WatchService,
}

impl IdleCheck {
    pub(crate) fn new(events: &EventSender, n_done: &Arc<AtomicU64>, watch: WatchService) -> Self {
        Self { n_sent: Arc::clone(&events.n_sent), n_done: Arc::clone(n_done), watch }
    }

    /// Returns true if every change finished before this call is in the views published now.
    pub(crate) fn holds(&self) -> bool {
        // In this order: hints passed on by the first check are counted as sent.
        self.watch.drain()
            && self.n_sent.load(Ordering::SeqCst) == self.n_done.load(Ordering::SeqCst)
    }
}
