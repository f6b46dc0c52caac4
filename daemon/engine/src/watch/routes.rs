//! [`Routes`]: events of single files and directories, by the subscriptions that they concern.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use skills_platform::lock::lock;

/// Changes that concern one subscription.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    count: AtomicU64,
    /// Number of changes other than to a file's content: a watched path may now be another file.
    replacements: AtomicU64,
    notify: Notify,
}

impl Changes {
    pub(crate) fn starting_at(count: u64) -> Self {
        Self { count: AtomicU64::new(count), ..Self::default() }
    }

    /// Returns the number of changes, and how many of them may have replaced a file.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let count = self.count.load(Ordering::SeqCst);
        (count, self.replacements.load(Ordering::SeqCst))
    }

    /// Waits until something has changed since the last call.
    pub(crate) async fn notified(&self) {
        self.notify.notified().await;
    }

    pub(crate) fn add(&self, kind: ChangeKind) {
        let is_replacement = kind == ChangeKind::Replacement;
        self.replacements.fetch_add(u64::from(is_replacement), Ordering::SeqCst);
        self.count.fetch_add(1, Ordering::SeqCst);
        self.notify.notify_one();
    }
}

/// Kind of change that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// The content of a file changed.
    Write,
    /// The file at a path may be another one.
    Replacement,
}

/// Subject of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The path itself.
    Path,
    /// All entries of the directory.
    Entries,
}

/// Subscriptions by path; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes(Arc<Mutex<HashMap<OsString, Route>>>);

#[derive(Debug, Default)]
struct Route {
    path: Vec<Arc<Changes>>,
    /// Subscriptions of all entries of the directory.
    entries: Vec<Arc<Changes>>,
}

impl Route {
    fn all(&self) -> impl Iterator<Item = &Arc<Changes>> {
        self.path.iter().chain(&self.entries)
    }
}

impl Routes {
    /// Adds a subscription of a path.
    pub(crate) fn add(&self, path: &OsStr, subject: Subject, changes: &Arc<Changes>) {
        let mut routes = lock(&self.0);
        let route = routes.entry(path.to_owned()).or_default();
        let list = match subject {
            Subject::Path => &mut route.path,
            Subject::Entries => &mut route.entries,
        };
        if !list.iter().any(|it| Arc::ptr_eq(it, changes)) {
            list.push(Arc::clone(changes));
        }
    }

    pub(crate) fn remove(&self, changes: &Arc<Changes>) {
        lock(&self.0).retain(|_, route| {
            for list in [&mut route.path, &mut route.entries] {
                list.retain(|it| !Arc::ptr_eq(it, changes));
            }
            route.all().next().is_some()
        });
    }

    /// Reports an event at a path, or of the entry `path` of a directory.
    pub(crate) fn tell(&self, path: &Path, kind: ChangeKind) {
        let routes = lock(&self.0);
        let own = routes.get(path.as_os_str()).into_iter().flat_map(Route::all);
        let above = path.parent().and_then(|it| routes.get(it.as_os_str()));
        let above = above.into_iter().flat_map(|it| &it.entries);
        own.chain(above).for_each(|it| it.add(kind));
    }

    /// Reports that anything may have changed.
    pub(crate) fn tell_all(&self) {
        lock(&self.0).values().flat_map(Route::all).for_each(|it| it.add(ChangeKind::Replacement));
    }
}
