//! How threads beside the engine's tell that something is new, and how callers wait for it.

use tokio::sync::watch;

use crate::views::event_loop::Event;
use crate::views::idle_check::Events;

/// Tells the engine, and whoever waits, that a source has changed.
pub(crate) struct ChangeNotifier {
    events: Events,
    count: watch::Sender<u64>,
}

impl ChangeNotifier {
    pub(crate) fn new(events: Events) -> Self {
        Self { events, count: watch::Sender::new(0) }
    }

    /// Something is new. What it is has been stored before this call.
    pub(crate) fn tell(&self) {
        // The engine's thread may have ended.
        let _ = self.events.send(Event::Provided);
        self.count.send_modify(|it| *it += 1);
    }

    /// Returns a receiver that sees every later change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }
}
