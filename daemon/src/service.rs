//! [`Service`]: the state that all handlers share, above all the engine.
//!
//! Resolves a call's parameters to a view and owns the method table. Handlers reach the engine only
//! through it, so that engine errors are reported uniformly.

mod trusts;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use jsonrpsee::Methods;
use skills_client::directory;
use skills_client::environment::socket_location;
use skills_discovery::discover::Environment;
use skills_engine::files::inspect::Walks;
use skills_engine::sessions::registry::Sessions;
use skills_engine::sessions::session::Session;
use skills_engine::sessions::touch::Levels;
use skills_engine::watch::stat_cache::{Generation, StatCache};
use skills_engine::{Engine, EngineError, Health, View, ViewKey};
use skills_protocol::error::RpcError;
use skills_protocol::wire::{Context, Event, EventKind};
use skills_syntax::path::AbsPath;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::access::approval_queue::ApprovalQueue;
use crate::access::sealed_copy::COPIES;
use crate::api::counters::Counters;
use crate::api::from_wire;
use crate::api::from_wire::RequestContext;
use crate::api::handlers;
use crate::lifecycle::resident_memory::Memory;
use crate::lifecycle::settings::{ConfigChange, Settings, source_config};
use crate::rpc::events::{Bus, EventSubject};
use crate::rpc::heavy::HeavyCalls;
use crate::rpc::page_cache::PageCache;
use crate::rpc::peer::Peer;

/// Maximum wait for sources that are fetched or started for the first time.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(5);

/// State shared by all handlers.
pub(crate) struct Service {
    pub(crate) engine: Engine,
    /// Publishes events to subscribers.
    pub(crate) bus: Arc<Bus>,
    /// Id of this run.
    pub(crate) boot_id: String,
    /// Path of the socket; none for a server within another process.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) started: Instant,
    pub(crate) memory: Memory,
    /// Number of open connections.
    pub(crate) open: Arc<AtomicU32>,
    /// Cancelled when the daemon shuts down.
    pub(crate) closing: CancellationToken,
    /// The daemon's own environment variables, for clients that send none.
    environment: Environment,
    pub(crate) sessions: Sessions,
    /// Cached walks over worktrees, for searches in their files.
    pub(crate) walks: Walks,
    /// Search results kept while their pages are requested.
    pub(crate) page_cache: PageCache,
    /// Limits and schedules expensive calls.
    pub(crate) heavy: HeavyCalls,
    /// Cached facts about directories that touches pass through.
    pub(crate) levels: Levels,
    /// Usage counters per agent.
    pub(crate) counters: Counters,
    /// The approval queue.
    pub(crate) requests: ApprovalQueue,
    /// The user's trust decisions; read on first use.
    trusts: OnceLock<Mutex<trusts::CachedTrust>>,
    /// Set when the engine has failed and the daemon must exit.
    failed: AtomicBool,
}

impl Service {
    /// Returns a service over this engine.
    pub(crate) fn new(
        engine: Engine,
        bus: Arc<Bus>,
        boot_id: String,
        socket: Option<PathBuf>,
        environment: Environment,
        settings: Arc<Settings>,
        sessions: Sessions,
    ) -> Arc<Self> {
        engine.provide(source_config(&settings.user()));
        Arc::new(Self {
            engine,
            bus,
            counters: Counters::default(),
            requests: ApprovalQueue::new(&boot_id),
            trusts: OnceLock::new(),
            boot_id,
            socket,
            settings,
            started: Instant::now(),
            memory: Memory::default(),
            open: Arc::default(),
            closing: CancellationToken::new(),
            environment,
            sessions,
            walks: Walks::default(),
            page_cache: PageCache::default(),
            heavy: HeavyCalls::default(),
            levels: Levels::default(),
            failed: AtomicBool::new(false),
        })
    }

