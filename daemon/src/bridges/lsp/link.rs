//! [`LspBackend`]: the language server's backend. Calls the daemon or a server in this process over the
//! protocol, and reads a few facts from the disk directly.
//!
//! Both servers give the same answers, so an editor works the same without a daemon. If the daemon
//! restarts, the next call reconnects and subscriptions are renewed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use rustix::process::Pid;
use skills_agents::profile::DEFAULT_PROFILES;
use skills_agents::references::TextSearch;
use skills_agents::tool_names::ToolNames;
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::connection::Connection;
use skills_client::environment::{self, config_file, socket_location};
use skills_client::fallback::Fallback;
use skills_client::pages::{Paged, Pages};
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_discovery::discover::Entry;
use skills_engine::files::inspect::{self, BundledTextsCache, TextIndex};
use skills_engine::watch::hints::HintQueue;
use skills_engine::watch::notify_watcher::recommended;
use skills_engine::watch::service::WatchService;
use skills_lint::SkillDirFacts;
use skills_lsp::{
    Answer, Backend, DocumentLocation, OnChange, WalkOptions, WatchHandle, WatchTarget,
};
use skills_platform::lock::lock;
use skills_platform::process::{ancestors, wait_for_end};
use skills_protocol::env::{CLAUDE_CONFIG_DIR, PATH, RUN_VARIABLES};
use skills_protocol::limits::Limits;
use skills_protocol::method::{
    EventsEvent, EventsSubscribe, IndexSnapshot, Notification as _, PathsMatch, Request,
    SessionClose, SessionTouch, SkillsCheck, SkillsReferences, SkillsUsage,
};
use skills_protocol::path::{decode_absolute, encode, encode_os, encoding_of};
use skills_protocol::wire::{
    CheckParams, CheckResult, Context, Contextual, EventKind, Freshness, Include, PathMatches,
    PathsMatchParams, ReferencesParams, RuleLevel, SessionCloseParams, SessionTouchParams,
    SkillReference, SkillUsage, SnapshotParams, SnapshotResult, SubscribeParams, TouchOp,
    UsageParams,
};
use skills_syntax::path::AbsPath;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::bridges::lsp::dependency_watcher::DependencyWatcher;
use crate::bridges::rules_page;
use crate::lifecycle::daemon::boot_id;
use crate::lifecycle::in_process::FallbackServer;
use crate::lifecycle::settings::profile_variables;
use crate::rpc::server::Server;

/// Maximum size of a file that is read; larger ones are not edited by hand.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum size of the cached texts of unopened files, in bytes. Searches for mentions and
/// renames fill it.
const MAX_CACHED_BYTES: usize = 32 * 1024 * 1024;

/// Pause before trying to reach the daemon again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Maximum time for which a snapshot waits for the subscription to its changes.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time for closing the sessions.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum time for writing the rules page, which is needed before the first diagnostic.
const PAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// The server that answers the language server's calls.
pub(crate) enum BackendMode {
    /// The daemon, started if needed; a server in this process if that fails.
    Daemon(StartOptions),
    /// A server in this process from the start.
    InProcessServer,
    /// The daemon that this process is, on its own workers, and its watches.
    Served(Arc<Server>, Handle, WatchService),
}

/// The language server's backend.
pub(crate) struct LspBackend(Arc<Inner>);

struct Inner {
    backend_mode: BackendMode,
    caller: OnceCell<CallTarget>,
    /// Variables that discovery and the choice of agents depend on, sent with each call.
    environment: Vec<(String, OsString)>,
    /// The processes that started this one. Empty in the daemon: a socket is closed with the
    /// editor's process.
    ancestors: Vec<Pid>,
    bundled_texts: BundledTextsCache,
    /// Texts of unopened files, which a search for mentions asks for after each save.
    texts: TextIndex,
    /// The server in this process.
    own: Arc<FallbackServer>,
    /// Watches of a process that is not the daemon; started by the first document.
    watch: OnceLock<WatchService>,
    /// Answers while the daemon hangs.
    fallback: Arc<Fallback>,
    /// True once the daemon could not be reached or started.
    is_alone: AtomicBool,
    /// Prefix of the session ids; a number follows.
    name: String,
    /// Prefix of the editor's own session ids, if it manages sessions itself.
    client_sessions: OnceLock<String>,
    /// The session of each directory in which a file was touched.
    sessions: Mutex<BTreeMap<AbsPath, String>>,
}

