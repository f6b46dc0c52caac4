//! The part of [`Session`] that concerns the disk: cached knowledge and the task queue.
//!
//! It answers from the cache at once, records missing answers, and hands tasks one at a time to
//! [`crate::tasks`], the only module that waits for the backend or the client.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use skills_agents::references::is_referencing_file;
use skills_agents::tool_names::ToolNames;
use skills_syntax::path::AbsPath;
use tokio::time::{Instant, timeout, timeout_at};

use super::disk_state::{DiskState, Referrers};
use super::task::Task;
use super::{CachedMentions, Session};
use crate::analysis::AnalysisContext;
use crate::backend::{DocumentLocation, OnChange, WatchHandle, WatchTarget};
use crate::document::Document;
use crate::editor_settings::EditorSettings;
use crate::snapshot::{OverlaySnapshot, SkillEntry, WorkspaceSnapshot};
use crate::workspace::{Fetch, RootKind, WorkspaceState};

/// Time limit of a request for missing answers; then it uses cached answers.
const LOOKUP_TIMEOUT: Duration = Duration::from_millis(500);

/// The number of skills whose mentions are cached.
const MAX_REFERRERS: usize = 64;

/// Time limit for missing answers before diagnostics are published.
const PUBLISH_TIMEOUT: Duration = Duration::from_millis(250);

impl Session {
    /// Calls `with` on the document's analysis context. Missing answers are fetched in the
    /// background.
    pub(crate) fn with_analysis<R>(
        &self,
        document: &Document,
        with: impl FnOnce(&AnalysisContext) -> R,
    ) -> R {
        let buffers = self.buffers();
        let mut analysis = self.disk().workspace.analysis_context(document.path(), &buffers);
        analysis.rules_page.clone_from(&self.rules_page);
        let result = with(&analysis);
        let has_missing = analysis.can_fetch && !analysis.missing.borrow().is_empty();
        if has_missing && self.disk().workspace.request_missing(&analysis) {
            self.task_wake.notify_one();
        }
        result
    }

    /// Like [`Self::with_analysis`], but calls `with` again after missing answers were fetched: for
    /// requests that the client does not repeat.
    ///
    /// The answers may raise new questions; for example, a missing file leads to a search for
    /// similar names. Repeats until no question is left or the time limit is reached.
    pub(crate) async fn with_complete_analysis<R>(
        &self,
        document: &Document,
        with: impl Fn(&AnalysisContext) -> R,
    ) -> R {
        self.with_analysis_until(Instant::now() + LOOKUP_TIMEOUT, document, with).await
    }

    /// Like [`Self::with_complete_analysis`], for diagnostics that are published: each version is
    /// published once, and later again only if an answer is late or the disk changes.
    pub(crate) async fn with_awaited_analysis<R>(
        &self,
        document: &Document,
        with: impl Fn(&AnalysisContext) -> R,
    ) -> R {
        let until = Instant::now() + PUBLISH_TIMEOUT;
        if self.has_ended() {
            return self.with_analysis(document, with);
        }
        let _ = timeout_at(until, self.wait_until(|it| it.is_loaded_for(document.path()))).await;
        self.with_analysis_until(until, document, with).await
    }

    async fn with_analysis_until<R>(
        &self,
        until: Instant,
        document: &Document,
        with: impl Fn(&AnalysisContext) -> R,
    ) -> R {
        let mut previous = None;
        loop {
            let look = |it: &AnalysisContext| (with(it), it.missing.borrow().clone());
            let (result, missing) = self.with_analysis(document, look);
            // Questions that stay unanswered are asked once.
            if missing.is_empty() || previous.as_ref() == Some(&missing) {
                return result;
            }
            previous = Some(missing);
            if timeout_at(until, self.wait_until_idle()).await.is_err() {
                return result;
            }
        }
    }

    /// Like [`Self::request_rescan`], but waits for the result if the client cannot be asked to
    /// refresh.
    pub(crate) async fn rescan(&self) {
        self.request_rescan();
        if !self.settings().refreshes.diagnostics {
            // On timeout, the cached answers are used.
            let _ = timeout(LOOKUP_TIMEOUT, self.wait_until_idle()).await;
        }
    }

