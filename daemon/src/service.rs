//! What the handlers work with: the engine, and what the daemon knows about itself.
//!
//! Owns the way from a call's parameters to a view, and the table of methods. No handler
//! reaches the engine by another way, so that each error of it has one form.

mod trusts;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use jsonrpsee::Methods;
use skills_client::directory;
use skills_client::environment::socket_location;
use skills_engine::files::inspect::Walks;
use skills_engine::sessions::session::{Session, Sessions};
use skills_engine::sessions::touch::Levels;
use skills_engine::watch::stat_cache::{Generation, StatCache};
use skills_engine::{Engine, EngineError, Health, View, ViewKey};
use skills_protocol::error::RpcError;
use skills_protocol::wire::{Context, Event, EventKind};
use skills_syntax::path::AbsPath;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::access::approval_queue::Requests;
use crate::access::sealed_copy::COPIES;
use crate::api::counters::Counters;
use crate::api::from_wire;
use crate::api::from_wire::RequestContext;
use crate::api::handlers;
use crate::lifecycle::resident_memory::Memory;
use crate::lifecycle::settings::{Edit, Settings, provision};
use crate::rpc::events::{Bus, EventSubject};
use crate::rpc::heavy::HeavyCalls;
use crate::rpc::page_cache::PageCache;
use crate::rpc::peer::{Environment, Peer};

