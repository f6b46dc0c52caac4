//! What the user has said about directories, as the daemon goes by it.
//!
//! It is in the store, which other processes write to as well; here is a copy, that no call waits
//! for the disk. The invariant: the engine is handed what is known under the lock of what is known,
//! so that of two who hand it over the one with the newer word is the last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skills_discovery::discover::{Policy, TrustDecisions};
use skills_engine::watch::stat_cache::Generation;
use skills_syntax::path::AbsPath;

use super::Service;
use crate::lifecycle::settings::rules;

/// What was read of the store, and when.
#[derive(Debug, Default)]
pub(crate) struct Known {
    trusts: Arc<TrustDecisions>,
    /// Which reading it is from; a later one is newer.
    nth: u64,
    /// How often others had written before it.
    writes: u64,
}

impl Service {
    /// Returns what the user has said about directories.
    pub(crate) async fn trusts(&self) -> Arc<TrustDecisions> {
        if self.trusts.get().is_none() {
            self.read_trusts(0).await;
        }
        Arc::clone(&self.known_trusts().trusts)
    }

    /// Takes up what the user has said about a directory, which is kept already.
    pub(crate) async fn take_trust(&self) {
        let writes = self.known_trusts().writes;
        self.read_trusts(writes).await;
    }

    /// Takes up what another process has kept: a command that asked no daemon.
    pub(crate) async fn refresh_trusts(&self, heard: Generation) {
        let writes = self.sessions.store().writes_elsewhere(heard).await;
        if self.known_trusts().writes != writes {
            self.read_trusts(writes).await;
        }
    }

    /// Reads the store, and hands the engine what it says where that is new.
    async fn read_trusts(&self, writes: u64) {
        let read = match self.sessions.store().trusts().await {
            Ok(read) => read,
            Err(error) => {
                // What is known stays, and the next call tries again.
                tracing::warn!(%error, "trust is not read");
                self.known_trusts().writes = u64::MAX;
                return;
            }
        };
        let said = read.said.into_iter();
        let trusts =
            TrustDecisions::new(said.filter_map(|(dir, it)| Some((AbsPath::new(&dir).ok()?, it))));
        let mut known = self.known_trusts();
        if read.nth < known.nth {
            return;
        }
        let is_new = *known.trusts != trusts;
        *known = Known { trusts: Arc::new(trusts), nth: read.nth, writes };
        if is_new {
            self.hand_over(&known);
        }
    }

    fn known_trusts(&self) -> MutexGuard<'_, Known> {
        let known = self.trusts.get_or_init(Mutex::default);
        known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the engine what the user has decided about skills, for every later request.
    pub(crate) async fn follow_policy(&self) {
        if self.trusts.get().is_none() {
            self.read_trusts(0).await;
        }
        self.hand_over(&self.known_trusts());
    }

    /// `known` is locked by the caller until the engine has it.
    fn hand_over(&self, known: &Known) {
        let trusts = TrustDecisions::clone(&known.trusts);
        let rules = rules(&self.settings);
        let requires_trust = self.settings.user().require_trust;
        let environment = Some(self.environment.clone());
        self.engine.follow(Policy { rules, trusts, requires_trust, environment });
    }
}