    /// Records the duration of a walk of a worktree.
    pub(crate) fn record_walk(&self, took: Duration) {
        self.disk().throttle.record_walk(took);
    }

    /// Waits until no task is left.
    async fn wait_until_idle(&self) {
        self.wait_until(|it| it.disk().is_idle()).await;
    }

    /// Waits for tasks until a condition holds.
    async fn wait_until(&self, holds: impl Fn(&Self) -> bool) {
        loop {
            let task_finished = self.task_finished.notified();
            if holds(self) {
                return;
            }
            task_finished.await;
        }
    }

    /// Returns the snapshot of the root that a document belongs to.
    pub(crate) fn snapshot_for(&self, document: &Document) -> Option<Arc<OverlaySnapshot>> {
        let buffers = self.buffers();
        let analysis = self.disk().workspace.analysis_context(document.path(), &buffers);
        analysis.root.is_some().then_some(analysis.snapshot)
    }

    /// Returns the skills that the first checked profile sees from a document's root and that were
    /// loaded, the most used one first; none if the backend does not answer in time.
    pub(crate) async fn used_skills(&self, document: &Document) -> Vec<AbsPath> {
        let asked = self.with_analysis(document, |it| {
            let ranking = it.snapshot.skill_set.rankings().first()?;
            Some((it.root.clone()?, ranking.profile.id.to_string()))
        });
        let Some((root, profile)) = asked else { return Vec::new() };
        let used = timeout(LOOKUP_TIMEOUT, self.backend().most_used_skills(root, profile)).await;
        used.ok().flatten().unwrap_or_default()
    }

    /// Returns the MCP tools and the agents that are known in a document's root; none if the
    /// backend does not answer in time.
    pub(crate) async fn tool_names(&self, document: &Document) -> ToolNames {
        let Some(root) = self.with_analysis(document, |it| it.root.clone()) else {
            return ToolNames::default();
        };
        let names = timeout(LOOKUP_TIMEOUT, self.backend().tool_names(root)).await;
        names.ok().flatten().unwrap_or_default()
    }

    /// Returns the snapshots that contain a skill, that of its own root first.
    pub(crate) fn snapshots_containing(
        &self,
        skill: &AbsPath,
    ) -> Vec<(AbsPath, Arc<OverlaySnapshot>)> {
        let mut snapshots = self.all_snapshots();
        snapshots.retain(|(_, it)| it.at(skill).is_some());
        let own = self.disk().workspace.root_of(skill);
        snapshots.sort_by_key(|(root, _)| Some(root) != own.as_ref());
        snapshots
    }

    /// Returns the snapshot of each root.
    pub(crate) fn all_snapshots(&self) -> Vec<(AbsPath, Arc<OverlaySnapshot>)> {
        let buffers = self.buffers();
        self.disk().workspace.all_snapshots(&buffers)
    }

    /// Waits until the snapshots contain every change that finished before the call. After a time
    /// limit, and for roots that the backend cannot read, the cached ones are used.
    pub(crate) async fn sync_snapshots(&self) {
        let sync = async {
            let requests = self.disk().workspace.snapshot_requests();
            let asked = requests.into_iter().map(|request| async {
                let (root, profiles, since) = request.clone();
                let answer = self.backend().snapshot(root.clone(), profiles, since).await?;
                answer.fresh.then(|| self.invalidate_root(&root)).map(|()| request)
            });
            let stale: Vec<_> = join_all(asked).await.into_iter().flatten().collect();
            let is_new = |it: &Self| {
                let requests = it.disk().workspace.snapshot_requests();
                !requests.iter().any(|it| stale.contains(it))
            };
            self.wait_until(is_new).await;
        };
        let _ = timeout(LOOKUP_TIMEOUT, sync).await;
    }

    /// Changes the state of the workspace.
    pub(crate) fn with_workspace(&self, change: impl FnOnce(&mut WorkspaceState)) {
        change(&mut self.disk().workspace);
    }

    /// Returns the client's workspace folders.
    pub(crate) fn folders(&self) -> Vec<AbsPath> {
        self.disk().workspace.folders()
    }

