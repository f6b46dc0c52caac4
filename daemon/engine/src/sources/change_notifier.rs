//! [`ChangeNotifier`]: announces changes of external sources to the event loop and to waiting
//! callers.

use tokio::sync::watch;

/// Announces changes of external sources.
pub(crate) struct ChangeNotifier {
    /// Tells the event loop.
    announce: Box<dyn Fn() + Send + Sync>,
    count: watch::Sender<u64>,
}

impl ChangeNotifier {
    pub(crate) fn new(announce: impl Fn() + Send + Sync + 'static) -> Self {
        Self { announce: Box::new(announce), count: watch::Sender::new(0) }
    }

    /// Announces a change, which the caller has already stored and whose lock it still holds: each
    /// reader of a new state then finds it announced.
    pub(crate) fn tell(&self) {
        (self.announce)();
        self.count.send_modify(|it| *it += 1);
    }

    /// Returns a receiver that sees every later change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }
}
