//! The task runner: fetches from the backend, and sends requests to the client.
//!
//! One runner per client executes one [`Task`] at a time: it fetches missing or stale answers, and
//! then schedules the documents whose findings may change. Only the runner sends requests to the
//! client. A handler that waited for the client could deadlock, because both share one stream.

mod client_watch;

use std::sync::{Arc, Weak};
use std::time::Duration;

use skills_protocol::wire::{Health, PathMatches};
use skills_syntax::path::AbsPath;
use tokio::time::{Instant, timeout};
use tower_lsp::Client;
use tower_lsp::ls_types::request::{ApplyWorkspaceEdit, WorkDoneProgressCreate};
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, ConfigurationItem, Location, MessageType, ProgressToken,
    ShowDocumentParams, WorkDoneProgressCreateParams, WorkspaceEdit,
};

use crate::analysis::GlobMatches;
use crate::backend::{Answer, DocumentLocation, FactsRequest, OnChange};
use crate::options::{SECTION, SettingsProblem, unknown_profile};
use crate::session::{Session, Task};
use crate::settings::Settings;
use crate::snapshot::{self, WorkspaceSnapshot};
use crate::workspace::Fetch;

/// Time limit for the client to respond, before the next task runs.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);

/// The minimum time between two refresh requests while fetches continue.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);

/// The pause without tasks before the files that open documents depend on are watched: many
/// documents may be opened one after the other.
const WATCH_DELAY: Duration = Duration::from_millis(100);

/// The delay after which a fetch is shown as progress.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Runs tasks until the input ends.
pub(crate) async fn run(session: Arc<Session>, client: Client) {
    tokio::select! {
        () = run_tasks(&session, &client) => {}
        // A running task is then cancelled.
        () = session.input_ended() => {}
    }
}

async fn run_tasks(session: &Arc<Session>, client: &Client) {
    // Since when the client shows values that may be stale.
    let mut stale: Option<Instant> = None;
    loop {
        let at_once = session.try_next_task();
        // Refreshes once after all tasks; if tasks keep coming, at intervals.
        let is_time = |since: Instant| at_once.is_none() || since.elapsed() >= REFRESH_INTERVAL;
        if stale.is_some_and(is_time) {
            stale = None;
            refresh(session, client).await;
        }
        let next = if at_once.is_some() {
            at_once
        } else if let Ok(task) = timeout(watch_delay(session), session.next_task()).await {
            task
        } else {
            watch(session);
            session.next_task().await
        };
        let Some(task) = next else { return };
        let before = session.generation();
        let only = match &task {
            Task::Fetch(Fetch::Facts(requests)) => {
                Some(requests.iter().map(|it| it.path.clone()).collect::<Vec<_>>())
            }
            _ => None,
        };
        perform(session, client, task, &mut stale).await;
        session.task_done();
        if session.generation() != before {
            match only {
                Some(paths) => paths.iter().for_each(|it| session.republish_at(it)),
                None => drop(session.republish_all()),
            }
            stale = stale.or_else(|| Some(Instant::now()));
        }
    }
}

/// Performs a task. `stale` is the time since which the client shows values that may be stale.
async fn perform(session: &Arc<Session>, client: &Client, task: Task, stale: &mut Option<Instant>) {
    match task {
        Task::Startup => startup(session, client).await,
        Task::UpdateWatchers => client_watch::follow(session, client).await,
        Task::FetchSettings => fetch_settings(session, client).await,
        Task::Warn(text) | Task::ReportProblem(SettingsProblem::Invalid(text)) => {
            client.show_message(MessageType::WARNING, text).await;
        }
        Task::ReportProblem(SettingsProblem::Unknown(text)) => {
            client.log_message(MessageType::WARNING, text).await;
        }
        Task::Refresh => {
            stale.get_or_insert_with(Instant::now);
        }
        Task::Show(Location { uri, range }) => {
            let selection = Some(range);
            let (external, take_focus) = (Some(false), Some(true));
            let params = ShowDocumentParams { uri, external, take_focus, selection };
            if let Ok(Err(error)) = timeout(CLIENT_TIMEOUT, client.show_document(params)).await {
                tracing::debug!(%error, "the client did not open the document");
            }
        }
        Task::Apply { title, edit } => apply(client, title, *edit).await,
        Task::Touch { root, paths } => {
            if session.backend().touch(root.clone(), paths).await.is_some() {
                // The next snapshot contains the skills that the touch activated.
                session.invalidate_root(&root);
            }
        }
        Task::Fetch(fetch) => self::fetch(session, client, fetch).await,
    }
}

