//! Views: immutable snapshots of the skills that one agent sees from one directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use skills_discovery::discover::{DiscoveryContext, Overlay, Resolution, SkillState};
use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

use crate::health::Health;
use crate::sources::source_uses::SourceDependencies;
use crate::views::activation::Activation;
use crate::views::journal::{Difference, Journal};
use crate::views::last_used::LastUsed;
use crate::views::response_cache::ResponseCache;
use crate::views::snapshot_index::ViewParts;

/// Identifies a view: all inputs of discovery besides the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewKey {
    /// The agent's working directory.
    pub cwd: AbsPath,
    /// The profile's id, with a suffix for its content if the user changed it.
    pub profile: String,
    /// Values of the environment variables that the profile reads.
    pub environment: BTreeMap<String, OsString>,
    /// Directories added by the caller, in its order.
    pub additional: Vec<AbsPath>,
    /// Skills activated and directories discovered by the session.
    pub overlay: Arc<Overlay>,
    /// The subagent, if its own rules apply; none otherwise.
    pub agent: Option<String>,
}

/// Immutable snapshot of the skills that one agent sees from one directory.
pub struct View {
    /// Identifies the view.
    pub key: Arc<ViewKey>,
    /// Profile and location that it was resolved for.
    pub ctx: Arc<DiscoveryContext>,
    /// All candidates, listed and dropped, with reasons.
    pub resolution: Arc<Resolution>,
    /// Identifies this state of this view; opaque to callers.
    pub clock: String,
    /// Problems that do not prevent an answer.
    pub health: Vec<Health>,
    /// External sources that it uses.
    pub(crate) uses: SourceDependencies,
    tick: u64,
    journal: Arc<Journal>,
    last_used: Arc<LastUsed>,
    responses: ResponseCache,
    activation: OnceLock<Activation>,
    /// Copy of this view with further problems, as last requested.
    with_problems: Mutex<Option<Arc<View>>>,
}

impl View {
    /// Returns a view published at this tick.
    pub(crate) fn new(
        key: Arc<ViewKey>,
        ctx: Arc<DiscoveryContext>,
        resolution: Resolution,
        health: Vec<Health>,
        uses: SourceDependencies,
        ViewVersion { clock, tick, journal, last_used }: ViewVersion,
    ) -> Self {
        let (activation, with_problems) = (OnceLock::new(), Mutex::default());
        let resolution = Arc::new(resolution);
        Self {
            key,
            ctx,
            resolution,
            clock,
            health,
            uses,
            tick,
            journal,
            last_used,
            responses: ResponseCache::default(),
            activation,
            with_problems,
        }
    }

    /// Returns a copy of this view with further problems that the engine does not detect. Equal
    /// problems return the same copy, with its cached values.
    #[must_use]
    pub fn with_health(self: &Arc<Self>, more: &[Health]) -> Arc<Self> {
        if more.is_empty() {
            return Arc::clone(self);
        }
        // The value is replaced in one step, so a panic leaves it consistent.
        let mut with_problems = lock(&self.with_problems);
        match &*with_problems {
            Some(kept) if kept.health[self.health.len()..] == *more => Arc::clone(kept),
            Some(_) | None => {
                let view = Arc::new(Self {
                    key: Arc::clone(&self.key),
                    ctx: Arc::clone(&self.ctx),
                    resolution: Arc::clone(&self.resolution),
                    clock: self.clock.clone(),
                    health: self.health.iter().chain(more).cloned().collect(),
                    uses: self.uses.clone(),
                    tick: self.tick,
                    journal: Arc::clone(&self.journal),
                    last_used: Arc::clone(&self.last_used),
                    responses: ResponseCache::default(),
                    activation: OnceLock::new(),
                    with_problems: Mutex::default(),
                });
                *with_problems = Some(Arc::clone(&view));
                view
            }
        }
    }

    /// Returns the difference between the list returned with `clock` and the current list; none if
    /// the history no longer covers it. The list contains the candidates whose state `shows`
    /// accepts.
    pub fn difference(
        &self,
        clock: &str,
        shows: &dyn Fn(SkillState) -> bool,
    ) -> Option<Difference> {
        // All views of one run share the tick counter, so a tick identifies a state of this view.
        let (run, tick) = split_clock(clock)?;
        let is_ours = split_clock(&self.clock).is_some_and(|(ours, _)| ours == run);
        let since = is_ours.then_some(tick)?;
        self.journal.difference(since, self.tick, &self.resolution, shows)
    }

    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn last_used(&self) -> &LastUsed {
        &self.last_used
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Returns the matcher of its conditional skills.
    pub(crate) fn activation(&self, make: impl FnOnce(&Self) -> Activation) -> &Activation {
        self.activation.get_or_init(|| make(self))
    }

    /// Returns the parts that indexes of several views are built from.
    pub fn parts(&self) -> ViewParts {
        (Arc::clone(&self.ctx), Arc::clone(&self.resolution))
    }

    /// Returns the answers and look-up tables that are kept with this view.
    pub fn responses(&self) -> &ResponseCache {
        &self.responses
    }
}

/// Version data of a view at publication.
pub(crate) struct ViewVersion {
    pub(crate) clock: String,
    pub(crate) tick: u64,
    pub(crate) journal: Arc<Journal>,
    pub(crate) last_used: Arc<LastUsed>,
}

/// Splits a clock into its run and worktree, and its tick.
fn split_clock(clock: &str) -> Option<(&str, u64)> {
    let (rest, tick) = clock.rsplit_once(':')?;
    let (run, _generation) = rest.rsplit_once(':')?;
    Some((run, tick.parse().ok()?))
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("key", &self.key)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
