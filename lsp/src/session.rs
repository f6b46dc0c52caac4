//! All that is known about one client: what was agreed with it, its open texts, and which of them
//! it is to be told about.
//!
//! One lock, held for as long as it takes to swap a text and never across an await. Readers get a
//! text as it is at that moment and keep it; a change that comes meanwhile makes a new one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tower_lsp::ls_types::Uri;

use crate::Ending;
use crate::document::{Document, Edit};
use crate::settings::Settings;

/// A number for one state of one text, given once in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Revision(pub(crate) u64);

/// What the server knows about its client.
#[derive(Debug, Default)]
pub(crate) struct Session {
    state: Mutex<State>,
    /// Rung when there is something to tell, or nothing will come any more.
    bell: Notify,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    settings: Settings,
    documents: BTreeMap<String, Arc<Document>>,
    last_revision: Revision,
    /// The texts to tell about, each once, the longest waiting first.
    due: VecDeque<Uri>,
    /// Whether the client's messages have all come.
    finished: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Uninitialized,
    Serving,
    ShutDown,
}

/// A text that the client is to be told about.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) uri: Uri,
    /// The text as it is now; nothing when it was closed.
    pub(crate) document: Option<Arc<Document>>,
    pub(crate) settings: Settings,
}

impl Session {
    /// Begins to serve under `settings`.
    pub(crate) fn begin(&self, settings: Settings) {
        let mut state = self.lock();
        state.phase = Phase::Serving;
        state.settings = settings;
    }

    /// Stops serving: texts are kept no more and nothing more is told.
    pub(crate) fn shut_down(&self) {
        let mut state = self.lock();
        state.phase = Phase::ShutDown;
        state.documents.clear();
        state.due.clear();
    }

    /// Says that all messages of the client have come.
    pub(crate) fn finish(&self) {
        self.lock().finished = true;
        self.bell.notify_one();
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.lock().phase == Phase::Serving
    }

    /// Returns how the session ends when it ends now.
    pub(crate) fn ending(&self) -> Ending {
        match self.lock().phase {
            Phase::ShutDown => Ending::Orderly,
            Phase::Uninitialized | Phase::Serving => Ending::Abrupt,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.lock().settings
    }

    /// Returns an open text as it is now.
    pub(crate) fn document(&self, uri: &str) -> Option<Arc<Document>> {
        self.lock().documents.get(uri).cloned()
    }

    /// Opens a text. One that is open already is replaced.
    pub(crate) fn open(&self, uri: Uri, version: i32, text: String) {
        let mut state = self.lock();
        let document = Document::new(uri.clone(), version, state.next_revision(), text);
        let before = state.documents.insert(uri.as_str().to_owned(), Arc::new(document));
        if before.is_some() {
            tracing::warn!("a text was opened that was open already");
        }
        state.tell(uri);
        drop(state);
        self.bell.notify_one();
    }

    /// Applies `edits` in order to an open text.
    ///
    /// Each is made by a function from the text that the ones before it have led to, since that
    /// is what its positions are about.
    pub(crate) fn change(
        &self,
        uri: Uri,
        version: i32,
        edits: impl Iterator<Item = impl FnOnce(&Document, Settings) -> Edit>,
    ) {
        let mut state = self.lock();
        let settings = state.settings;
        let revision = state.next_revision();
        // Taken out, so that a panic on the way leaves no text rather than a wrong one.
        let Some((key, kept)) = state.documents.remove_entry(uri.as_str()) else {
            tracing::warn!("a text was changed that is not open");
            return;
        };
        if version <= kept.version() {
            // The wire keeps the order, so the change is the next one whatever it is called.
            tracing::warn!(version, before = kept.version(), "a version is not above the last");
        }
        // Copied only when somebody still reads the text as it was.
        let mut document = Arc::unwrap_or_clone(kept);
        for edit in edits {
            let edit = edit(&document, settings);
            document.apply(edit);
        }
        document.set_version(version, revision);
        state.documents.insert(key, Arc::new(document));
        state.tell(uri);
        drop(state);
        self.bell.notify_one();
    }

    /// Closes a text.
    pub(crate) fn close(&self, uri: Uri) {
        let mut state = self.lock();
        if state.documents.remove(uri.as_str()).is_none() {
            tracing::warn!("a text was closed that is not open");
            return;
        }
        state.tell(uri);
        drop(state);
        self.bell.notify_one();
    }

    /// Waits for the next text to tell about; nothing when none will come any more.
    pub(crate) async fn next_due(&self) -> Option<Due> {
        loop {
            {
                let mut state = self.lock();
                if let Some(due) = state.next_due() {
                    return Some(due);
                }
                if state.finished {
                    return None;
                }
            }
            self.bell.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked with the lock held left nothing half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_revision(&mut self) -> Revision {
        self.last_revision.0 += 1;
        self.last_revision
    }

    fn tell(&mut self, uri: Uri) {
        if !self.settings.pulls_diagnostics && !self.due.contains(&uri) {
            self.due.push_back(uri);
        }
    }

    fn next_due(&mut self) -> Option<Due> {
        let uri = self.due.pop_front()?;
        let document = self.documents.get(uri.as_str()).cloned();
        Some(Due { uri, document, settings: self.settings })
    }
}