    /// Adds workspace folders.
    pub(crate) fn add_folders(&self, folders: impl IntoIterator<Item = AbsPath>) {
        let mut disk = self.disk();
        for folder in folders {
            disk.workspace.add_root(folder, RootKind::Folder);
        }
        drop(disk);
        self.count_disk_change();
        self.task_wake.notify_one();
    }

    /// Removes workspace folders.
    pub(crate) fn remove_folders(&self, folders: impl IntoIterator<Item = AbsPath>) {
        let mut disk = self.disk();
        let mut watches = Vec::new();
        for folder in folders {
            disk.workspace.remove_root(&folder);
            watches.extend(disk.text_watches.remove(&folder));
        }
        disk.clear_referrers();
        drop(disk);
        // Dropped outside the lock, because the drop runs the backend's code.
        drop(watches);
        self.count_disk_change();
        self.task_wake.notify_one();
        self.republish_all();
    }

    /// Returns the cached files that mention a skill, and the name of its plugin.
    pub(crate) fn cached_referrers(&self, skill: &SkillEntry) -> Option<CachedMentions> {
        let disk = self.disk();
        let known = disk.referrers.get(&skill.path).filter(|it| it.name == skill.name);
        known.map(|it| (Arc::clone(&it.texts), it.plugin.clone()))
    }

    /// Returns the token to pass to [`Self::cache_referrers`], taken before the search.
    pub(crate) fn referrers_token(&self) -> u64 {
        self.disk().invalidations
    }

    /// Watches the texts of roots, so that cached files that mention a skill are dropped once one
    /// of these texts may have changed. Returns false if a worktree cannot be watched; texts
    /// outside of worktrees are watched in part.
    pub(crate) async fn watch_texts(self: &Arc<Self>, roots: &[AbsPath]) -> bool {
        for root in roots {
            if self.disk().text_watches.contains_key(root) {
                continue;
            }
            // The callback must not keep the session alive.
            let (session, changed) = (Arc::downgrade(self), root.clone());
            let on_change: OnChange = Arc::new(move || {
                if let Some(session) = session.upgrade() {
                    session.forget_texts(&changed);
                }
            });
            let Some(watch) = self.backend().watch_texts(root.clone(), on_change).await else {
                return false;
            };
            let before = self.disk().text_watches.insert(root.clone(), watch);
            // Dropped outside the lock, because the drop runs the backend's code.
            drop(before);
        }
        true
    }

    /// Drops the cached files that mention skills, and the watch that has reported a change.
    fn forget_texts(&self, root: &AbsPath) {
        let mut disk = self.disk();
        disk.clear_referrers();
        let watch = disk.text_watches.remove(root);
        drop(disk);
        drop(watch);
    }

    /// Caches the files that mention a skill of a plugin, unless the disk may have changed since.
    pub(crate) fn cache_referrers(
        &self,
        skill: &SkillEntry,
        texts: Arc<[Arc<Document>]>,
        plugin: Option<String>,
        invalidations: u64,
    ) {
        let mut disk = self.disk();
        if disk.invalidations == invalidations {
            if disk.referrers.len() >= MAX_REFERRERS {
                disk.referrers.clear();
            }
            disk.referrers
                .insert(skill.path.clone(), Referrers { name: skill.name.clone(), texts, plugin });
        }
    }

    /// Returns the new watch targets; `None` if they are unchanged.
    pub(crate) fn watch_targets(&self) -> Option<Vec<WatchTarget>> {
        let mut disk = self.disk();
        let watch_targets = disk.workspace.watch_targets();
        let is_new = watch_targets != disk.watch_targets;
        disk.watch_targets.clone_from(&watch_targets);
        is_new.then_some(watch_targets)
    }

    /// Replaces the current watch, unless other targets are wanted by now. New targets may have
    /// changed before they were watched, so their cached values are looked up again, and after the
    /// first watch the reports of unopened files too.
    pub(crate) fn set_watch(&self, targets: &[WatchTarget], watch: WatchHandle) {
        let mut disk = self.disk();
        if disk.watch_targets != targets {
            return;
        }
        let before = disk.watch.replace(watch);
        disk.workspace.invalidate_roots();
        disk.throttle.request();
        drop(disk);
        if before.is_none() {
            self.count_possible_change();
        }
        // Dropped outside the lock, because the drop runs the backend's code.
        drop(before);
        self.task_wake.notify_one();
        self.task_finished.notify_waiters();
    }