/// A connection for calls.
#[derive(Clone)]
enum CallTarget {
    Daemon(Client),
    InProcessServer(Connection),
}

impl CallTarget {
    async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        match self {
            Self::Daemon(client) => client.call::<M>(params).await,
            Self::InProcessServer(connection) => connection.call::<M>(params).await,
        }
    }
}

impl LspBackend {
    pub(crate) fn new(backend_mode: BackendMode) -> Self {
        let own = Arc::<FallbackServer>::default();
        let in_process = Arc::clone(&own);
        let fallback = Fallback::new(move || {
            tracing::warn!("the daemon does not answer; indexing skills in this process");
            in_process.connect()
        });
        let is_socket = matches!(backend_mode, BackendMode::Served(..));
        Self(Arc::new(Inner {
            ancestors: if is_socket { Vec::new() } else { ancestors() },
            environment: sent_environment(is_socket),
            backend_mode,
            caller: OnceCell::new(),
            fallback,
            bundled_texts: BundledTextsCache::default(),
            texts: TextIndex::new(MAX_CACHED_BYTES),
            own,
            watch: OnceLock::new(),
            is_alone: AtomicBool::new(false),
            name: format!("editor-{}", boot_id()),
            client_sessions: OnceLock::new(),
            sessions: Mutex::default(),
        }))
    }

    /// Closes the editor's sessions and stops the server in this process.
    pub(crate) async fn close(&self) {
        let sessions = std::mem::take(&mut *lock(&self.0.sessions));
        if let Some(caller) = self.0.caller.get() {
            let closing = async {
                for session in sessions.into_values() {
                    let params =
                        SessionCloseParams { session: Some(session), ..Default::default() };
                    // A session that stays open expires when it is unused for long.
                    let _ = caller.call::<SessionClose>(&params).await;
                }
            };
            let _ = timeout(CLOSE_TIMEOUT, closing).await;
        }
        let own = Arc::clone(&self.0.own);
        // Stopping joins the server's thread.
        let _ = spawn_blocking(move || own.stop()).await;
    }

    /// Calls a method. Failures are logged and give none.
    fn ask<M: Request>(&self, params: M::Params) -> Answer<M::Result>
    where
        M::Params: Sync,
    {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let caller = inner.caller.get_or_init(|| inner.connect()).await;
            log_failure(M::METHOD, caller.call::<M>(&params).await)
        })
    }

    /// Like [`LspBackend::ask`], for answers that may be paged.
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
                if let Some(whole) = log_failure(M::METHOD, pages.take(answer))? {
                    return Some(whole);
                }
            }
        })
    }
}

/// Returns an answer; a failure is logged and gives none.
fn log_failure<T>(method: &str, answer: Result<T, ClientError>) -> Option<T> {
    answer.inspect_err(|error| tracing::info!(method, %error, "call failed")).ok()
}

/// Returns the variables to send.
///
/// A server on a socket has no variables of its editor, and sends the daemon's, except those of a
/// running agent: an agent may have started the daemon for others.
fn sent_environment(is_socket: bool) -> Vec<(String, OsString)> {
    let all = environment::discovery().into_iter();
    let all = all.filter(|(name, _)| !is_socket || !RUN_VARIABLES.contains(name));
    let all = all.map(|(name, value)| (name.to_owned(), value));
    // A variable that is unset is sent empty: the daemon would use its own.
    let own = profile_variables().into_iter();
    let own = own.map(|(_, name)| {
        let value = environment::value(&name).unwrap_or_default();
        (name, value)
    });
    all.chain(own).collect()
}

/// Returns parameters with this context.
fn with_context<P: Contextual>(mut params: P, context: Context) -> P {
    params.set_context(context);
    params
}

impl Inner {
    /// Returns the context of a call about a directory, in an encoding for `paths` too.
    fn context(&self, place: &AbsPath, session: Option<String>, paths: &[AbsPath]) -> Context {
        let values = self.environment.iter().map(|(_, value)| Path::new(value));
        let path_encoding = encoding_of(paths.iter().chain([place]).map(|it| &**it).chain(values));
        let value =
            |(name, value): &(String, OsString)| (name.clone(), encode_os(value, path_encoding));
        Context {
            cwd: Some(encode(place, path_encoding)),
            session,
            environment: Some(self.environment.iter().map(value).collect()),
            path_encoding,
            ..Context::default()
        }
    }

