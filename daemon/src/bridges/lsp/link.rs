//! The language server's source: the protocol, spoken with a daemon or with a server in this
//! process, and the few things that are asked of the disk itself.
//!
//! The words are the same whoever answers, so that an editor sees the same with a daemon and
//! without. A daemon that goes is replaced at the next call, and what was followed is followed
//! again; nothing of it is the editor's business.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use skills_agents::profile::DEFAULT_PROFILES;
use skills_agents::references::TextSearch;
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::connection::Connection;
use skills_client::environment::config_file;
use skills_client::fallback::Fallback;
use skills_client::pages::{Paged, Pages};
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_discovery::discover::Entry;
use skills_engine::files::inspect;
use skills_lint::SkillDirFacts;
use skills_lsp::{Answer, Backend, DocumentLocation, OnChange, WalkOptions, WatchTarget};
use skills_protocol::method::{
    EventsEvent, EventsSubscribe, IndexSnapshot, Notification as _, PathsMatch, Request,
    SessionClose, SessionTouch, SkillsCheck, SkillsReferences,
};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    CheckParams, CheckResult, EventKind, Freshness, PathMatches, PathsMatchParams,
    ReferencesParams, RuleLevel, SessionCloseParams, SessionTouchParams, SkillReference,
    SnapshotParams, SnapshotResult, SubscribeParams, TouchOp,
};
use skills_syntax::path::AbsPath;
use skills_syntax::text::decode;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::task::{AbortHandle, spawn_blocking};
use tokio::time::timeout;

use crate::bridges::lsp::dependency_watcher;
use crate::bridges::rules_page;
use crate::lifecycle::in_process::FallbackServer;
use crate::lifecycle::serve::boot_id;
use crate::rpc::server::Server;

/// How much of a file is read; a text of more nobody edits.
const READ_LIMIT: u64 = 16 * 1024 * 1024;

/// How long it is waited before a daemon that could not be reached is looked for again.
const REST: Duration = Duration::from_secs(5);

/// How long the last word to the daemon may take.
const LAST_WORD: Duration = Duration::from_millis(500);

/// How long the page about the rules may take, which is there before the first finding.
const MOST_FOR_PAGE: Duration = Duration::from_secs(1);

/// Who answers.
pub(crate) enum BackendMode {
    /// The daemon, which is started where there is none; without one a server in this process.
    Daemon(StartOptions),
    /// A server in this process, from the start.
    InProcessServer,
    /// This server, since the process is the daemon, on the daemon's own workers.
    Served(Arc<Server>, Handle),
}

/// A source that speaks the protocol.
pub(crate) struct Link(Arc<Inner>);

struct Inner {
    reach: BackendMode,
    caller: OnceCell<Caller>,
    /// The server in this process.
    own: Arc<FallbackServer>,
    /// It answers where the daemon hangs.
    stand_in: Arc<Fallback>,
    /// Whether there was no daemon when one was wanted.
    is_alone: AtomicBool,
    /// What the editor's sessions are called, before their number.
    name: String,
    /// What the editor calls its own conversations, where it has some.
    conversation: OnceLock<String>,
    /// The session of each place that a file was touched in.
    sessions: Mutex<BTreeMap<AbsPath, String>>,
}

/// One way to call.
#[derive(Clone)]
enum Caller {
    Daemon(Client),
    InProcessServer(Connection),
}

impl Caller {
    async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        match self {
            Self::Daemon(client) => client.call::<M>(params).await,
            Self::InProcessServer(connection) => connection.call::<M>(params).await,
        }
    }
}

impl Link {
    pub(crate) fn new(reach: BackendMode) -> Self {
        let own = Arc::<FallbackServer>::default();
        let standby = Arc::clone(&own);
        let stand_in = Fallback::new(move || {
            tracing::warn!("the daemon does not answer; skills are indexed here");
            standby.connect()
        });
        Self(Arc::new(Inner {
            reach,
            caller: OnceCell::new(),
            stand_in,
            own,
            is_alone: AtomicBool::new(false),
            name: format!("editor-{}", boot_id()),
            conversation: OnceLock::new(),
            sessions: Mutex::default(),
        }))
    }

