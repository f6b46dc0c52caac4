//! How often agents did what, since the start. Nothing of it leaves the machine.

use std::sync::{Mutex, PoisonError};

use skills_protocol::wire::Actions;

/// The counters of this run.
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<Actions>);

impl Counters {
    /// Counts something.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Actions)) {
        // Numbers are whole whatever panics.
        count(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the numbers as they are.
    pub(crate) fn now(&self) -> Actions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