    /// Returns the user's home directory.
    pub(crate) fn home(&self) -> Option<AbsPath> {
        AbsPath::new(self.environment.get("HOME")?.as_ref()).ok()
    }

    /// Returns this process's directory for sealed copies, beside the socket.
    pub(crate) fn copies(&self) -> io::Result<PathBuf> {
        let location = socket_location().map_err(io::Error::other)?;
        directory::prepare(&location).map_err(io::Error::other)?;
        Ok(location.directory().join(format!("{COPIES}{}", self.boot_id)))
    }

    /// Returns the method table over this service.
    pub(crate) fn methods(self: &Arc<Self>) -> Methods {
        let mut methods = Methods::new();
        handlers::register_all(&mut methods, self);
        methods
    }

    /// Returns whether the daemon exits because the engine has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Resolves a call's context: working directory, profile, environment and session.
    pub(crate) async fn request_context(
        &self,
        peer: &Peer,
        context: Context,
    ) -> Result<RequestContext, RpcError> {
        Ok(self.resolve_with_view(peer, context).await?.0)
    }

    /// Returns the view that a call asks for.
    pub(crate) async fn view(&self, peer: &Peer, context: Context) -> Result<Arc<View>, RpcError> {
        let (request, view) = self.resolve_with_view(peer, context).await?;
        let view = match view {
            Some(view) => view,
            None => self.view_for(&request).await?,
        };
        let view = self.wait_for_sources(&request, view).await?;
        let top = &view.resolution.worktree;
        // Mistakes in it are also reported to calls that name a profile themselves.
        self.settings.repository(top, StatCache::shared().hear()).await;
        Ok(view.with_health(&self.settings.health(Some(top))))
    }

    /// Applies changes of the user's configuration and of the store. Returns the watch generation
    /// that was current before.
    pub(crate) async fn refresh_settings(&self) -> Generation {
        let generation = StatCache::shared().hear();
        if let Some(edit) = self.settings.refresh(generation).await {
            // Enqueued before any later request.
            let config = self.settings.user();
            self.engine.set_read_limit(config.read_limit);
            self.engine.provide(source_config(&config));
            self.update_policy().await;
            self.publish_edit(edit);
        } else if self.trusts.get().is_none() {
            // This is the first call.
            self.update_policy().await;
        }
        self.refresh_trusts(generation).await;
        generation
    }

    /// Notifies all subscribers of a changed user configuration, since it holds profiles and rules
    /// that no view reports.
    fn publish_edit(&self, edit: ConfigChange) {
        let happened =
            [(edit.config, EventKind::DiagnosticsChanged), (edit.health, EventKind::HealthChanged)];
        for (_, kind) in happened.into_iter().filter(|it| it.0) {
            self.bus.publish(EventSubject::default(), &Event::new(kind));
        }
    }

    /// Returns the files that every call depends on and that other processes write.
    pub(crate) fn files_of_others(&self) -> Vec<PathBuf> {
        let kept = self.sessions.store().files();
        self.settings.user_file().into_iter().map(Path::to_owned).chain(kept).collect()
    }

    /// Resolves a call's context, with the configured profile if the call names none. Also returns
    /// the view if one was needed for that.
    async fn resolve_with_view(
        &self,
        peer: &Peer,
        context: Context,
    ) -> Result<(RequestContext, Option<Arc<View>>), RpcError> {
        let generation = self.refresh_settings().await;
        let session = match &context.session {
            Some(id) => self.sessions.get(id).await,
            None => None,
        };
        let session = session.as_deref();
        if let Some(session) = session {
            self.follow_writes(session).await;
        }
        if context.profile.is_some() || session.is_some() {
            return Ok((self.read_context(peer, context, session)?, None));
        }
        let context = Context { profile: self.settings.user().profile.clone(), ..context };
        let request = self.read_context(peer, context.clone(), None)?;
        // Any view of the directory knows its worktree, and this one is usually the answer.
        let view = self.view_for(&request).await?;
        match &self.settings.repository(&view.resolution.worktree, generation).await.profile {
            Some(profile) if **profile != *request.profile.id => {
                let context = Context { profile: Some(profile.clone()), ..context };
                Ok((self.read_context(peer, context, None)?, None))
            }
            Some(_) | None => Ok((request, Some(view))),
        }
    }

