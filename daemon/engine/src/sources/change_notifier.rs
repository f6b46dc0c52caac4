//! [`ChangeNotifier`]: announces changes of external sources to the event loop and to waiting
//! callers.

use tokio::sync::watch;

use crate::views::event::Event;
use crate::views::idle_check::EventSender;

/// Announces changes of external sources.
pub(crate) struct ChangeNotifier {
    events: EventSender,
    count: watch::Sender<u64>,
}

impl ChangeNotifier {
    pub(crate) fn new(events: EventSender) -> Self {
        Self { events, count: watch::Sender::new(0) }
    }

    /// Announces a change, which the caller has already stored.
    pub(crate) fn tell(&self) {
        // The event loop may have ended.
        let _ = self.events.send(Event::SourceChanged);
        self.count.send_modify(|it| *it += 1);
    }

    /// Returns a receiver that sees every later change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }
}