    /// Ends what was begun: the editor's sessions, since nobody works in them any more, and the
    /// server in this process.
    pub(crate) async fn close(&self) {
        let sessions = std::mem::take(&mut *self.0.sessions());
        if let Some(caller) = self.0.caller.get() {
            let closing = async {
                for session in sessions.into_values() {
                    let params =
                        SessionCloseParams { session: Some(session), ..Default::default() };
                    // One that is not closed is forgotten when it has not been used for long.
                    let _ = caller.call::<SessionClose>(&params).await;
                }
            };
            let _ = timeout(LAST_WORD, closing).await;
        }
        let own = Arc::clone(&self.0.own);
        // It waits for its thread.
        let _ = spawn_blocking(move || own.stop()).await;
    }

    /// Calls a method; what fails is logged, and nothing is known then.
    fn ask<M: Request>(&self, params: M::Params) -> Answer<M::Result>
    where
        M::Params: Sync,
    {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let caller = inner.caller.get_or_init(|| inner.connect()).await;
            known(M::METHOD, caller.call::<M>(&params).await)
        })
    }

    /// As [`Link::ask`], for an answer that may come in pages.
    fn ask_whole<M: Paged>(&self, params: M::Params) -> Answer<M::Result>
    where
        M::Params: Sync,
        M::Result: Sync,
    {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let caller = inner.caller.get_or_init(|| inner.connect()).await;
            let mut pages = Pages::<M>::new(params);
            loop {
                let answer = caller.call::<M>(pages.params()).await;
                if let Some(whole) = known(M::METHOD, pages.take(answer))? {
                    return Some(whole);
                }
            }
        })
    }
}

/// Says what there is of an answer; what failed is logged, and nothing is known then.
fn known<T>(method: &str, answer: Result<T, ClientError>) -> Option<T> {
    answer.inspect_err(|error| tracing::info!(method, %error, "nothing was answered")).ok()
}

impl Inner {
    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeMap<AbsPath, String>> {
        // One entry is put in at a time.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session whose eyes a place is seen with; none before a file was touched there.
    fn session(&self, place: &AbsPath) -> Option<String> {
        match self.conversation.get() {
            Some(name) => Some(format!("{name}:{}", place.display())),
            None => self.sessions().get(place).cloned(),
        }
    }

    /// Returns a new way to call. A connection has room for few subscriptions, so each place that
    /// is followed takes one of its own.
    async fn connect(&self) -> Caller {
        if let BackendMode::Daemon(options) = &self.reach
            && !self.is_alone.load(Ordering::Relaxed)
        {
            let client = Client::new(options.clone()).with_fallback(Arc::clone(&self.stand_in));
            match client.connection().await {
                Ok(_) => return Caller::Daemon(client),
                Err(error) => {
                    tracing::info!(%error, "no daemon can be reached; skills are indexed here");
                    self.is_alone.store(true, Ordering::Relaxed);
                }
            }
        }
        let stream = match &self.reach {
            BackendMode::Served(server, daemon) => pair(server, daemon),
            BackendMode::Daemon(_) | BackendMode::InProcessServer => {
                let own = Arc::clone(&self.own);
                let connected = spawn_blocking(move || own.connect()).await;
                connected.map_err(io::Error::from).and_then(|it| it)
            }
        };
        let stream = stream.and_then(|it| {
            it.set_nonblocking(true)?;
            UnixStream::from_std(it)
        });
        Caller::InProcessServer(match stream {
            Ok(stream) => Connection::new(stream),
            // Whoever calls is told that nobody is there.
            Err(_) => Connection::new(tokio::io::empty()),
        })
    }
}

/// Connects to a server of this process, which answers on these workers.
fn pair(server: &Arc<Server>, daemon: &Handle) -> io::Result<StdStream> {
    let (ours, theirs) = StdStream::pair()?;
    theirs.set_nonblocking(true)?;
    // The stream belongs to the workers that wait for it.
    let theirs = {
        let _entered = daemon.enter();
        UnixStream::from_std(theirs)?
    };
    daemon.spawn(server.serve_stream(theirs));
    Ok(ours)
}

/// Ends what follows a place.
struct Follow(Vec<AbortHandle>);

impl Drop for Follow {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

impl Backend for Link {
    fn subscribe(
        &self,
        place: &AbsPath,
        profiles: &[String],
        on_change: OnChange,
    ) -> Box<dyn Any + Send> {
        let profiles: Vec<String> = match profiles {
            [] => DEFAULT_PROFILES.map(str::to_owned).to_vec(),
            named => named.to_vec(),
        };
        let encoding = encoding_of([&**place]);
        let session = self.0.session(place);
        let params = move |profile: String, place: &AbsPath| SubscribeParams {
            kinds: vec![
                EventKind::SkillsChanged,
                EventKind::DiagnosticsChanged,
                EventKind::HealthChanged,
            ],
            cwd: Some(encode(place, encoding)),
            path_encoding: encoding,
            profile: Some(profile),
            session: session.clone(),
            ..SubscribeParams::default()
        };
        let (inner, place) = (Arc::clone(&self.0), place.clone());
        let task = tokio::spawn(async move {
            let caller = inner.connect().await;
            let mut following = tokio::task::JoinSet::new();
            for profile in profiles {
                let (caller, on_change) = (caller.clone(), Arc::clone(&on_change));
                following.spawn(heed(caller, params(profile, &place), on_change));
            }
            while following.join_next().await.is_some() {}
        });
        Box::new(Follow(vec![task.abort_handle()]))
    }

