//! A cached copy of the user's trust decisions, so that no call waits for the disk.
//!
//! The store holds the original, and other processes write to it too. Invariant: decisions are
//! passed to the engine while the cache is locked, so that with concurrent updates the newest is
//! passed last.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use skills_discovery::discover::{Environment, Policy, TrustDecisions};
use skills_engine::Engine;
use skills_engine::sessions::registry::Sessions;
use skills_engine::watch::stamp::Stamp;
use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

use crate::request::settings::{Settings, rules};

/// The user's trust decisions; read on first use.
pub(crate) struct TrustCache {
    engine: Engine,
    sessions: Sessions,
    settings: Arc<Settings>,
    /// The daemon's own environment, part of the policy.
    environment: Environment,
    cached: OnceLock<Mutex<CachedTrust>>,
}

/// The decisions as last read from the store.
#[derive(Debug, Default)]
struct CachedTrust {
    trusts: Arc<TrustDecisions>,
    /// Sequence number of the read; higher is newer.
    nth: u64,
    /// The store's count of external writes at the time of the read.
    writes: u64,
}

impl TrustCache {
    pub(crate) fn new(
        engine: Engine,
        sessions: Sessions,
        settings: Arc<Settings>,
        environment: Environment,
    ) -> Self {
        Self { engine, sessions, settings, environment, cached: OnceLock::new() }
    }

    pub(crate) async fn decisions(&self) -> Arc<TrustDecisions> {
        if !self.is_read() {
            self.read(0).await;
        }
        Arc::clone(&self.cached().trusts)
    }

    pub(crate) fn is_read(&self) -> bool {
        self.cached.get().is_some()
    }

    /// Reloads the decisions after one was stored.
    pub(crate) async fn reload(&self) {
        let writes = self.cached().writes;
        self.read(writes).await;
    }

    /// Reloads the decisions if another process has stored some, for example a command without a
    /// daemon.
    pub(crate) async fn refresh(&self, now: Stamp) {
        let watch = self.engine.watch();
        let writes = self.sessions.store().writes_elsewhere(watch, now).await;
        if self.cached().writes != writes {
            self.read(writes).await;
        }
    }

    /// Reads the store and passes changed decisions to the engine.
    async fn read(&self, writes: u64) {
        let read = match self.sessions.store().trust_decisions().await {
            Ok(read) => read,
            Err(error) => {
                // The cached decisions stay in use, and the next call tries again.
                tracing::warn!(%error, "failed to read trust decisions");
                self.cached().writes = u64::MAX;
                return;
            }
        };
        let said = read.decisions.into_iter();
        let trusts =
            TrustDecisions::new(said.filter_map(|(dir, it)| Some((AbsPath::new(&dir).ok()?, it))));
        let mut cached = self.cached();
        if read.nth < cached.nth {
            return;
        }
        let is_new = *cached.trusts != trusts;
        *cached = CachedTrust { trusts: Arc::new(trusts), nth: read.nth, writes };
        if is_new {
            self.send_policy(&cached);
        }
    }

    fn cached(&self) -> MutexGuard<'_, CachedTrust> {
        let cached = self.cached.get_or_init(Mutex::default);
        lock(cached)
    }

    /// Passes the user's permission rules and trust decisions to the engine, for all later
    /// requests.
    pub(crate) async fn update_policy(&self) {
        if !self.is_read() {
            self.read(0).await;
        }
        self.send_policy(&self.cached());
    }

    /// The caller keeps `cached` locked until the engine has it.
    fn send_policy(&self, cached: &CachedTrust) {
        let trusts = TrustDecisions::clone(&cached.trusts);
        let rules = rules(&self.settings);
        let requires_trust = self.settings.user().require_trust;
        let environment = Some(self.environment.clone());
        self.engine.set_policy(Policy { rules, trusts, requires_trust, environment });
    }
}
