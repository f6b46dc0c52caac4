//! All that is known about one client: what was agreed with it, its open texts, and which of them
//! it is to be told about. What is known of the disk around them is [`outside`].
//!
//! Two locks, never taken together, each held for as long as it takes to swap something and never
//! across an await. Readers get a text as it is at that moment and keep it; a change that comes
//! meanwhile makes a new one.

mod outside;
mod rescan;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use skills_syntax::path::AbsPath;
use tokio::sync::Notify;
use tower_lsp::ls_types::Uri;

use crate::Ending;
use crate::backend::{Backend, Nothing};
use crate::document::{Document, Edit};
use crate::from_proto;
use crate::options::{self, Complaint};
use crate::settings::Settings;
use crate::snapshot::Buffer;
use outside::Outside;

pub(crate) use outside::Task;

/// A number for one state of one text, given once in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Revision(pub(crate) u64);

/// What the server knows about its client.
pub(crate) struct Session {
    source: Arc<dyn Backend>,
    /// The address of the page about the rules, where there is one.
    rules_page: Option<Arc<str>>,
    state: Mutex<State>,
    /// Rung when there is something to tell, or nothing will come any more.
    bell: Notify,
    outside: Mutex<Outside>,
    /// Rung when there is something to fetch, or nothing will come any more.
    errand_bell: Notify,
    /// Rung when something was fetched.
    news: Notify,
    /// Rung when nothing will come any more.
    end: Notify,
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
    /// What the open skills said when the others were last told about.
    told: Vec<Buffer>,
    /// What was wrong with the client's settings, told already.
    complaints: Vec<Complaint>,
    /// The files that the user has opened or saved since that was last told.
    touched: Vec<AbsPath>,
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
pub(crate) struct PendingDiagnostics {
    pub(crate) uri: Uri,
    /// The text as it is now; nothing when it was closed.
    pub(crate) document: Option<Arc<Document>>,
    pub(crate) settings: Settings,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(Arc::new(Nothing), None)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(source: Arc<dyn Backend>, rules_page: Option<String>) -> Self {
        Self {
            source,
            rules_page: rules_page.map(Into::into),
            state: Mutex::default(),
            bell: Notify::new(),
            outside: Mutex::default(),
            errand_bell: Notify::new(),
            news: Notify::new(),
            end: Notify::new(),
        }
    }

    /// Who answers for the disk.
    pub(crate) fn source(&self) -> &Arc<dyn Backend> {
        &self.source
    }

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
        self.errand_bell.notify_one();
        self.end.notify_one();
    }

    /// Waits until all messages of the client have come.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
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
        state.touched.extend(document.path().cloned());
        let before = state.documents.insert(uri.as_str().to_owned(), Arc::new(document));
        if before.is_some() {
            tracing::warn!("a text was opened that was open already");
        }
        state.tell(uri);
        drop(state);
        self.bell.notify_one();
        self.look_again();
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
        self.look_again();
    }

    /// Closes a text.
    pub(crate) fn close(&self, uri: Uri) {
        let mut state = self.lock();
        let Some(closed) = state.documents.remove(uri.as_str()) else {
            tracing::warn!("a text was closed that is not open");
            return;
        };
        state.tell(uri);
        let open: Vec<AbsPath> =
            state.documents.values().filter_map(|it| it.path().cloned()).collect();
        drop(state);
        self.bell.notify_one();
        self.let_go(closed.path(), &open);
    }

    /// Says that a text was saved, so that the disk is another one.
    pub(crate) fn save(&self, uri: &Uri) {
        self.lock().touched.extend(from_proto::path(uri));
        self.doubt_all();
    }

    /// Takes up what the client's settings say, and tells what is wrong with them.
    pub(crate) fn take_settings(&self, said: &Value) {
        self.complain(options::complaints(said));
        self.wish(from_proto::wishes(said), from_proto::features(said));
    }

    /// Tells the user what is wrong with the settings, each thing once.
    pub(crate) fn complain(&self, complaints: impl IntoIterator<Item = Complaint>) {
        for complaint in complaints {
            let mut state = self.lock();
            if !state.complaints.contains(&complaint) {
                state.complaints.push(complaint.clone());
                drop(state);
                self.send(Task::Complain(complaint));
            }
        }
    }

    /// Returns the open text at a path.
    pub(crate) fn document_at(&self, path: &AbsPath) -> Option<Arc<Document>> {
        self.lock().documents.values().find(|it| it.path() == Some(path)).cloned()
    }

    /// Returns all open texts.
    pub(crate) fn documents(&self) -> Vec<Arc<Document>> {
        self.lock().documents.values().cloned().collect()
    }

    /// Returns the open texts that are skills, sorted by path.
    fn buffers(&self) -> Vec<Buffer> {
        let skills = self.documents().into_iter().filter(|it| from_proto::is_skill(it.uri()));
        let buffer = |it: Arc<Document>| {
            Some(Buffer { path: it.path()?.clone(), record: Arc::clone(it.record()) })
        };
        let mut buffers: Vec<_> = skills.filter_map(buffer).collect();
        buffers.sort_by(|a, b| a.path.cmp(&b.path));
        buffers
    }

    /// Has all open texts told about again. Returns whether the client is to ask for them instead.
    pub(crate) fn tell_anew(&self) -> bool {
        let mut state = self.lock();
        let uris: Vec<Uri> = state.documents.values().map(|it| it.uri().clone()).collect();
        for uri in uris {
            state.tell(uri);
        }
        let pulls = state.settings.pulls_diagnostics;
        drop(state);
        self.bell.notify_one();
        pulls
    }

    /// Has the other texts told about again where an edit of one changes what is said of them.
    pub(crate) fn tell_others(&self) {
        let buffers = self.buffers();
        {
            let mut state = self.lock();
            if state.told == buffers {
                return;
            }
            state.told = buffers;
        }
        self.tell_anew();
    }

    /// Waits for the next text to tell about; nothing when none will come any more.
    pub(crate) async fn next_due(&self) -> Option<PendingDiagnostics> {
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

    fn next_due(&mut self) -> Option<PendingDiagnostics> {
        let uri = self.due.pop_front()?;
        let document = self.documents.get(uri.as_str()).cloned();
        Some(PendingDiagnostics { uri, document, settings: self.settings })
    }
}
