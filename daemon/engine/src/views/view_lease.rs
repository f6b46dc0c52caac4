//! [`ViewLease`]: keeps a view resolved and up to date until it is dropped.
//!
//! A lease counts from before its view is requested until it is dropped, so that a cancelled
//! request leaves none behind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use skills_platform::lock::lock;

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
        *lock(&self.0).entry(Arc::clone(&key)).or_insert(0) += 1;
        ViewLease { key, leases: self.clone() }
    }

    pub(crate) fn has(&self, key: &ViewKey) -> bool {
        lock(&self.0).contains_key(key)
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

impl Drop for ViewLease {
    fn drop(&mut self) {
        let mut leases = lock(&self.leases.0);
        if let Some(count) = leases.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                leases.remove(&self.key);
            }
        }
    }
}
