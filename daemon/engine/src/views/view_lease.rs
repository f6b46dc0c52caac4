//! Views that somebody follows: they stay, and stay live, until their holds are dropped.
//!
//! A hold counts from before its view is asked for until it is dropped, wherever that happens, so
//! that no way of giving up leaves one behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::views::view::ViewKey;

/// How often each view is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewLeases(Arc<Mutex<HashMap<Arc<ViewKey>, usize>>>);

/// Keeps a view live as long as it lives.
#[derive(Debug)]
pub struct ViewLease {
    key: Arc<ViewKey>,
    holds: ViewLeases,
}

impl ViewLeases {
    /// Returns a new hold on a view.
    pub(crate) fn take(&self, key: Arc<ViewKey>) -> ViewLease {
        *self.lock().entry(Arc::clone(&key)).or_insert(0) += 1;
        ViewLease { key, holds: self.clone() }
    }

    pub(crate) fn has(&self, key: &ViewKey) -> bool {
        self.lock().contains_key(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<ViewKey>, usize>> {
        // A count is changed in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ViewLease {
    fn drop(&mut self) {
        let mut holds = self.holds.lock();
        if let Some(count) = holds.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                holds.remove(&self.key);
            }
        }
    }
}