    fn read_context(
        &self,
        peer: &Peer,
        context: Context,
        session: Option<&Session>,
    ) -> Result<RequestContext, RpcError> {
        self.context_for(peer.environment(), context, session)
    }

    /// Resolves a call's context without waiting; `theirs` is the client's environment.
    pub(crate) fn context_for(
        &self,
        theirs: Option<&Environment>,
        context: Context,
        session: Option<&Session>,
    ) -> Result<RequestContext, RpcError> {
        let theirs = theirs.or(session.map(|it| &it.environment));
        let environment = theirs.unwrap_or(&self.environment);
        let profiles = &self.settings.user().profiles;
        from_wire::request_context(context, session, profiles, environment, &self.environment)
    }

    /// Returns the health of the configuration and the session store. The health of the view is
    /// separate.
    pub(crate) async fn config_health(&self, top: &AbsPath) -> Vec<Health> {
        self.settings.repository(top, StatCache::shared().hear()).await;
        let mut health = self.settings.health(Some(top));
        health.extend(self.sessions.store().health());
        health
    }

    /// Returns the health of this view and of the session store.
    pub(crate) fn health_of(&self, view: &View) -> Vec<Health> {
        view.health.iter().cloned().chain(self.sessions.store().health()).collect()
    }

    pub(crate) async fn view_for(&self, request: &RequestContext) -> Result<Arc<View>, RpcError> {
        let view = self.view_of_key(request, &request.key).await?;
        // Most subagents have no rules of their own and share a view.
        match &request.agent {
            Some(agent) if view.resolution.has_rules_of(agent) => {
                self.view_of_key(
                    request,
                    &ViewKey { agent: request.agent.clone(), ..request.key.clone() },
                )
                .await
            }
            Some(_) | None => Ok(view),
        }
    }

    async fn view_of_key(
        &self,
        request: &RequestContext,
        key: &ViewKey,
    ) -> Result<Arc<View>, RpcError> {
        let RequestContext { profile, freshness, .. } = request;
        if *freshness == skills_engine::Freshness::Cached
            && let Some(view) = self.engine.cached(key)
        {
            return Ok(view);
        }
        let ctx = from_wire::ctx(key, Arc::clone(profile));
        let view = self.engine.view(key.clone(), || ctx, *freshness).await;
        view.map_err(|error| self.engine_failed(&error))
    }

    /// Waits up to [`SOURCE_TIMEOUT`] for sources that load for the first time. Without it, only a second
    /// call would get a complete list.
    async fn wait_for_sources(
        &self,
        request: &RequestContext,
        view: Arc<View>,
    ) -> Result<Arc<View>, RpcError> {
        if request.freshness == skills_engine::Freshness::Cached {
            return Ok(view);
        }
        match timeout(SOURCE_TIMEOUT, self.engine.settled(Arc::clone(&view))).await {
            Ok(settled) => settled.map_err(|error| self.engine_failed(&error)),
            // A later answer includes them; the health of this one reports them as pending.
            Err(_) => Ok(view),
        }
    }

    /// Converts an engine failure to an RPC error and shuts the daemon down, so that the next one
    /// starts with a working engine.
    pub(crate) fn engine_failed(&self, error: &EngineError) -> RpcError {
        if !self.closing.is_cancelled() {
            tracing::error!(%error, "exiting: the engine has failed");
            self.failed.store(true, Ordering::Relaxed);
            self.closing.cancel();
        }
        RpcError::internal(error.to_string()).with_hint("Retry: the next call starts a new daemon.")
    }
}
