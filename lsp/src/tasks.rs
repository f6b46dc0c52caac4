//! What is fetched for a client: the task that keeps what is known of the disk up to date.
//!
//! One task for each client. It asks the source for what is missing or may be out of date, one
//! thing after the other, and then has the texts told about again whose answers may differ. It is
//! also the only one that asks the client for something: a handler that waited for the client
//! could wait for ever, since both share one stream.

pub(crate) mod watching;

use std::sync::Arc;
use std::time::Duration;

use skills_protocol::wire::PathMatches;
use skills_syntax::path::AbsPath;
use tokio::time::{Instant, timeout};
use tower_lsp::Client;
use tower_lsp::ls_types::request::{ApplyWorkspaceEdit, WorkDoneProgressCreate};
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, ConfigurationItem, Location, MessageType, ProgressToken,
    ShowDocumentParams, WorkDoneProgressCreateParams, WorkspaceEdit,
};

use crate::analysis::Globbed;
use crate::backend::{Answer, DocumentLocation, OnChange};
use crate::options::{Complaint, no_profile};
use crate::session::{Session, Task};
use crate::settings::Settings;
use crate::snapshot::{self, WorkspaceSnapshot};
use crate::workspace::Fetch;

/// How long the next errand waits for a client that has nothing to say.
const HEARD: Duration = Duration::from_secs(2);

/// The section of the client's settings that is ours.
pub(crate) const SECTION: &str = "skillsd";

/// How long a client is not asked to ask anew while there is more to fetch.
const LATEST: Duration = Duration::from_secs(2);

/// How long something takes at least that a client shows as under way.
const LONG: Duration = Duration::from_secs(1);

/// Runs errands until nothing will come any more.
pub(crate) async fn run(session: Arc<Session>, client: Client) {
    tokio::select! {
        () = errands(&session, &client) => {}
        // What is under way then nobody waits for.
        () = session.ended() => {}
    }
}

async fn errands(session: &Arc<Session>, client: &Client) {
    // Since when the client shows what may be out of date.
    let mut stale: Option<Instant> = None;
    loop {
        let at_once = session.errand();
        // Once for all that there was to do; where that does not end, every now and then.
        let is_time = |since: Instant| at_once.is_none() || since.elapsed() >= LATEST;
        if stale.is_some_and(is_time) {
            stale = None;
            refresh(session, client).await;
        }
        let next = if at_once.is_some() {
            at_once
        } else {
            watch(session);
            session.next_errand().await
        };
        let Some(errand) = next else { return };
        let before = session.generation();
        match errand {
            Task::Greet => greet(session, client).await,
            Task::Watch => watching::follow(session, client).await,
            Task::Configure => configure(session, client).await,
            Task::Complain(Complaint::Wrong(text)) => {
                client.show_message(MessageType::WARNING, text).await;
            }
            Task::Complain(Complaint::Unknown(text)) => {
                client.log_message(MessageType::WARNING, text).await;
            }
            Task::Refresh => stale = stale.or_else(|| Some(Instant::now())),
            Task::Show(Location { uri, range }) => {
                let selection = Some(range);
                let (external, take_focus) = (Some(false), Some(true));
                let params = ShowDocumentParams { uri, external, take_focus, selection };
                if let Ok(Err(error)) = timeout(HEARD, client.show_document(params)).await {
                    tracing::debug!(%error, "the client does not open a text");
                }
            }
            Task::Apply { title, edit } => apply(client, title, *edit).await,
            Task::Touch { place, path } => {
                if session.source().touch(place.clone(), path).await.is_some() {
                    // What it has brought is in the next snapshot.
                    session.doubt(&place);
                }
            }
            Task::Fetch(fetch) => self::fetch(session, client, fetch).await,
        }
        session.errand_done();
        if session.generation() != before {
            session.tell_anew();
            stale = stale.or_else(|| Some(Instant::now()));
        }
    }
}

/// Has what the open texts depend on watched, where that is not what is watched already.
fn watch(session: &Arc<Session>) {
    let Some(nearby) = session.nearby() else { return };
    // Whoever rings must not keep the session.
    let weak = Arc::downgrade(session);
    let bell: OnChange = Arc::new(move || {
        if let Some(session) = weak.upgrade() {
            session.doubt_seen();
        }
    });
    session.take_watch(session.source().watch(nearby, bell));
}

/// Has the client make an edit, and the user told where it does not.
async fn apply(client: &Client, title: String, edit: WorkspaceEdit) {
    let params = ApplyWorkspaceEditParams { label: Some(title.clone()), edit };
    let why = match timeout(HEARD, client.send_request::<ApplyWorkspaceEdit>(params)).await {
        // It may ask the user first: what comes of it later is not our business.
        Err(_) => return,
        Ok(Ok(done)) if done.applied => return,
        Ok(Ok(done)) => done.failure_reason.unwrap_or_else(|| "the editor refuses it".to_owned()),
        Ok(Err(error)) => error.to_string(),
    };
    client.show_message(MessageType::WARNING, format!("`{title}` was not done: {why}")).await;
}