    /// Returns the session for a directory; none before a file was touched there.
    fn session(&self, place: &AbsPath) -> Option<String> {
        match self.client_sessions.get() {
            Some(name) => Some(format!("{name}:{}", place.display())),
            None => lock(&self.sessions).get(place).cloned(),
        }
    }

    /// Returns the watches of this process.
    fn watch_service(&self) -> WatchService {
        if let BackendMode::Served(_, _, watch) = &self.backend_mode {
            return watch.clone();
        }
        let start = || {
            let cookies = socket_location().map_err(io::Error::other)?.directory().join(&self.name);
            WatchService::start(recommended(cookies), HintQueue::new(|| {}))
        };
        let started = self.watch.get_or_init(|| {
            start().unwrap_or_else(|error| {
                tracing::info!(%error, "cannot watch files that open documents depend on");
                WatchService::default()
            })
        });
        started.clone()
    }

    /// Opens a new connection. A connection has room for few subscriptions, so each subscribed
    /// directory takes its own.
    async fn connect(&self) -> CallTarget {
        if let BackendMode::Daemon(options) = &self.backend_mode
            && !self.is_alone.load(Ordering::Relaxed)
        {
            let client = Client::new(options.clone()).with_fallback(Arc::clone(&self.fallback));
            match client.connection().await {
                Ok(_) => return CallTarget::Daemon(client),
                Err(error) => {
                    tracing::info!(%error, "cannot reach or start a daemon; indexing skills in this process");
                    self.is_alone.store(true, Ordering::Relaxed);
                }
            }
        }
        let stream = match &self.backend_mode {
            BackendMode::Served(server, daemon, _) => pair(server, daemon),
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
        CallTarget::InProcessServer(match stream {
            Ok(stream) => Connection::new(stream),
            // Calls on it fail with a closed connection.
            Err(_) => Connection::new(tokio::io::empty()),
        })
    }
}

/// Connects to the server in this process, which answers on the daemon's workers.
fn pair(server: &Arc<Server>, daemon: &Handle) -> io::Result<StdStream> {
    let (ours, theirs) = StdStream::pair()?;
    theirs.set_nonblocking(true)?;
    // The stream must be registered with the runtime that polls it.
    let theirs = {
        let _entered = daemon.enter();
        UnixStream::from_std(theirs)?
    };
    daemon.spawn(server.serve_stream(theirs));
    Ok(ours)
}

impl Backend for LspBackend {
    fn subscribe(
        &self,
        place: &AbsPath,
        profiles: &[String],
        on_change: OnChange,
    ) -> Answer<WatchHandle> {
        let profiles: Vec<String> = match profiles {
            [] => DEFAULT_PROFILES.map(str::to_owned).to_vec(),
            named => named.to_vec(),
        };
        let context = self.0.context(place, self.0.session(place), &[]);
        let params = move |profile: String| {
            let kinds = vec![
                EventKind::SkillsChanged,
                EventKind::DiagnosticsChanged,
                EventKind::HealthChanged,
            ];
            let context = Context { profile: Some(profile), ..context.clone() };
            with_context(SubscribeParams { kinds, ..SubscribeParams::default() }, context)
        };
        let inner = Arc::clone(&self.0);
        // Closed once each subscription has begun or failed.
        let (beginning, mut begun) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let mut following = tokio::task::JoinSet::new();
            for profiles in profiles.chunks(Limits::default().subscriptions as usize) {
                let caller = inner.connect().await;
                for profile in profiles {
                    let (caller, on_change) = (caller.clone(), Arc::clone(&on_change));
                    let (params, beginning) = (params(profile.clone()), beginning.clone());
                    following.spawn(follow_events(caller, params, beginning, on_change));
                }
            }
            drop(beginning);
            while following.join_next().await.is_some() {}
        });
        let handle = WatchHandle::new(task.abort_handle());
        Box::pin(async move {
            let _ = timeout(SUBSCRIBE_TIMEOUT, begun.recv()).await;
            Some(handle)
        })
    }

    fn watch(&self, targets: Vec<WatchTarget>, on_change: OnChange) -> Answer<WatchHandle> {
        let watcher = DependencyWatcher {
            service: self.0.watch_service(),
            targets,
            configuration: config_file(),
        };
        Box::pin(async move {
            let watch = watcher.arm().await?;
            let task = tokio::spawn(watcher.watch(watch, on_change));
            Some(WatchHandle::new(task.abort_handle()))
        })
    }

    fn watch_texts(&self, place: AbsPath, on_change: OnChange) -> Answer<WatchHandle> {
        let service = self.0.watch_service();
        Box::pin(async move {
            let mut watch = service.subscribe()?;
            let arm = move || {
                let home = std::env::var_os("HOME").and_then(|it| AbsPath::new(it.as_ref()).ok());
                let top = inspect::worktree_top(&place).unwrap_or(place);
                inspect::watch_texts(&mut watch, &top, home.as_ref()).then_some(watch)
            };
            let mut watch = spawn_blocking(arm).await.ok()??;
            let task = tokio::spawn(async move {
                watch.changed().await;
                on_change();
            });
            Some(WatchHandle::new(task.abort_handle()))
        })
    }

    fn snapshot(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        since: Option<String>,
    ) -> Answer<SnapshotResult> {
        let context = self.0.context(&place, self.0.session(&place), &[]);
        let params = SnapshotParams { profiles, since, ..SnapshotParams::default() };
        self.ask_whole::<IndexSnapshot>(with_context(params, context))
    }

    fn match_globs(
        &self,
        place: AbsPath,
        patterns: Vec<String>,
        WalkOptions { max_files, fresh }: WalkOptions,
    ) -> Answer<Vec<PathMatches>> {
        let freshness = fresh.then_some(Freshness::Verified);
        let context = Context { freshness, ..self.0.context(&place, None, &[]) };
        let limit = Some(max_files);
        let params = PathsMatchParams { patterns, limit, ..PathsMatchParams::default() };
        let answer = self.ask::<PathsMatch>(with_context(params, context));
        Box::pin(async move { Some(answer.await?.matches) })
    }

    fn references(&self, place: AbsPath, name: Option<String>) -> Answer<Vec<SkillReference>> {
        let context = self.0.context(&place, None, &[]);
        let limit = Some(u32::MAX);
        let params = ReferencesParams { name, limit, ..ReferencesParams::default() };
        let answer = self.ask_whole::<SkillsReferences>(with_context(params, context));
        Box::pin(async move { Some(answer.await?.references) })
    }

    fn used(&self, place: AbsPath, profile: String) -> Answer<Vec<AbsPath>> {
        let profile = Some(profile);
        let context = Context { profile, ..self.0.context(&place, None, &[]) };
        let params = UsageParams { include: Include::ALL.to_vec(), ..UsageParams::default() };
        let answer = self.ask::<SkillsUsage>(with_context(params, context));
        let path =
            |it: SkillUsage| AbsPath::new(&decode_absolute(&it.path, it.path_encoding).ok()?).ok();
        Box::pin(async move { Some(answer.await?.skills.into_iter().filter_map(path).collect()) })
    }

    fn tool_names(&self, place: AbsPath) -> Answer<ToolNames> {
        let dir = |variable| AbsPath::new(std::env::var_os(variable)?.as_ref()).ok();
        let read = move || {
            let own = dir(CLAUDE_CONFIG_DIR);
            let state = own.clone().or_else(|| dir("HOME")).map(|it| it.child(".claude.json"));
            let own = own.or_else(|| Some(dir("HOME")?.child(".claude")));
            inspect::tool_names(&place, own.as_ref(), state.as_ref())
        };
        Box::pin(async move { spawn_blocking(read).await.ok() })
    }

    fn check(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        levels: Vec<RuleLevel>,
    ) -> Answer<CheckResult> {
        let context = self.0.context(&place, None, &[]);
        let params = CheckParams { profiles, levels, ..CheckParams::default() };
        self.ask_whole::<SkillsCheck>(with_context(params, context))
    }

    fn rules_page(&self) -> Answer<String> {
        // A home directory that does not answer must not block the editor.
        let put = timeout(PAGE_TIMEOUT, spawn_blocking(rules_page::put));
        Box::pin(async move { put.await.ok()?.ok()? })
    }

    fn facts(&self, path: AbsPath, looks: Vec<String>) -> Answer<SkillDirFacts> {
        let inner = Arc::clone(&self.0);
        let facts = move || inspect::facts(&path, &looks, &inner.bundled_texts);
        Box::pin(async move { spawn_blocking(facts).await.ok() })
    }

    fn entries(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>> {
        let look = move || paths.iter().map(|it| inspect::entry(it)).collect();
        Box::pin(async move { spawn_blocking(look).await.ok() })
    }

    fn real_paths(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<AbsPath>>> {
        let real = |it: &AbsPath| AbsPath::new(&it.canonicalize().ok()?).ok();
        let look = move || paths.iter().map(real).collect();
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
        let inner = Arc::clone(&self.0);
        let find = move || inspect::search(search, &inner.texts);
        Box::pin(async move { spawn_blocking(find).await.ok() })
    }

    fn read(&self, path: AbsPath) -> Answer<String> {
        let inner = Arc::clone(&self.0);
        let read = move || Some(inner.texts.read(&path, MAX_FILE_BYTES)?.as_ref().to_owned());
        Box::pin(async move { spawn_blocking(read).await.ok()? })
    }

    fn make_executable(&self, path: AbsPath, relative: String) -> Answer<()> {
        let made = move || {
            let made = inspect::make_executable(&path, &relative);
            made.inspect_err(|error| tracing::info!(%error, "failed to make a file executable"))
                .ok()
        };
        Box::pin(async move { spawn_blocking(made).await.ok()? })
    }

    fn process_ended(&self, process: u32) -> Answer<()> {
        // The id of an editor outside of this container is that of another process here, or none.
        let pid = process.try_into().ok().and_then(Pid::from_raw);
        let pid = pid.filter(|it| self.0.ancestors.contains(it));
        Box::pin(async move {
            let pid = pid?;
            let (sender, ended) = oneshot::channel();
            let thread = thread::Builder::new().name("editor-end".to_owned());
            let wait = move || drop(wait_for_end(pid).map(|()| sender.send(())));
            thread.spawn(wait).ok()?;
            ended.await.ok()
        })
    }

    fn use_client_sessions(&self, name: String) {
        // The editor sends it once, at initialization.
        let _ = self.0.client_sessions.set(name);
    }

    fn touch(&self, place: AbsPath, paths: Vec<AbsPath>) -> Answer<()> {
        if self.0.client_sessions.get().is_some() {
            return Box::pin(std::future::ready(None));
        }
        let session = {
            let mut sessions = lock(&self.0.sessions);
            let number = sessions.len();
            let name = || format!("{}-{number}", self.0.name);
            sessions.entry(place.clone()).or_insert_with(name).clone()
        };
        let mut context = self.0.context(&place, Some(session), &paths);
        // Without an agent, the session activates the skills of every agent.
        if let Some(environment) = &mut context.environment {
            environment.retain(|name, _| name != PATH && !RUN_VARIABLES.contains(&name.as_str()));
        }
        let paths = paths.iter().map(|it| encode(it, context.path_encoding)).collect();
        let op = Some(TouchOp::Read);
        let params = SessionTouchParams { paths, op, ..SessionTouchParams::default() };
        let answer = self.ask::<SessionTouch>(with_context(params, context));
        Box::pin(async move { answer.await.map(drop) })
    }
}

/// Calls `on_change` for each event of a subscription, across daemon restarts. Drops `beginning` once
/// the subscription has begun or failed.
async fn follow_events(
    caller: CallTarget,
    params: SubscribeParams,
    beginning: mpsc::Sender<()>,
    on_change: OnChange,
) {
    match caller {
        CallTarget::Daemon(client) => {
            let mut subscription = Subscription::new(client, params);
            let mut beginning = Some(beginning);
            loop {
                match subscription.next().await {
                    // The caller that waits for the first subscription takes a snapshot after it.
                    Ok(SubscriptionEvent::Begun(_))
                        if beginning.take().is_some_and(|it| !it.is_closed()) => {}
                    Ok(SubscriptionEvent::Begun(_) | SubscriptionEvent::Event(_)) => on_change(),
                    Err(error) => {
                        beginning = None;
                        tracing::debug!(%error, "subscription failed; retrying");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
            }
        }
        CallTarget::InProcessServer(connection) => {
            let Ok(begun) = connection.call::<EventsSubscribe>(&params).await else { return };
            drop(beginning);
            let name = begun.subscription;
            while connection.next_note_of(EventsEvent::METHOD, &name).await.is_some() {
                on_change();
            }
        }
    }
}
