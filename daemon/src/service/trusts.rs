//! A cached copy of the user's trust decisions, so that no call waits for the disk.
//!
//! The store holds the original, and other processes write to it too. Invariant: decisions are
//! passed to the engine while the cache is locked, so that with concurrent updates the newest is
//! passed last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skills_discovery::discover::{Policy, TrustDecisions};
use skills_engine::watch::stat_cache::Generation;
use skills_syntax::path::AbsPath;

use super::Service;
use crate::lifecycle::settings::rules;

/// The decisions as last read from the store.
#[derive(Debug, Default)]
pub(crate) struct CachedTrust {
    trusts: Arc<TrustDecisions>,
    /// Sequence number of the read; higher is newer.
    nth: u64,
    /// The store's count of external writes at the time of the read.
    writes: u64,
}

impl Service {
    /// Returns the user's trust decisions.
    pub(crate) async fn trusts(&self) -> Arc<TrustDecisions> {
        if self.trusts.get().is_none() {
            self.read_trusts(0).await;
        }
        Arc::clone(&self.cached_trust().trusts)
    }

    /// Reloads the decisions after one was stored.
    pub(crate) async fn reload_trust(&self) {
        let writes = self.cached_trust().writes;
        self.read_trusts(writes).await;
    }

    /// Reloads the decisions if another process has stored some, for example a command without a
    /// daemon.
    pub(crate) async fn refresh_trusts(&self, generation: Generation) {
        let writes = self.sessions.store().writes_elsewhere(generation).await;
        if self.cached_trust().writes != writes {
            self.read_trusts(writes).await;
        }
    }

    /// Reads the store and passes changed decisions to the engine.
    async fn read_trusts(&self, writes: u64) {
        let read = match self.sessions.store().trusts().await {
            Ok(read) => read,
            Err(error) => {
                // The cached decisions stay in use, and the next call tries again.
                tracing::warn!(%error, "failed to read trust decisions");
                self.cached_trust().writes = u64::MAX;
                return;
            }
        };
        let said = read.said.into_iter();
        let trusts =
            TrustDecisions::new(said.filter_map(|(dir, it)| Some((AbsPath::new(&dir).ok()?, it))));
        let mut cached = self.cached_trust();
        if read.nth < cached.nth {
            return;
        }
        let is_new = *cached.trusts != trusts;
        *cached = CachedTrust { trusts: Arc::new(trusts), nth: read.nth, writes };
        if is_new {
            self.send_policy(&cached);
        }
    }

    fn cached_trust(&self) -> MutexGuard<'_, CachedTrust> {
        let cached = self.trusts.get_or_init(Mutex::default);
        cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the user's permission rules and trust decisions to the engine, for all later
    /// requests.
    pub(crate) async fn update_policy(&self) {
        if self.trusts.get().is_none() {
            self.read_trusts(0).await;
        }
        self.send_policy(&self.cached_trust());
    }

    /// The caller keeps `cached` locked until the engine has it.
    fn send_policy(&self, cached: &CachedTrust) {
        let trusts = TrustDecisions::clone(&cached.trusts);
        let rules = rules(&self.settings);
        let requires_trust = self.settings.user().require_trust;
        let environment = Some(self.environment.clone());
        self.engine.follow(Policy { rules, trusts, requires_trust, environment });
    }
}
