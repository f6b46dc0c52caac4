//! Problems of the store, for its health.

use std::collections::VecDeque;

use crate::health::Health;

#[derive(Default)]
pub(super) struct StoreProblems {
    /// Problem of opening the file; permanent.
    pub(super) opening: Option<Health>,
    /// Changes that could not be saved; cleared when none is left.
    pub(super) writing: Option<Health>,
    /// Data lost or found damaged in use; permanent.
    pub(super) using: VecDeque<Health>,
}

/// Reports of lost or damaged data that are kept; the latest replace older ones.
const MAX_REPORTS: usize = 16;

impl StoreProblems {
    /// Reports lost or damaged data, each once.
    pub(super) fn report(&mut self, health: Health) {
        let n_before = self.using.len();
        self.using.retain(|it| it.message != health.message);
        if self.using.len() == n_before {
            tracing::warn!(path = ?health.path, "{}", health.message);
        }
        if self.using.len() == MAX_REPORTS {
            self.using.pop_front();
        }
        self.using.push_back(health);
    }
}
