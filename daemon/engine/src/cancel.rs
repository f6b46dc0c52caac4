//! Cancellation of work on another thread: a flag that its loops check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag set once the caller has cancelled or hung up; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