/// Returns the pause before watches are set. The first ones are set at once, because a check of the
/// whole workspace waits for them.
fn watch_delay(session: &Session) -> Duration {
    if session.is_watching() { WATCH_DELAY } else { Duration::ZERO }
}

/// Watches the files that the open documents depend on, if they have changed.
fn watch(session: &Arc<Session>) {
    let Some(targets) = session.watch_targets() else { return };
    // The tasks must not keep the session alive.
    let weak = Arc::downgrade(session);
    let changed = Weak::clone(&weak);
    let on_change: OnChange = Arc::new(move || {
        if let Some(session) = changed.upgrade() {
            session.invalidate_roots();
        }
    });
    let watch = session.backend().watch(targets.clone(), on_change);
    // A directory that does not answer must not delay other tasks.
    tokio::spawn(async move {
        let watch = watch.await.unwrap_or_default();
        if let Some(session) = weak.upgrade() {
            session.set_watch(&targets, watch);
        }
    });
}

/// Asks the client to apply an edit, and shows a message if it does not.
async fn apply(client: &Client, title: String, edit: WorkspaceEdit) {
    let params = ApplyWorkspaceEditParams { label: Some(title.clone()), edit };
    let why = match timeout(CLIENT_TIMEOUT, client.send_request::<ApplyWorkspaceEdit>(params)).await
    {
        // The client may be asking the user first; the result is not needed.
        Err(_) => return,
        Ok(Ok(done)) if done.applied => return,
        Ok(Ok(done)) => {
            done.failure_reason.unwrap_or_else(|| "the editor rejected the edit".to_owned())
        }
        Ok(Err(error)) => error.to_string(),
    };
    client.show_message(MessageType::WARNING, format!("could not apply `{title}`: {why}")).await;
}

/// Sends the refresh requests that the client supports.
async fn refresh(session: &Session, client: &Client) {
    let Settings { pulls_diagnostics, refreshes, .. } = session.settings();
    // A client that does not respond keeps its old state and delays other tasks only briefly.
    if pulls_diagnostics && refreshes.diagnostics {
        let _ = timeout(CLIENT_TIMEOUT, client.workspace_diagnostic_refresh()).await;
    }
    if refreshes.code_lens {
        let _ = timeout(CLIENT_TIMEOUT, client.code_lens_refresh()).await;
    }
    if refreshes.inlay_hints {
        let _ = timeout(CLIENT_TIMEOUT, client.inlay_hint_refresh()).await;
    }
    if refreshes.semantic_tokens {
        let _ = timeout(CLIENT_TIMEOUT, client.semantic_tokens_refresh()).await;
    }
}

async fn fetch(session: &Arc<Session>, client: &Client, fetch: Fetch) {
    let backend = session.backend();
    match fetch {
        Fetch::Snapshot { root, profiles, since, subscribe_to } => {
            if let Some(subscribed) = subscribe_to {
                // Subscribes before it reads the snapshot, so that no change in between is missed.
                let on_change = on_change(session, &root);
                let subscription = backend.subscribe(&root, &subscribed, on_change).await;
                let subscription = subscription.unwrap_or_default();
                session.with_workspace(|it| it.set_subscription(&root, subscription));
            }
            let answer = backend.snapshot(root.clone(), profiles.clone(), since);
            let answer = with_progress(session, client, "Reading skills", answer).await;
            if answer.is_none() && drop_unknown_profiles(session, &root, profiles).await {
                return;
            }
            let levels = session.editor_settings().levels;
            let fresh = answer.filter(|it| it.fresh);
            let found = locate(session, session.open_relevant_paths()).await;
            session.set_snapshot(
                &root,
                fresh.map(|it| WorkspaceSnapshot::read(it, &levels)),
                found,
            );
            session.with_workspace(|it| it.mark_answered(&root));
        }
        Fetch::Locations { paths } => {
            let found = locate(session, paths).await;
            session.with_workspace(|it| it.set_locations(found));
        }
        Fetch::Facts(requests) => {
            let found = backend.facts(requests.clone()).await.unwrap_or_default();
            session.with_workspace(|it| {
                for (FactsRequest { path, .. }, facts) in requests.iter().zip(found) {
                    it.set_facts(path, facts);
                }
            });
        }
        Fetch::Globs { root, globs, options } => {
            let answer = backend.match_globs(root.clone(), globs, options);
            let begun = Instant::now();
            let found = with_progress(session, client, "Matching files", answer).await;
            session.record_walk(begun.elapsed());
            let found = glob_matches(found.unwrap_or_default());
            session.with_workspace(|it| it.set_globs(&root, found));
        }
        Fetch::Listings { root, globs, options } => {
            let begun = Instant::now();
            let found = backend.match_globs(root.clone(), globs, options).await;
            session.record_walk(begun.elapsed());
            let found = glob_matches(found.unwrap_or_default());
            session.with_workspace(|it| it.set_listings(&root, found));
        }
    }
}

