//! The state of one client: its settings, its open documents, and the queue of documents whose
//! diagnostics are to be published. The state of the disk around them is in [`disk`].
//!
//! There are two locks, never held together, only for the time of an update, and never across an
//! await. Readers get an immutable document; a later change creates a new one.

mod disk;
mod disk_state;
mod rescan;
mod task;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use skills_syntax::path::AbsPath;
use tokio::sync::Notify;
use tower_lsp::ls_types::Uri;

use crate::backend::{Backend, NoBackend};
use crate::document::{Document, DocumentEdit, Revision};
use crate::editor_settings::EditorSettings;
use crate::from_proto;
use crate::options::{self, SettingsProblem};
use crate::settings::{Features, Settings};
use crate::snapshot::SkillBuffer;
use disk_state::DiskState;

pub(crate) use task::Task;

/// The way in which a client ended the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The client sent `shutdown` first.
    Orderly,
    /// The client sent `exit`, or its stream ended, without `shutdown`.
    Abrupt,
}

/// The state of one client.
pub(crate) struct Session {
    backend: Arc<dyn Backend>,
    /// The address of the page that documents the rules, if there is one.
    rules_page: Option<Arc<str>>,
    state: Mutex<SessionState>,
    /// Wakes the publisher: a document is pending, or the input has ended.
    publish_wake: Notify,
    disk: Mutex<DiskState>,
    /// Wakes the task runner: there is something to do, or the input has ended.
    task_wake: Notify,
    /// Notifies waiters that a task has finished.
    task_finished: Notify,
    /// Notified when the client's input has ended.
    input_end: Notify,
}

#[derive(Debug, Default)]
struct SessionState {
    phase: Phase,
    settings: Settings,
    documents: BTreeMap<String, Arc<Document>>,
    last_revision: Revision,
    /// Documents to publish, each once, oldest first.
    pending: VecDeque<Uri>,
    /// True if the client's input has ended.
    finished: bool,
    /// The open skills at the time dependent documents were last scheduled.
    published_buffers: Vec<SkillBuffer>,
    /// Problems in the client's settings that were already reported.
    problems: Vec<SettingsProblem>,
    /// Files that the user opened or saved and that are not yet reported as touched.
    touched: Vec<AbsPath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Phase {
    #[default]
    Uninitialized,
    Serving,
    ShutDown,
}

/// A document whose diagnostics are to be published.
#[derive(Debug)]
pub(crate) struct PendingDiagnostics {
    pub(crate) uri: Uri,
    /// The current document; `None` if it was closed.
    pub(crate) document: Option<Arc<Document>>,
    pub(crate) settings: Settings,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(Arc::new(NoBackend), None)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(backend: Arc<dyn Backend>, rules_page: Option<String>) -> Self {
        Self {
            backend,
            rules_page: rules_page.map(Into::into),
            state: Mutex::default(),
            publish_wake: Notify::new(),
            disk: Mutex::default(),
            task_wake: Notify::new(),
            task_finished: Notify::new(),
            input_end: Notify::new(),
        }
    }

    /// Returns the backend, which answers questions about the disk.
    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Starts serving with `settings`.
    pub(crate) fn start_serving(&self, settings: Settings) {
        let mut state = self.lock();
        state.phase = Phase::Serving;
        state.settings = settings;
    }

    /// Stops serving: drops all documents and publishes nothing more.
    pub(crate) fn shut_down(&self) {
        let mut state = self.lock();
        state.phase = Phase::ShutDown;
        state.documents.clear();
        state.pending.clear();
    }

    /// Marks the end of the client's input.
    pub(crate) fn finish(&self) {
        self.lock().finished = true;
        self.publish_wake.notify_one();
        self.task_wake.notify_one();
        self.input_end.notify_one();
    }

    /// Waits for the end of the client's input.
    pub(crate) async fn input_ended(&self) {
        self.input_end.notified().await;
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.lock().phase == Phase::Serving
    }

