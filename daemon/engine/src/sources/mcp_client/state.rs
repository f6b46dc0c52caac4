//! State of the MCP servers, shared by the event loop and the thread that manages them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use skills_discovery::discover::ProvidedSkill;
use skills_platform::lock::lock;

use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::source_status::SourcePhase;

/// State shared by the event loop and the servers' thread.
pub(super) struct Shared {
    pub(super) notifier: Arc<ChangeNotifier>,
    servers: Mutex<BTreeMap<String, ServerState>>,
    /// Time of the last use, in seconds since `epoch`.
    used: AtomicU64,
    epoch: Instant,
}

/// State of one server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerState {
    pub(super) phase: SourcePhase,
    /// Its last prompts; none before the first list.
    pub(super) prompts: Option<Arc<[ProvidedSkill]>>,
    /// Description of its failure.
    pub(super) error: Option<String>,
    /// True if the server was ended for exceeding a limit.
    pub(super) is_over_limit: bool,
    /// Suspicious content in its prompts, as a sentence fragment.
    pub(super) doubt: Option<String>,
}

impl Shared {
    pub(super) fn new(notifier: Arc<ChangeNotifier>) -> Self {
        let (servers, used) = (Mutex::default(), AtomicU64::new(0));
        Self { notifier, servers, used, epoch: Instant::now() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ServerState>> {
        lock(&self.servers)
    }

    /// Records a use of the servers.
    pub(super) fn touch(&self) {
        self.used.store(self.epoch.elapsed().as_secs(), Ordering::Relaxed);
    }

    /// Returns the time since the last use.
    pub(super) fn unused(&self) -> Duration {
        let used = Duration::from_secs(self.used.load(Ordering::Relaxed));
        self.epoch.elapsed().saturating_sub(used)
    }

    /// Marks idle servers as starting. Returns whether there were any.
    pub(super) fn begin(&self) -> bool {
        let mut any = false;
        for server in self.lock().values_mut().filter(|it| it.phase == SourcePhase::Idle) {
            server.phase = SourcePhase::Starting;
            any = true;
        }
        any
    }

    /// Changes the state of a server, and announces it if it differs.
    pub(super) fn change(&self, name: &str, change: impl FnOnce(&mut ServerState)) {
        let mut servers = self.lock();
        let Some(server) = servers.get_mut(name) else { return };
        let before = server.clone();
        change(server);
        if *server != before {
            // Announced under the lock, before another thread can read the new state.
            self.notifier.tell();
        }
    }
}