/// How long an answer waits for what is fetched or started for the first time.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is served.
pub(crate) struct Service {
    pub(crate) engine: Engine,
    /// Where it is said what has happened.
    pub(crate) bus: Arc<Bus>,
    /// Names this run.
    pub(crate) boot_id: String,
    /// Where it listens; nowhere when it serves within another process.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) started: Instant,
    pub(crate) memory: Memory,
    /// How many connections are open.
    pub(crate) open: Arc<AtomicU32>,
    /// Cancelled when the daemon is to exit.
    pub(crate) closing: CancellationToken,
    /// The daemon's own variables, for clients that send none.
    environment: Environment,
    pub(crate) sessions: Sessions,
    /// The worktrees whose files were looked at last.
    pub(crate) walks: Walks,
    /// What was found on the disk, as long as its pages are being asked for.
    pub(crate) page_cache: PageCache,
    /// The calls that take long.
    pub(crate) heavy: HeavyCalls,
    /// What is known of the directories that touches come by.
    pub(crate) levels: Levels,
    /// How often agents did what.
    pub(crate) counters: Counters,
    /// What the user has been asked.
    pub(crate) requests: Requests,
    /// What the user has said about directories; read when it is first needed.
    trusts: OnceLock<Mutex<trusts::Known>>,
    /// Set when the engine is gone, and the daemon with it.
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
        engine.provide(provision(&settings.user()));
        Arc::new(Self {
            engine,
            bus,
            counters: Counters::default(),
            requests: Requests::new(&boot_id),
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

    /// Returns the home directory of the user whom it serves.
    pub(crate) fn home(&self) -> Option<AbsPath> {
        AbsPath::new(self.environment.get("HOME")?.as_ref()).ok()
    }

    /// Returns this process's directory for private copies, beside the socket.
    pub(crate) fn copies(&self) -> io::Result<PathBuf> {
        let location = socket_location().map_err(io::Error::other)?;
        directory::prepare(&location).map_err(io::Error::other)?;
        Ok(location.directory().join(format!("{COPIES}{}", self.boot_id)))
    }

    /// Returns the table of methods over this service.
    pub(crate) fn methods(self: &Arc<Self>) -> Methods {
        let mut methods = Methods::new();
        handlers::register_all(&mut methods, self);
        methods
    }

    /// Returns whether the daemon has to exit because it cannot answer any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Reads where a call asks from, and by whose rules.
    pub(crate) async fn asked(
        &self,
        peer: &Peer,
        context: Context,
    ) -> Result<RequestContext, RpcError> {
        Ok(self.settle(peer, context).await?.0)
    }

    /// Returns the view that a call asks for.
    pub(crate) async fn view(&self, peer: &Peer, context: Context) -> Result<Arc<View>, RpcError> {
        let (asked, view) = self.settle(peer, context).await?;
        let view = match view {
            Some(view) => view,
            None => self.resolved(&asked).await?,
        };
        let view = self.settled(&asked, view).await?;
        let top = &view.resolution.worktree;
        // Its mistakes are told to those as well who name their profile.
        self.settings.repository(top, StatCache::of_process().hear()).await;
        Ok(view.with_health(&self.settings.health(Some(top))))
    }

    /// Follows the user's configuration, and what others keep. Returns how far was heard of changes.
    pub(crate) async fn refresh_settings(&self) -> Generation {
        let heard = StatCache::of_process().hear();
        if let Some(edit) = self.settings.refresh(heard).await {
            // In the queue before what is asked next.
            let config = self.settings.user();
            self.engine.set_read_limit(config.read_limit);
            self.engine.provide(provision(&config));
            self.follow_policy().await;
            self.tell_edit(edit);
        } else if self.trusts.get().is_none() {
            // The first call of all.
            self.follow_policy().await;
        }
        self.refresh_trusts(heard).await;
        heard
    }

    /// Tells all who follow anything that the user's configuration is another one: profiles and
    /// rules are in it that no view tells of.
    fn tell_edit(&self, edit: Edit) {
        let happened =
            [(edit.config, EventKind::DiagnosticsChanged), (edit.health, EventKind::HealthChanged)];
        for (_, kind) in happened.into_iter().filter(|it| it.0) {
            self.bus.publish(EventSubject::default(), &Event::new(kind));
        }
    }

    /// Returns the files that every call goes by and that others write as well.
    pub(crate) fn files_of_others(&self) -> Vec<PathBuf> {
        let kept = self.sessions.store().files();
        self.settings.user_file().into_iter().map(Path::to_owned).chain(kept).collect()
    }

    /// Reads what a call asks for, with the configuration's profile where it names none. Returns
    /// the view as well where finding that out took one.
    async fn settle(
        &self,
        peer: &Peer,
        context: Context,
    ) -> Result<(RequestContext, Option<Arc<View>>), RpcError> {
        let heard = self.refresh_settings().await;
        let session = match &context.session {
            Some(id) => self.sessions.get(id).await,
            None => None,
        };
        let session = session.as_deref();
        if let Some(session) = session {
            self.follow_writes(session).await;
        }
        if context.profile.is_some() || session.is_some() {
            return Ok((self.read(peer, context, session)?, None));
        }
        let context = Context { profile: self.settings.user().profile.clone(), ..context };
        let asked = self.read(peer, context.clone(), None)?;
        // Any view of the place knows its worktree, and this one is most often the answer.
        let view = self.resolved(&asked).await?;
        match &self.settings.repository(&view.resolution.worktree, heard).await.profile {
            Some(profile) if **profile != *asked.profile.id => {
                let context = Context { profile: Some(profile.clone()), ..context };
                Ok((self.read(peer, context, None)?, None))
            }
            Some(_) | None => Ok((asked, Some(view))),
        }
    }

    fn read(
        &self,
        peer: &Peer,
        context: Context,
        session: Option<&Session>,
    ) -> Result<RequestContext, RpcError> {
        self.read_for(peer.environment(), context, session)
    }

    /// Reads what is asked for, without waiting, by somebody whose environment this is.
    pub(crate) fn read_for(
        &self,
        theirs: Option<&Environment>,
        context: Context,
        session: Option<&Session>,
    ) -> Result<RequestContext, RpcError> {
        let theirs = theirs.or(session.map(|it| &it.environment));
        let environment = theirs.unwrap_or(&self.environment);
        let profiles = &self.settings.user().profiles;
        from_wire::asked(context, session, profiles, environment, &self.environment)
    }

    /// Returns what is not well besides the view of this worktree: the configuration, and
    /// whether conversations are kept.
    pub(crate) async fn unwell(&self, top: &AbsPath) -> Vec<Health> {
        self.settings.repository(top, StatCache::of_process().hear()).await;
        let mut health = self.settings.health(Some(top));
        health.extend(self.sessions.store().health());
        health
    }

    /// Returns what is not well with this view, and whether what the user decides is kept.
    pub(crate) fn health_of(&self, view: &View) -> Vec<Health> {
        view.health.iter().cloned().chain(self.sessions.store().health()).collect()
    }

    pub(crate) async fn resolved(&self, asked: &RequestContext) -> Result<Arc<View>, RpcError> {
        let view = self.of_key(asked, &asked.key).await?;
        // Most agents inside an agent have no rules of their own, and share a view.
        match &asked.agent {
            Some(agent) if view.resolution.has_rules_of(agent) => {
                self.of_key(asked, &ViewKey { agent: asked.agent.clone(), ..asked.key.clone() })
                    .await
            }
            Some(_) | None => Ok(view),
        }
    }

    async fn of_key(&self, asked: &RequestContext, key: &ViewKey) -> Result<Arc<View>, RpcError> {
        let RequestContext { profile, freshness, .. } = asked;
        if *freshness == skills_engine::Freshness::Cached
            && let Some(view) = self.engine.cached(key)
        {
            return Ok(view);
        }
        let ctx = from_wire::ctx(key, Arc::clone(profile));
        let view = self.engine.view(key.clone(), || ctx, *freshness).await;
        view.map_err(|error| self.engine_failed(&error))
    }

    /// Waits a little for what the view uses from elsewhere, where that comes for the first time:
    /// a list that is made before it is there would be right only for those who ask twice.
    async fn settled(
        &self,
        asked: &RequestContext,
        view: Arc<View>,
    ) -> Result<Arc<View>, RpcError> {
        if asked.freshness == skills_engine::Freshness::Cached {
            return Ok(view);
        }
        match timeout(PATIENCE, self.engine.settled(Arc::clone(&view))).await {
            Ok(settled) => settled.map_err(|error| self.engine_failed(&error)),
            // What comes later is in a later answer, and the health of this one says so.
            Err(_) => Ok(view),
        }
    }

    /// Turns a failure of the engine into an answer, and the daemon towards its exit: whoever
    /// starts the next one gets a working engine.
    pub(crate) fn engine_failed(&self, error: &EngineError) -> RpcError {
        if !self.closing.is_cancelled() {
            tracing::error!(%error, "the engine is gone, and so skillsd ends");
            self.failed.store(true, Ordering::Relaxed);
            self.closing.cancel();
        }
        RpcError::internal(error.to_string())
            .with_hint("Ask again: the next call starts another daemon.")
    }
}
