//! Views: what one agent sees from one place, as published to everybody who asks.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use skills_discovery::discover::{DiscoveryContext, Overlay, Resolution, SkillState};
use skills_syntax::path::AbsPath;

use crate::sources::source_set::Uses;
use crate::views::activation::Activation;
use crate::views::idle_check::LastUsed;
use crate::views::journal::{Difference, Journal};

/// What a view is of: everything that an answer can depend on besides the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewKey {
    /// The directory the agent works in.
    pub cwd: AbsPath,
    /// The profile's key: its id, and what tells its content apart where a user changed it.
    pub profile: String,
    /// The values of the variables that the profile reads.
    pub environment: BTreeMap<String, OsString>,
    /// Directories the caller added, in its order.
    pub additional: Vec<AbsPath>,
    /// What the conversation has found and activated.
    pub overlay: Arc<Overlay>,
    /// The agent inside the agent, where its own rules count; none for all others.
    pub agent: Option<String>,
}

/// Something that is not well but does not stop an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// A stable name.
    pub code: &'static str,
    /// What is wrong, as a sentence fragment.
    pub message: String,
    /// What to do, as a sentence.
    pub hint: &'static str,
    /// Where, when it is one place.
    pub path: Option<OsString>,
}

/// What one agent sees from one place: an immutable snapshot.
pub struct View {
    /// What it is of.
    pub key: Arc<ViewKey>,
    /// The rules and the place it was resolved by.
    pub ctx: Arc<DiscoveryContext>,
    /// What the agent sees, and everything it does not.
    pub resolution: Arc<Resolution>,
    /// Identifies this state of this view; opaque to callers.
    pub clock: String,
    /// What is not well.
    pub health: Vec<Health>,
    /// What it uses that comes from elsewhere than the disk.
    pub(crate) uses: Uses,
    tick: u64,
    journal: Arc<Journal>,
    asked: Arc<LastUsed>,
    slot: OnceLock<Box<dyn Any + Send + Sync>>,
    activation: OnceLock<Activation>,
    /// The same with more that is not well, as it was asked for last.
    unwell: Mutex<Option<Arc<View>>>,
}

impl View {
    /// Returns a view as it is published at this tick.
    pub(crate) fn new(
        key: Arc<ViewKey>,
        ctx: Arc<DiscoveryContext>,
        resolution: Resolution,
        health: Vec<Health>,
        uses: Uses,
        ViewVersion { clock, tick, journal, asked }: ViewVersion,
    ) -> Self {
        let (slot, activation, unwell) = (OnceLock::new(), OnceLock::new(), Mutex::default());
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
            asked,
            slot,
            activation,
            unwell,
        }
    }

    /// Returns the same view with more that is not well, for what the engine does not know of.
    /// As long as the same is not well it is the same view, with what is kept with it.
    #[must_use]
    pub fn with_health(self: &Arc<Self>, more: &[Health]) -> Arc<Self> {
        if more.is_empty() {
            return Arc::clone(self);
        }
        // One view or none is in there whatever panics.
        let mut unwell = self.unwell.lock().unwrap_or_else(PoisonError::into_inner);
        match &*unwell {
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
                    asked: Arc::clone(&self.asked),
                    slot: OnceLock::new(),
                    activation: OnceLock::new(),
                    unwell: Mutex::default(),
                });
                *unwell = Some(Arc::clone(&view));
                view
            }
        }
    }

    /// Returns what differs between the list that somebody was given with `clock` and the same
    /// list now; none where that is not known any more. The list holds the candidates whose state
    /// `shows` accepts.
    pub fn difference(
        &self,
        clock: &str,
        shows: impl Fn(SkillState) -> bool,
    ) -> Option<Difference> {
        // Ticks are counted by one run for all its views, so the journal knows its own.
        let (run, tick) = split_clock(clock)?;
        let is_ours = split_clock(&self.clock).is_some_and(|(ours, _)| ours == run);
        let since = is_ours.then_some(tick)?;
        self.journal.difference(since, self.tick, &self.resolution, shows)
    }

    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    pub(crate) fn asked(&self) -> &LastUsed {
        &self.asked
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Returns what waits in it for a file to be touched.
    pub(crate) fn activation(&self, make: impl FnOnce(&Self) -> Activation) -> &Activation {
        self.activation.get_or_init(|| make(self))
    }

    /// Returns what `make` made of this view when it was first asked.
    ///
    /// For answers that are worth keeping ready, such as the view in its wire form: the engine
    /// knows no wire. There is one slot.
    ///
    /// # Panics
    /// When asked for two different types.
    pub fn cached<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Self) -> T) -> &T {
        self.slot
            .get_or_init(|| Box::new(make(self)))
            .downcast_ref()
            .expect("one type is kept with a view, chosen by the one crate that serves views")
    }
}

/// When a view is published, and what was before.
pub(crate) struct ViewVersion {
    pub(crate) clock: String,
    pub(crate) tick: u64,
    pub(crate) journal: Arc<Journal>,
    pub(crate) asked: Arc<LastUsed>,
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
