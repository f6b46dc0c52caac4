//! Usage counters since the start; they never leave the machine.

use std::sync::{Mutex, PoisonError};

use skills_protocol::wire::Actions;

/// The counters of this run.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<Actions>);

impl Counters {
    /// Updates the counters.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Actions)) {
        // A panic cannot leave a counter half updated.
        count(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the current numbers.
    pub(crate) fn now(&self) -> Actions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
