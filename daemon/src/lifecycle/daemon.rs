//! [`Daemon`]: the composition of the daemon's parts, in the background or within another process.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jsonrpsee::Methods;
use skills_client::environment;
use skills_client::environment::cache_directory;
use skills_discovery::discover::Environment;
use skills_engine::inspect::{TextIndex, Walks};
use skills_engine::sessions::registry::Sessions;
use skills_engine::sessions::store::Store;
use skills_engine::watch::notify_watcher;
use skills_engine::{Engine, EngineError, Options};
use skills_protocol::env::DISCOVERY;
use skills_syntax::path::AbsPath;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::access::approval_queue::ApprovalQueue;
use crate::api::handlers;
use crate::api::parts::{GuardedParts, Parts, QueryParts, ServerParts};
use crate::api::session::SessionCalls;
use crate::request::Resolver;
use crate::request::counters::Counters;
use crate::request::settings::{Settings, source_config};
use crate::request::shutdown::Shutdown;
use crate::request::trust_cache::TrustCache;
use crate::rpc::events::Bus;
use crate::rpc::heavy::HeavyCalls;
use crate::rpc::page_cache::PageCache;
use crate::rpc::peer::ClientPeer;
use crate::rpc::server::Server;

/// Time that work on the blocking pool may continue after everything else has ended.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum size of the cached texts that may mention skills, in bytes.
const MOST_TEXTS: usize = 64 * 1024 * 1024;

const SESSIONS: &str = "sessions.db";

/// The parts of a running daemon; clones share them.
#[derive(Clone)]
pub(crate) struct Daemon {
    pub(crate) parts: Parts,
}

pub(crate) struct DaemonOptions {
    pub(crate) boot_id: String,
    /// None for a server within another process.
    pub(crate) socket: Option<PathBuf>,
    /// The environment variables that discovery depends on.
    pub(crate) environment: Environment,
    pub(crate) settings: Arc<Settings>,
    pub(crate) sessions: Sessions,
}

impl Daemon {
    /// Starts an engine and composes a daemon over it, with the user's session store. Watches for
    /// changes if there is a directory for the watcher's cookies.
    pub(crate) fn start(
        boot_id: String,
        socket: Option<PathBuf>,
        settings: Arc<Settings>,
        cookies: Option<PathBuf>,
        environment: Environment,
    ) -> Result<Self, EngineError> {
        let bus = Arc::<Bus>::default();
        let engine = Engine::start(Options {
            listener: Some(Box::new({
                let bus = Arc::clone(&bus);
                move |update| bus.view_changed(update)
            })),
            hints: cookies.map(notify_watcher::recommended),
            read_limit: settings.user().read_limit,
            cache: cache_directory(),
            ..Options::new(boot_id.clone())
        })?;
        let sessions = sessions();
        let options = DaemonOptions { boot_id, socket, environment, settings, sessions };
        Ok(Self::new(engine, bus, options))
    }

    pub(crate) fn new(engine: Engine, bus: Arc<Bus>, options: DaemonOptions) -> Self {
        let DaemonOptions { boot_id, socket, environment, settings, sessions } = options;
        engine.set_sources(source_config(&settings.user()));
        let shutdown = Shutdown::default();
        let counters = Arc::<Counters>::default();
        let heavy = HeavyCalls::default();
        let home = environment.get("HOME").and_then(|it| AbsPath::new(it.as_ref()).ok());
        let trusts = TrustCache::new(
            engine.clone(),
            sessions.clone(),
            Arc::clone(&settings),
            environment.clone(),
        );
        let own_peer = Arc::new(ClientPeer::new(0));
        let resolver = Arc::new(Resolver {
            engine,
            sessions,
            settings,
            trusts,
            bus,
            shutdown,
            environment,
            own_peer,
        });
        let access = Arc::new(Access {
            queue: ApprovalQueue::new(&boot_id),
            resolver: Arc::clone(&resolver),
            sessions: resolver.sessions.clone(),
            settings: Arc::clone(&resolver.settings),
            counters: Arc::clone(&counters),
            boot_id,
            home,
            keeps_questions: socket.is_some(),
        });
        let sessions = Arc::new(SessionCalls::new(Arc::clone(&resolver), counters));
        let queries = Arc::new(QueryParts {
            resolver: Arc::clone(&resolver),
            sessions: Arc::clone(&sessions),
            heavy: heavy.clone(),
            walks: Walks::default(),
            texts: TextIndex::new(MOST_TEXTS),
            page_cache: Arc::<PageCache>::default(),
        });
        let guarded = Arc::new(GuardedParts {
            resolver: Arc::clone(&resolver),
            sessions: Arc::clone(&sessions),
            access: Arc::clone(&access),
            heavy: heavy.clone(),
        });
        let server = Arc::new(ServerParts {
            resolver: Arc::clone(&resolver),
            access,
            heavy,
            socket,
            started: Instant::now(),
            open: Arc::default(),
        });
        Self { parts: Parts { resolver, sessions, queries, guarded, server } }
    }

    pub(crate) fn methods(&self) -> Methods {
        let mut methods = Methods::new();
        handlers::register_all(&mut methods, &self.parts);
        methods
    }

    pub(crate) fn server(&self) -> Arc<Server> {
        self.server_counting(Arc::clone(&self.parts.server.open))
    }

    /// Creates a server for calls of this process, which do not count as connections.
    pub(crate) fn uncounted_server(&self) -> Arc<Server> {
        self.server_counting(Arc::default())
    }

    fn server_counting(&self, open: Arc<AtomicU32>) -> Arc<Server> {
        let settings = Arc::clone(&self.parts.resolver.settings);
        Server::new(self.methods(), move || settings.limits(), self.closing().clone(), open)
    }

    /// Returns the token that is cancelled when the daemon shuts down.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.parts.resolver.shutdown.closing
    }
}

/// Returns a unique id of this run: no two processes of a user share process id and nanosecond.
pub(crate) fn boot_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_nanos(), std::process::id())
}

/// Returns the session store in the state directory; without such a directory, sessions end with
/// this process.
fn sessions() -> Sessions {
    let path = environment::state_directory().map(|it| it.join(SESSIONS));
    Sessions::new(Store::new(path))
}

/// Returns this process's environment. The user's profiles may depend on any variable; a call uses
/// only those that its profile names.
pub(crate) fn own_environment() -> Environment {
    let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
    env::vars_os().filter_map(named).collect()
}

/// Returns the environment of a daemon that a command has started. It has the variables of the
/// command's shell, which are not the user's own for other shells; the command has removed those of
/// agents, except `HOME` and the like.
pub(crate) fn environment_of_spawned() -> Environment {
    own_environment().into_iter().filter(|(name, _)| DISCOVERY.contains(&&**name)).collect()
}