    fn watch(&self, targets: Vec<WatchTarget>, on_change: OnChange) -> Box<dyn Any + Send> {
        let task = tokio::spawn(dependency_watcher::heed(targets, config_file(), on_change));
        Box::new(Follow(vec![task.abort_handle()]))
    }

    fn snapshot(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        since: Option<String>,
    ) -> Answer<SnapshotResult> {
        let session = self.0.session(&place);
        let encoding = encoding_of([&*place]);
        self.ask_whole::<IndexSnapshot>(SnapshotParams {
            profiles,
            since,
            session,
            cwd: Some(encode(&place, encoding)),
            path_encoding: encoding,
            ..SnapshotParams::default()
        })
    }

    fn match_globs(
        &self,
        place: AbsPath,
        patterns: Vec<String>,
        WalkOptions { max_files, fresh }: WalkOptions,
    ) -> Answer<Vec<PathMatches>> {
        let encoding = encoding_of([&*place]);
        let answer = self.ask::<PathsMatch>(PathsMatchParams {
            patterns,
            limit: Some(max_files),
            freshness: fresh.then_some(Freshness::Verified),
            cwd: Some(encode(&place, encoding)),
            path_encoding: encoding,
            ..PathsMatchParams::default()
        });
        Box::pin(async move { Some(answer.await?.matches) })
    }

    fn references(&self, place: AbsPath, name: Option<String>) -> Answer<Vec<SkillReference>> {
        let encoding = encoding_of([&*place]);
        let answer = self.ask_whole::<SkillsReferences>(ReferencesParams {
            name,
            // A file that is missed would keep the old name of a skill.
            freshness: Some(Freshness::Verified),
            limit: Some(u32::MAX),
            cwd: Some(encode(&place, encoding)),
            path_encoding: encoding,
            ..ReferencesParams::default()
        });
        Box::pin(async move { Some(answer.await?.references) })
    }

    fn check(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        levels: Vec<RuleLevel>,
    ) -> Answer<CheckResult> {
        let encoding = encoding_of([&*place]);
        self.ask_whole::<SkillsCheck>(CheckParams {
            profiles,
            levels,
            cwd: Some(encode(&place, encoding)),
            path_encoding: encoding,
            ..CheckParams::default()
        })
    }

