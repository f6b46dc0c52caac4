//! Views: what one agent sees from one place, as published to everybody who asks.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, OnceLock};

use skills_core::path::AbsPath;
use skills_core::resolve::{Resolution, Site};

/// What a view is of: everything that an answer can depend on besides the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewKey {
    /// The directory the agent works in.
    pub cwd: AbsPath,
    /// The profile's id.
    pub profile: String,
    /// The values of the variables that the profile reads.
    pub environment: BTreeMap<String, OsString>,
    /// Directories the caller added, in its order.
    pub additional: Vec<AbsPath>,
    /// The conversation, where one is named.
    pub session: Option<String>,
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
    pub site: Arc<Site>,
    /// What the agent sees, and everything it does not.
    pub resolution: Resolution,
    /// Identifies this state of this view; opaque to callers.
    pub clock: String,
    /// What is not well.
    pub health: Vec<Health>,
    slot: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl View {
    pub(crate) fn new(
        key: Arc<ViewKey>,
        site: Arc<Site>,
        resolution: Resolution,
        clock: String,
        health: Vec<Health>,
    ) -> Self {
        Self { key, site, resolution, clock, health, slot: OnceLock::new() }
    }

    /// Returns the same view with more that is not well, for what the engine does not know of.
    #[must_use]
    pub fn with_health(&self, more: impl IntoIterator<Item = Health>) -> Self {
        let health = self.health.iter().cloned().chain(more).collect();
        let (key, site) = (Arc::clone(&self.key), Arc::clone(&self.site));
        Self::new(key, site, self.resolution.clone(), self.clock.clone(), health)
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

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("key", &self.key)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
