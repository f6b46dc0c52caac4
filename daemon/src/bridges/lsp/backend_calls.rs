//! [`BackendCalls`]: connections of the language server to the daemon or to a server in this
//! process, and the context of its calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rustix::process::Pid;
use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::connection::Connection;
use skills_client::environment::{self, socket_location};
use skills_client::fallback::Fallback;
use skills_client::pages::{Paged, Pages};
use skills_client::spawn::StartOptions;
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_engine::inspect::{BundledTextsCache, TextIndex};
use skills_engine::watch::hints::HintQueue;
use skills_engine::watch::notify_watcher::recommended;
use skills_engine::watch::service::WatchService;
use skills_lsp::{Answer, OnChange};
use skills_platform::lock::lock;
use skills_platform::process::{ancestors, is_visible};
use skills_protocol::env::RUN_VARIABLES;
use skills_protocol::method::{
    EventsEvent, EventsSubscribe, Notification as _, Request, SessionClose,
};
use skills_protocol::path::{encode, encode_os, encoding_of};
use skills_protocol::wire::{Context, Contextual, SessionCloseParams, SubscribeParams};
use skills_syntax::path::AbsPath;
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, mpsc};
use tokio::time::timeout;

use crate::lifecycle::daemon::boot_id;
use crate::lifecycle::in_process::FallbackServer;
use crate::request::settings::profile_variables;
use crate::rpc::server::Server;
use crate::rpc::tasks::run_blocking;

/// Maximum size of the cached texts of unopened files, in bytes. Searches for mentions and
/// renames fill it.
const MAX_CACHED_BYTES: usize = 32 * 1024 * 1024;

const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Pause before trying to reach the daemon again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The server that answers the language server's calls.
pub(crate) enum BackendMode {
    /// The daemon, started if needed; a server in this process if that fails.
    Daemon(StartOptions),
    /// A server in this process from the start.
    InProcessServer,
    /// The daemon that this process is, on its own workers, and its watches.
    Served(Arc<Server>, Handle, WatchService),
}

/// Connections and state of the backend.
pub(super) struct BackendCalls {
    backend_mode: BackendMode,
    target: OnceCell<CallTarget>,
    /// Variables that discovery and the choice of agents depend on, sent with each call.
    environment: Vec<(String, OsString)>,
    /// The processes that started this one. None in the daemon: a socket is closed with the editor's
    /// process.
    ancestors: Option<Vec<Pid>>,
    pub(super) bundled_texts: BundledTextsCache,
    /// Texts of unopened files, which a search for mentions asks for after each save.
    pub(super) texts: TextIndex,
    in_process: Arc<FallbackServer>,
    /// Watches of a process that is not the daemon; started by the first document.
    watch: OnceLock<WatchService>,
    /// Answers while the daemon hangs.
    fallback: Arc<Fallback>,
    /// True once the daemon could not be reached or started.
    has_given_up_on_daemon: AtomicBool,
    /// Prefix of the session ids; a number follows.
    pub(super) name: String,
    /// Prefix of the editor's own session ids, if it manages sessions itself.
    pub(super) client_sessions: OnceLock<String>,
    /// The session of each directory in which a file was touched.
    pub(super) sessions: Mutex<BTreeMap<AbsPath, String>>,
}

#[derive(Clone)]
pub(super) enum CallTarget {
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

impl BackendCalls {
    /// Returns whether a process may be the client's, whose end ends the server.
    pub(super) fn may_be_client(&self, process: Pid) -> bool {
        self.ancestors.as_ref().is_some_and(|it| is_visible(process, it))
    }

    pub(super) fn new(backend_mode: BackendMode) -> Self {
        let in_process = Arc::<FallbackServer>::default();
        let fallback_server = Arc::clone(&in_process);
        let fallback = Fallback::new(move || {
            tracing::warn!("the daemon does not answer; indexing skills in this process");
            fallback_server.connect()
        });
        let is_socket = matches!(backend_mode, BackendMode::Served(..));
        Self {
            ancestors: (!is_socket).then(ancestors),
            environment: sent_environment(is_socket),
            backend_mode,
            target: OnceCell::new(),
            fallback,
            bundled_texts: BundledTextsCache::default(),
            texts: TextIndex::new(MAX_CACHED_BYTES),
            in_process,
            watch: OnceLock::new(),
            has_given_up_on_daemon: AtomicBool::new(false),
            name: format!("editor-{}", boot_id()),
            client_sessions: OnceLock::new(),
            sessions: Mutex::default(),
        }
    }

    /// Calls a method. Failures are logged and give none.
    pub(super) fn ask<M: Request>(self: &Arc<Self>, params: M::Params) -> Answer<M::Result>
    where
        M::Params: Sync,
    {
        let calls = Arc::clone(self);
        Box::pin(async move {
            let target = calls.target.get_or_init(|| calls.connect()).await;
            log_failure(M::METHOD, target.call::<M>(&params).await)
        })
    }