    fn rules_page(&self) -> Answer<String> {
        // A home that does not answer keeps no editor waiting.
        let put = timeout(MOST_FOR_PAGE, spawn_blocking(rules_page::put));
        Box::pin(async move { put.await.ok()?.ok()? })
    }

    fn facts(&self, path: AbsPath, looks: Vec<String>) -> Answer<SkillDirFacts> {
        Box::pin(async move { spawn_blocking(move || inspect::facts(&path, &looks)).await.ok() })
    }

    fn entries(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>> {
        let look = move || paths.iter().map(|it| inspect::entry(it)).collect();
        Box::pin(async move { spawn_blocking(look).await.ok() })
    }

    fn locate(&self, paths: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>> {
        let look = |it: &AbsPath| DocumentLocation {
            worktree: inspect::worktree_top(it),
            exists: inspect::entry(it).is_some(),
        };
        let look = move || paths.iter().map(look).collect();
        Box::pin(async move { spawn_blocking(look).await.ok() })
    }

    fn escape_worktree(&self, paths: Vec<AbsPath>) -> Answer<Vec<bool>> {
        let look = move || paths.iter().map(inspect::leads_out).collect();
        Box::pin(async move { spawn_blocking(look).await.ok() })
    }

    fn find_texts(&self, search: TextSearch) -> Answer<Vec<AbsPath>> {
        Box::pin(async move { spawn_blocking(move || inspect::search(search)).await.ok() })
    }

    fn read(&self, path: AbsPath) -> Answer<String> {
        let read = move || {
            let file = inspect::read_fenced(&path, None, READ_LIMIT).ok();
            let file = file.filter(|it| !it.truncated)?;
            Some(decode(&file.bytes).text)
        };
        Box::pin(async move { spawn_blocking(read).await.ok()? })
    }

    fn make_executable(&self, path: AbsPath, relative: String) -> Answer<()> {
        let made = move || {
            let made = inspect::make_executable(&path, &relative);
            made.inspect_err(|error| tracing::info!(%error, "a file stays as it is")).ok()
        };
        Box::pin(async move { spawn_blocking(made).await.ok()? })
    }

    fn use_client_sessions(&self, name: String) {
        // An editor says it once, when it begins.
        let _ = self.0.conversation.set(name);
    }

    fn touch(&self, place: AbsPath, path: AbsPath) -> Answer<()> {
        if self.0.conversation.get().is_some() {
            return Box::pin(std::future::ready(None));
        }
        let session = {
            let mut sessions = self.0.sessions();
            let number = sessions.len();
            let name = || format!("{}-{number}", self.0.name);
            sessions.entry(place.clone()).or_insert_with(name).clone()
        };
        let encoding = encoding_of([&*place, &*path]);
        let answer = self.ask::<SessionTouch>(SessionTouchParams {
            paths: vec![encode(&path, encoding)],
            op: Some(TouchOp::Read),
            session: Some(session),
            cwd: Some(encode(&place, encoding)),
            path_encoding: encoding,
            ..SessionTouchParams::default()
        });
        Box::pin(async move { answer.await.map(drop) })
    }
}

/// Rings for whatever a view tells, from one daemon to the next.
async fn heed(caller: Caller, params: SubscribeParams, on_change: OnChange) {
    match caller {
        Caller::Daemon(client) => {
            let mut subscription = Subscription::new(client, params);
            let mut is_first = true;
            loop {
                match subscription.next().await {
                    // The first one is followed by a snapshot anyway.
                    Ok(SubscriptionEvent::Begun(_)) if is_first => is_first = false,
                    Ok(SubscriptionEvent::Begun(_) | SubscriptionEvent::Event(_)) => on_change(),
                    Err(error) => {
                        tracing::debug!(%error, "a place is not followed for now");
                        tokio::time::sleep(REST).await;
                    }
                }
            }
        }
        Caller::InProcessServer(connection) => {
            let Ok(begun) = connection.call::<EventsSubscribe>(&params).await else { return };
            let name = begun.subscription;
            while connection.next_note_of(EventsEvent::METHOD, &name).await.is_some() {
                on_change();
            }
        }
    }
}