    /// Returns how the session would end now.
    pub(crate) fn ending(&self) -> Ending {
        match self.lock().phase {
            Phase::ShutDown => Ending::Orderly,
            Phase::Uninitialized | Phase::Serving => Ending::Abrupt,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.lock().settings
    }

    /// Returns the current version of an open document.
    pub(crate) fn document(&self, uri: &str) -> Option<Arc<Document>> {
        self.lock().documents.get(uri).cloned()
    }

    /// Opens a document, replacing one that is already open.
    pub(crate) fn open(&self, uri: Uri, version: i32, text: String) {
        let mut state = self.lock();
        let document = Document::new(uri.clone(), version, state.next_revision(), text);
        state.touched.extend(document.path().cloned());
        let before = state.documents.insert(uri.as_str().to_owned(), Arc::new(document));
        if before.is_some() {
            tracing::warn!("received didOpen for a document that is already open");
        }
        state.schedule(uri);
        drop(state);
        self.publish_wake.notify_one();
        self.request_rescan();
    }

    /// Applies `edits` to an open document, in order.
    ///
    /// Each edit is computed from the text after the previous one, because its positions refer to
    /// that text.
    pub(crate) fn change(
        &self,
        uri: Uri,
        version: i32,
        edits: impl Iterator<Item = impl FnOnce(&Document, Settings) -> DocumentEdit>,
    ) {
        let mut state = self.lock();
        let settings = state.settings;
        let revision = state.next_revision();
        // Removed first, so that a panic loses the document instead of leaving a wrong one.
        let Some((key, kept)) = state.documents.remove_entry(uri.as_str()) else {
            tracing::warn!("received didChange for a document that is not open");
            return;
        };
        if version <= kept.version() {
            // The wire preserves order, so this is the next change whatever its version.
            tracing::warn!(
                version,
                before = kept.version(),
                "received a document version that is not above the last one"
            );
        }
        // Copies the document only if a reader still holds it.
        let mut document = Arc::unwrap_or_clone(kept);
        for edit in edits {
            let edit = edit(&document, settings);
            document.apply(edit);
        }
        document.set_version(version, revision);
        state.documents.insert(key, Arc::new(document));
        state.schedule(uri);
        drop(state);
        self.publish_wake.notify_one();
        self.request_rescan();
    }

    /// Closes a document.
    pub(crate) fn close(&self, uri: Uri) {
        let mut state = self.lock();
        let Some(closed) = state.documents.remove(uri.as_str()) else {
            tracing::warn!("received didClose for a document that is not open");
            return;
        };
        state.schedule(uri);
        let open: Vec<AbsPath> =
            state.documents.values().filter_map(|it| it.path().cloned()).collect();
        drop(state);
        self.publish_wake.notify_one();
        self.forget_closed(closed.path(), &open);
    }

    /// Records that a document was saved: its file on the disk has changed.
    pub(crate) fn save(&self, uri: &Uri) {
        self.lock().touched.extend(crate::document::file_path(uri));
        self.invalidate_all();
    }

    /// Applies the client's settings and reports problems in them.
    pub(crate) fn apply_settings(&self, values: &Value) {
        self.report_problems(options::problems(values));
        self.set_editor_settings(from_proto::editor_settings(values), from_proto::features(values));
    }

    /// Shows problems in the settings to the user, each one once.
    pub(crate) fn report_problems(&self, problems: impl IntoIterator<Item = SettingsProblem>) {
        for problem in problems {
            let mut state = self.lock();
            if !state.problems.contains(&problem) {
                state.problems.push(problem.clone());
                drop(state);
                self.send(Task::ReportProblem(problem));
            }
        }
    }

    /// Returns the open document with a path.
    pub(crate) fn document_at(&self, path: &AbsPath) -> Option<Arc<Document>> {
        self.lock().documents.values().find(|it| it.path() == Some(path)).cloned()
    }

    /// Returns all open documents.
    pub(crate) fn documents(&self) -> Vec<Arc<Document>> {
        self.lock().documents.values().cloned().collect()
    }

    /// Returns the open documents that are skills, sorted by path.
    fn buffers(&self) -> Vec<SkillBuffer> {
        let skills = self.documents().into_iter().filter(|it| from_proto::is_skill(it.uri()));
        let buffer = |it: Arc<Document>| {
            Some(SkillBuffer { path: it.path()?.clone(), record: Arc::clone(it.record()) })
        };
        let mut buffers: Vec<_> = skills.filter_map(buffer).collect();
        buffers.sort_by(|a, b| a.path.cmp(&b.path));
        buffers
    }

    /// Schedules all open documents for publishing. Returns true if the client pulls diagnostics
    /// instead.
    pub(crate) fn republish_all(&self) -> bool {
        let mut state = self.lock();
        let uris: Vec<Uri> = state.documents.values().map(|it| it.uri().clone()).collect();
        for uri in uris {
            state.schedule(uri);
        }
        let pulls = state.settings.pulls_diagnostics;
        drop(state);
        self.publish_wake.notify_one();
        pulls
    }

    /// Schedules the other documents if an edit of a skill can change their findings.
    pub(crate) fn republish_dependents(&self) {
        let buffers = self.buffers();
        {
            let mut state = self.lock();
            if state.published_buffers == buffers {
                return;
            }
            state.published_buffers = buffers;
        }
        self.republish_all();
    }

    /// Waits for the next document to publish; returns `None` after the end of the input.
    pub(crate) async fn next_pending(&self) -> Option<PendingDiagnostics> {
        loop {
            {
                let mut state = self.lock();
                if let Some(pending) = state.next_pending() {
                    return Some(pending);
                }
                if state.finished {
                    return None;
                }
            }
            self.publish_wake.notified().await;
        }
    }

    /// Applies the editor's settings.
    pub(crate) fn set_editor_settings(&self, editor_settings: EditorSettings, features: Features) {
        let before = std::mem::replace(&mut self.lock().settings.features, features);
        if self.disk().workspace.set_editor_settings(editor_settings) {
            self.task_wake.notify_one();
        } else if before != features {
            self.send(Task::Refresh);
        }
    }

    /// Queues a task.
    pub(crate) fn send(&self, task: Task) {
        self.disk().tasks.push_back(task);
        self.task_wake.notify_one();
    }

    /// Requests new lookups of files outside the index; the throttle limits how often they run.
    pub(crate) fn request_rescan(&self) {
        self.disk().throttle.request();
        self.task_wake.notify_one();
    }

    /// Marks everything as stale.
    pub(crate) fn invalidate_all(&self) {
        let mut disk = self.disk();
        disk.workspace.invalidate_all();
        disk.clear_referrers();
        drop(disk);
        self.task_wake.notify_one();
    }

    /// Drops cached values of a closed document. `open` are the paths of the remaining documents.
    fn forget_closed(&self, closed: Option<&AbsPath>, open: &[AbsPath]) {
        let mut disk = self.disk();
        if let Some(path) = closed {
            disk.workspace.forget_document(path);
        }
        disk.workspace.retain_roots(|root| open.iter().any(|it| it.starts_with(root)));
        disk.clear_referrers();
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        // Every update under the lock is complete before code that can panic, so poisoning is
        // ignored.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn disk(&self) -> MutexGuard<'_, DiskState> {
        // Every update under the lock is complete before code that can panic, so poisoning is
        // ignored.
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionState {
    fn next_revision(&mut self) -> Revision {
        self.last_revision.0 += 1;
        self.last_revision
    }

    fn schedule(&mut self, uri: Uri) {
        if !self.settings.pulls_diagnostics && !self.pending.contains(&uri) {
            self.pending.push_back(uri);
        }
    }

    fn next_pending(&mut self) -> Option<PendingDiagnostics> {
        let uri = self.pending.pop_front()?;
        let document = self.documents.get(uri.as_str()).cloned();
        Some(PendingDiagnostics { uri, document, settings: self.settings })
    }
}