/// Has the client ask anew for what follows from the disk, where it can be asked to.
async fn refresh(session: &Session, client: &Client) {
    let Settings { pulls_diagnostics, refreshes, .. } = session.settings();
    // A client that does not answer shows what it shows, and holds up nothing for long.
    if pulls_diagnostics && refreshes.diagnostics {
        let _ = timeout(HEARD, client.workspace_diagnostic_refresh()).await;
    }
    if refreshes.code_lens {
        let _ = timeout(HEARD, client.code_lens_refresh()).await;
    }
    if refreshes.inlay_hints {
        let _ = timeout(HEARD, client.inlay_hint_refresh()).await;
    }
    if refreshes.semantic_tokens {
        let _ = timeout(HEARD, client.semantic_tokens_refresh()).await;
    }
}

async fn fetch(session: &Arc<Session>, client: &Client, fetch: Fetch) {
    let source = session.source();
    match fetch {
        Fetch::Snapshot { place, profiles, since, follow } => {
            if let Some(followed) = follow {
                // First this, then the snapshot: what changes in between is told.
                let bell = bell(session, &place);
                session.take_follow(&place, source.follow(&place, &followed, bell));
            }
            let answer = source.snapshot(place.clone(), profiles.clone(), since);
            let answer = shown(session, client, "Reading skills", answer).await;
            if answer.is_none() && without_unknown(session, &place, profiles).await {
                return;
            }
            let levels = session.wishes().levels;
            let fresh = answer.filter(|it| it.fresh);
            let found = whereabouts(session, session.speaking()).await;
            session.take_known(&place, fresh.map(|it| WorkspaceSnapshot::read(it, &levels)), found);
            session.take_answer(&place);
        }
        Fetch::DocumentLocation { paths } => {
            let found = whereabouts(session, paths).await;
            session.take_whereabouts(found);
        }
        Fetch::Facts { path, looks } => {
            if let Some(facts) = source.facts(path.clone(), looks).await {
                session.take_facts(&path, facts);
            }
        }
        Fetch::Globs { place, globs, extent } => {
            let answer = source.matches(place.clone(), globs, extent);
            let begun = Instant::now();
            let found = shown(session, client, "Matching files", answer).await;
            session.walked(begun.elapsed());
            session.take_globs(&place, globbed(found.unwrap_or_default()));
        }
        Fetch::Listings { place, globs, extent } => {
            let begun = Instant::now();
            let found = source.matches(place.clone(), globs, extent).await;
            session.walked(begun.elapsed());
            session.take_listings(&place, globbed(found.unwrap_or_default()));
        }
    }
}

/// Asks where texts are; what nobody can say is as it usually is.
async fn whereabouts(session: &Session, paths: Vec<AbsPath>) -> Vec<(AbsPath, DocumentLocation)> {
    let found = session.source().whereabouts(paths.clone()).await.unwrap_or_default();
    paths
        .into_iter()
        .zip(found.into_iter().chain(std::iter::repeat_with(DocumentLocation::default)))
        .collect()
}

/// Leaves out of the profiles that count at a place those that there are not, where that is why
/// nobody answers. Returns whether others count now.
async fn without_unknown(session: &Session, place: &AbsPath, profiles: Vec<String>) -> bool {
    if profiles.is_empty() {
        return false;
    }
    let usual = session.source().snapshot(place.clone(), Vec::new(), None).await;
    let Some(known) = usual.map(|it| snapshot::profiles(&it)) else { return false };
    let unknown: Vec<_> = profiles.into_iter().filter(|it| !known.contains(it)).collect();
    if unknown.is_empty() {
        return false;
    }
    session.complain(unknown.iter().map(|it| no_profile(it, &known)));
    session.take_unknown(place, unknown);
    true
}

/// Waits for an answer; where that takes long, the client shows that it is waited for.
async fn shown<T>(
    session: &Session,
    client: &Client,
    title: &str,
    mut answer: Answer<T>,
) -> Option<T> {
    if let Ok(answer) = timeout(LONG, &mut answer).await {
        return answer;
    }
    let token = ProgressToken::String(format!("skillsd-{}", session.generation()));
    let params = WorkDoneProgressCreateParams { token: token.clone() };
    let is_shown = session.settings().shows_progress
        && timeout(LONG, client.send_request::<WorkDoneProgressCreate>(params))
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

fn globbed(found: Vec<PathMatches>) -> Vec<(String, Globbed)> {
    let globbed = |it: PathMatches| {
        let count = it.count.map(|it| it as usize);
        (it.pattern, Globbed { count, files: it.files })
    };
    found.into_iter().map(globbed).collect()
}

fn bell(session: &Arc<Session>, place: &AbsPath) -> OnChange {
    // Whoever rings must not keep the session.
    let (session, place) = (Arc::downgrade(session), place.clone());
    Arc::new(move || {
        if let Some(session) = session.upgrade() {
            session.doubt(&place);
        }
    })
}

/// Asks the client to tell of files, and for its settings.
async fn greet(session: &Session, client: &Client) {
    watching::register(session, client).await;
    configure(session, client).await;
}

/// Takes up what the client's settings say, where it can be asked.
async fn configure(session: &Session, client: &Client) {
    if !session.settings().has_configuration {
        return;
    }
    let item = ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) };
    match client.configuration(vec![item]).await {
        Ok(values) => {
            if let Some(value) = values.first().filter(|it| it.is_object()) {
                session.take_settings(value);
            }
        }
        Err(error) => tracing::debug!(%error, "the client does not tell its settings"),
    }
}
