//! [`ViewLease`]: keeps a view resolved and up to date until it is dropped.
//!
//! A lease counts from before its view is requested until it is dropped, so that a cancelled
//! request leaves none behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::views::view::ViewKey;

/// Number of leases per view.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewLeases(Arc<Mutex<HashMap<Arc<ViewKey>, usize>>>);

/// Keeps a view up to date until dropped.
#[derive(Debug)]
pub struct ViewLease {
    key: Arc<ViewKey>,
    leases: ViewLeases,
}

impl ViewLeases {
    /// Returns a new lease of a view.
    pub(crate) fn take(&self, key: Arc<ViewKey>) -> ViewLease {
        *self.lock().entry(Arc::clone(&key)).or_insert(0) += 1;
        ViewLease { key, leases: self.clone() }
    }

    pub(crate) fn has(&self, key: &ViewKey) -> bool {
        self.lock().contains_key(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<ViewKey>, usize>> {
        // Each count is changed in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ViewLease {
    fn drop(&mut self) {
        let mut leases = self.leases.lock();
        if let Some(count) = leases.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                leases.remove(&self.key);
            }
        }
    }
}