    /// Returns true once the first targets are watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.disk().watch.is_some()
    }

    /// Waits until the first targets are watched; not for a disk that does not answer.
    pub(crate) async fn wait_until_watching(&self) {
        let has_no_targets = |it: &Self| it.disk().workspace.watch_targets().is_empty();
        let reports = |it: &Self| it.is_watching() || has_no_targets(it);
        let _ = timeout(LOOKUP_TIMEOUT, self.wait_until(reports)).await;
    }

    /// Marks the snapshot of a root as stale.
    pub(crate) fn invalidate_root(&self, root: &AbsPath) {
        let mut disk = self.disk();
        disk.workspace.invalidate_root(root);
        disk.clear_referrers();
        drop(disk);
        self.count_disk_change();
        self.task_wake.notify_one();
    }

    /// Handles files that were created or deleted and whose content does not matter, such as build
    /// output. The files that mention skills stay cached.
    pub(crate) fn invalidate_listings(&self) {
        let mut disk = self.disk();
        disk.workspace.clear_listings();
        disk.throttle.request();
        drop(disk);
        self.count_possible_change();
        self.task_wake.notify_one();
    }

    /// Handles changes of files that mention skills or belong to one.
    pub(crate) fn invalidate_roots(&self) {
        let mut disk = self.disk();
        disk.workspace.invalidate_roots();
        disk.workspace.clear_listings();
        disk.clear_referrers();
        // The throttle absorbs thousands of notifications.
        disk.throttle.request();
        drop(disk);
        self.count_disk_change();
        self.task_wake.notify_one();
    }

    pub(crate) fn editor_settings(&self) -> EditorSettings {
        self.disk().workspace.editor_settings.clone()
    }

    /// Returns the existing profiles that the editor's settings select for a root.
    pub(crate) fn profiles(&self, root: &AbsPath) -> Vec<String> {
        self.disk().workspace.profiles(root)
    }

    /// Excludes unknown profiles of a root until a snapshot lists them.
    pub(crate) fn exclude_profiles(&self, root: &AbsPath, unknown: Vec<String>) {
        self.disk().workspace.exclude_profiles(root, unknown);
        self.task_wake.notify_one();
    }

    /// Returns the generation of the cached values; it grows with each change.
    pub(crate) fn generation(&self) -> u64 {
        self.disk().workspace.generation
    }

    /// Stores the snapshot of a root and the locations of the open documents. Both are updated
    /// together, because a skill missing from the snapshot may be deleted.
    pub(crate) fn set_snapshot(
        &self,
        root: &AbsPath,
        known: Option<WorkspaceSnapshot>,
        found: Vec<(AbsPath, DocumentLocation)>,
    ) {
        let mut disk = self.disk();
        disk.workspace.set_locations(found);
        let Some(known) = known else { return };
        disk.workspace.set_snapshot(root, known);
        // Another root may now contain the skill.
        disk.clear_referrers();
    }

    /// Returns the open files that may mention skills.
    pub(crate) fn open_relevant_paths(&self) -> Vec<AbsPath> {
        let open = self.documents();
        open.iter()
            .filter_map(|it| it.path())
            .filter(|it| is_referencing_file(it))
            .cloned()
            .collect()
    }

    /// Marks the running task as finished and wakes waiters.
    pub(crate) fn task_done(&self) {
        self.disk().is_running = false;
        self.task_finished.notify_waiters();
    }

    /// Waits until every root has a first answer.
    pub(crate) async fn wait_until_loaded(&self) {
        self.wait_until(Self::is_loaded).await;
    }

    /// Returns true if every root has an answer and the root of a document is known.
    fn is_loaded_for(&self, path: Option<&AbsPath>) -> bool {
        let DiskState { workspace, .. } = &*self.disk();
        let path = path.filter(|it| is_referencing_file(it));
        workspace.is_loaded()
            && path.is_none_or(|it| workspace.is_located(it) && workspace.root_of(it).is_some())
    }

    /// Returns true if every root has an answer and the root of every open document is known.
    ///
    /// The result is kept, because many requests wait and thousands of documents may be open.
    pub(crate) fn is_loaded(&self) -> bool {
        let n_opens = self.lock().n_opens;
        {
            let DiskState { workspace, loaded, .. } = &*self.disk();
            let now = (n_opens, workspace.n_ownership_changes);
            if !workspace.is_loaded() {
                return false;
            }
            if let Some((_, is_loaded)) = loaded.filter(|it| it.0 == now) {
                return is_loaded;
            }
        }
        let open = self.open_relevant_paths();
        let DiskState { workspace, loaded, .. } = &mut *self.disk();
        let is_home = |it: &AbsPath| workspace.is_located(it) && workspace.root_of(it).is_some();
        let is_loaded = workspace.is_loaded() && open.iter().all(is_home);
        *loaded = Some(((n_opens, workspace.n_ownership_changes), is_loaded));
        is_loaded
    }

    /// Waits for the next task; returns `None` after the end of the input.
    pub(crate) async fn next_task(&self) -> Option<Task> {
        loop {
            if self.lock().finished {
                return None;
            }
            if let Some(task) = self.try_next_task() {
                return Some(task);
            }
            let wake = self.task_wake.notified();
            let deadline = self.disk().throttle.deadline();
            match deadline {
                // Both conditions are checked again after either wake-up.
                Some(at) => {
                    let _ = timeout_at(at, wake).await;
                }
                None => wake.await,
            }
        }
    }

    /// Returns the next task. Fetches come before touches, because a touch needs to know its root.
    pub(crate) fn try_next_task(&self) -> Option<Task> {
        let n_opens = self.lock().n_opens;
        let reports_changes = self.settings().registers_watchers;
        let is_owned = {
            let mut disk = self.disk();
            let DiskState {
                workspace, tasks, is_running, throttle, owned, rescan_requested, ..
            } = &mut *disk;
            if throttle.take_if_due() {
                workspace.invalidate_files();
                // No watch reports all changes on the disk.
                if std::mem::take(rescan_requested) && !reports_changes {
                    self.count_possible_change();
                }
            }
            if let Some(task) = tasks.pop_front() {
                *is_running = true;
                return Some(task);
            }
            *owned == Some((n_opens, workspace.n_ownership_changes))
        };
        // Not for each task, because thousands of documents may be open.
        let open = if is_owned { Vec::new() } else { self.open_relevant_paths() };
        let mut disk = self.disk();
        let DiskState { workspace, tasks, is_running, owned, .. } = &mut *disk;
        let paths: Vec<_> = open.iter().filter(|it| !workspace.is_located(it)).cloned().collect();
        if tasks.is_empty() && !paths.is_empty() {
            tasks.push_back(Task::Fetch(Fetch::Locations { paths }));
        }
        if tasks.is_empty() {
            tasks.extend(workspace.take_fetches().into_iter().map(Task::Fetch));
        }
        if tasks.is_empty() && workspace.is_loaded() {
            *owned = Some((n_opens, workspace.n_ownership_changes));
            // A document outside all roots gets its own root.
            for path in &open {
                if workspace.root_of(path).is_none() {
                    workspace.add_root(
                        path.parent().unwrap_or_else(|| path.clone()),
                        RootKind::OfDocument,
                    );
                }
            }
            tasks.extend(workspace.take_fetches().into_iter().map(Task::Fetch));
        }
        if let Some(task) = tasks.pop_front() {
            *is_running = true;
            return Some(task);
        }
        drop(disk);
        self.take_touch()
    }

    /// Returns a task for the touched files of one root. It is one call, because a new snapshot
    /// follows each touch.
    fn take_touch(&self) -> Option<Task> {
        let mut touched = std::mem::take(&mut self.lock().touched);
        touched.sort();
        touched.dedup();
        let disk = self.disk();
        let mut roots =
            touched.into_iter().filter_map(|it| Some((disk.workspace.root_of(&it)?, it)));
        let (root, first) = roots.next()?;
        let (same, others): (Vec<_>, Vec<_>) = roots.partition(|(it, _)| *it == root);
        drop(disk);
        self.lock().touched.extend(others.into_iter().map(|(_, it)| it));
        let paths = std::iter::once(first).chain(same.into_iter().map(|(_, it)| it)).collect();
        Some(Task::Touch { root, paths })
    }
}