/// Asks for the locations of documents; unanswered ones get the default.
async fn locate(session: &Session, paths: Vec<AbsPath>) -> Vec<(AbsPath, DocumentLocation)> {
    let found = session.backend().locate(paths.clone()).await.unwrap_or_default();
    paths
        .into_iter()
        .zip(found.into_iter().chain(std::iter::repeat_with(DocumentLocation::default)))
        .collect()
}

/// If no answer came because some profiles do not exist, excludes them for the root. Returns true
/// if there were such profiles.
async fn drop_unknown_profiles(session: &Session, root: &AbsPath, profiles: Vec<String>) -> bool {
    if profiles.is_empty() {
        return false;
    }
    let usual = session.backend().snapshot(root.clone(), Vec::new(), None).await;
    let Some(known) = usual.map(|it| snapshot::profile_names(&it)) else { return false };
    let unknown: Vec<_> = profiles.into_iter().filter(|it| !known.contains(it)).collect();
    if unknown.is_empty() {
        return false;
    }
    session.report_problems(unknown.iter().map(|it| unknown_profile(it, &known)));
    session.exclude_profiles(root, unknown);
    true
}

/// Waits for an answer, with progress in the client if it takes long.
async fn with_progress<T>(
    session: &Session,
    client: &Client,
    title: &str,
    mut answer: Answer<T>,
) -> Option<T> {
    if let Ok(answer) = timeout(PROGRESS_DELAY, &mut answer).await {
        return answer;
    }
    let token = ProgressToken::String(format!("skillsd-{}", session.generation()));
    let params = WorkDoneProgressCreateParams { token: token.clone() };
    let is_shown = session.settings().shows_progress
        && timeout(PROGRESS_DELAY, client.send_request::<WorkDoneProgressCreate>(params))
            .await
            .is_ok_and(|it| it.is_ok());
    if !is_shown {
        return answer.await;
    }
    let progress = client.progress(token, title).begin().await;
    let answer = answer.await;
    progress.finish().await;
    answer
}

fn glob_matches(found: Vec<PathMatches>) -> Vec<(String, GlobMatches)> {
    let glob_matches = |it: PathMatches| {
        let count = it.count.map(|it| it as usize);
        (it.pattern, GlobMatches { count, files: it.files })
    };
    found.into_iter().map(glob_matches).collect()
}

fn on_change(session: &Arc<Session>, root: &AbsPath) -> OnChange {
    // The callback must not keep the session alive.
    let (session, root) = (Arc::downgrade(session), root.clone());
    Arc::new(move || {
        if let Some(session) = session.upgrade() {
            session.invalidate_root(&root);
        }
    })
}

/// Registers file watchers and requests the settings.
async fn startup(session: &Session, client: &Client) {
    for Health { message, hint, .. } in session.backend().daemon_reports() {
        match hint {
            Some(hint) => {
                let text = format!("{message}. {hint}");
                client.show_message(MessageType::WARNING, text).await;
            }
            None => client.log_message(MessageType::INFO, message).await,
        }
    }
    client_watch::register(session, client).await;
    fetch_settings(session, client).await;
}

/// Requests and applies the client's settings, if the client supports that.
async fn fetch_settings(session: &Session, client: &Client) {
    if !session.settings().has_configuration {
        return;
    }
    let item = ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) };
    match client.configuration(vec![item]).await {
        Ok(values) => {
            if let Some(value) = values.first().filter(|it| it.is_object()) {
                session.apply_settings(value);
            }
        }
        Err(error) => tracing::debug!(%error, "the client did not send its settings"),
    }
}