    /// Like [`BackendCalls::ask`], for answers that may be paged.
    pub(super) fn ask_whole<M: Paged>(self: &Arc<Self>, params: M::Params) -> Answer<M::Result>
    where
        M::Params: Sync,
        M::Result: Sync,
    {
        let calls = Arc::clone(self);
        Box::pin(async move {
            let target = calls.target.get_or_init(|| calls.connect()).await;
            let mut pages = Pages::<M>::new(params);
            loop {
                let answer = target.call::<M>(pages.params()).await;
                if let Some(whole) = log_failure(M::METHOD, pages.take(answer))? {
                    return Some(whole);
                }
            }
        })
    }

    /// Closes the editor's sessions and stops the server in this process.
    pub(super) async fn close(&self) {
        let sessions = std::mem::take(&mut *lock(&self.sessions));
        if let Some(target) = self.target.get() {
            let closing = async {
                for session in sessions.into_values() {
                    let params =
                        SessionCloseParams { session: Some(session), ..Default::default() };
                    // A session that stays open expires when it is unused for long.
                    let _ = target.call::<SessionClose>(&params).await;
                }
            };
            let _ = timeout(CLOSE_TIMEOUT, closing).await;
        }
        let in_process = Arc::clone(&self.in_process);
        // Stopping joins the server's thread.
        let _ = run_blocking(move || in_process.stop()).await;
    }

    /// Returns the context of a call about a directory, in an encoding for `paths` too.
    pub(super) fn context(
        &self,
        dir: &AbsPath,
        session: Option<String>,
        paths: &[AbsPath],
    ) -> Context {
        let values = self.environment.iter().map(|(_, value)| Path::new(value));
        let path_encoding = encoding_of(paths.iter().chain([dir]).map(|it| &**it).chain(values));
        let value =
            |(name, value): &(String, OsString)| (name.clone(), encode_os(value, path_encoding));
        Context {
            cwd: Some(encode(dir, path_encoding)),
            session,
            environment: Some(self.environment.iter().map(value).collect()),
            path_encoding,
            ..Context::default()
        }
    }

    /// Returns the session for a directory; none before a file was touched there.
    pub(super) fn session(&self, dir: &AbsPath) -> Option<String> {
        match self.client_sessions.get() {
            Some(name) => Some(format!("{name}:{}", dir.display())),
            None => lock(&self.sessions).get(dir).cloned(),
        }
    }

    pub(super) fn watch_service(&self) -> WatchService {
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
    pub(super) async fn connect(&self) -> CallTarget {
        if let BackendMode::Daemon(options) = &self.backend_mode
            && !self.has_given_up_on_daemon.load(Ordering::Relaxed)
        {
            let client = Client::new(options.clone()).with_fallback(Arc::clone(&self.fallback));
            match client.connection().await {
                Ok(_) => return CallTarget::Daemon(client),
                Err(error) => {
                    tracing::info!(%error, "cannot reach or start a daemon; indexing skills in this process");
                    self.has_given_up_on_daemon.store(true, Ordering::Relaxed);
                }
            }
        }
        let stream = match &self.backend_mode {
            BackendMode::Served(server, daemon, _) => connect_to_own_server(server, daemon),
            BackendMode::Daemon(_) | BackendMode::InProcessServer => {
                let in_process = Arc::clone(&self.in_process);
                let connected = run_blocking(move || in_process.connect()).await;
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
            Err(error) => {
                tracing::warn!(%error, "cannot connect to the server in this process");
                Connection::new(tokio::io::empty())
            }
        })
    }
}

/// Returns the variables to send. A server on a socket has no variables of its editor, and sends
/// the daemon's, except those of a running agent: an agent may have started the daemon for others.
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

/// Connects to the server in this process, which answers on the daemon's workers.
fn connect_to_own_server(server: &Arc<Server>, daemon: &Handle) -> io::Result<StdStream> {
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

/// Returns an answer; a failure is logged and gives none.
fn log_failure<T>(method: &str, answer: Result<T, ClientError>) -> Option<T> {
    answer.inspect_err(|error| tracing::info!(method, %error, "call failed")).ok()
}

/// Calls `on_change` for each event of a subscription, across daemon restarts. Drops `beginning`
/// once the subscription has begun or failed.
pub(super) async fn follow_events(
    target: CallTarget,
    params: SubscribeParams,
    beginning: mpsc::Sender<()>,
    on_change: OnChange,
) {
    match target {
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
            let Ok(begun) =
                connection.call::<EventsSubscribe>(&params).await.inspect_err(|error| {
                    tracing::warn!(%error, "subscription failed; changes on disk are not followed");
                })
            else {
                return;
            };
            drop(beginning);
            let name = begun.subscription;
            while connection.next_note_of(EventsEvent::METHOD, &name).await.is_some() {
                on_change();
            }
        }
    }
}

pub(super) fn with_context<P: Contextual>(mut params: P, context: Context) -> P {
    params.set_context(context);
    params
}
