//! The disk side of skillsd: it watches, reads, and publishes what each agent sees.
//!
//! [`Engine`] is a handle to one thread that owns everything that changes. Handlers ask it for
//! a [`View`], an immutable snapshot; a `cached` answer never leaves the caller's thread.
//! Nothing here knows a socket or a wire format.
//!
//! Read it in this order: the disk and the hints (what comes in), the forest (what is known),
//! the ground (how it is kept true), the run (who asks for what, when), the views (what goes
//! out).

pub mod cancel;

pub mod files;

pub mod views;

pub mod sessions;

mod sources;

pub mod watch;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use skills_discovery::discover::{DiscoveryContext, Policy, prompt_of};
use skills_syntax::path::AbsPath;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::files::disk::{DEFAULT_READ_LIMIT, Disk, RealDisk};
use crate::files::scanner::Scanner;
use crate::sources::change_notifier::ChangeNotifier;
use crate::sources::source_set::Sources;
use crate::views::activation::Matchers;
use crate::views::event_loop::{Event, Published, Request};
use crate::views::idle_check::{Events, IdleCheck};
use crate::views::view_lease::ViewLeases;
use crate::watch::hints::{HintQueue, StartHints};

pub use crate::files::counters::{Cause, Causes, Counters};
pub use crate::files::remote_fs_guard::RemoteFsGuard;
pub use crate::files::unignored::unignored;
pub use crate::sources::mcp_client::{PromptAnswer, PromptContent, PromptError, PromptMessage};
pub use crate::sources::source_set::{
    McpOptions, Phase, RemoteOptions, SourceConfig, SourceStatus,
};
pub use crate::views::activation::Activation;
pub use crate::views::event_loop::Freshness;
pub use crate::views::journal::{Difference, Gone};
pub use crate::views::status::{Rebuilds, Status, WorktreeStatus};
pub use crate::views::view::{Health, View, ViewKey};
pub use crate::views::view_lease::ViewLease;
pub use crate::watch::writes::Writes;

/// How long an engine is waited for at its end: longer than MCP servers are given to end.
const END: Duration = Duration::from_secs(4);

/// What an engine is made of.
pub struct Options {
    /// Where hints come from; none reads the disk at every request.
    pub hints: Option<Box<dyn StartHints>>,
    /// How the disk is read.
    pub disk: Arc<dyn Disk>,
    /// How much of a SKILL.md is read, in bytes.
    pub read_limit: u64,
    /// Identifies this run; part of every clock.
    pub boot_id: String,
    /// Who is told when a view changes.
    pub listener: Option<Listener>,
    /// How long a view is kept that nobody asks for, with what only it needs.
    pub idle: Duration,
    /// Where catalogs and bundled skills are kept; nowhere where it is not known.
    pub cache: Option<PathBuf>,
}

/// Is told of each change of a published view, on the engine's own thread: it must not wait.
pub type Listener = Box<dyn Fn(&Update) + Send>;

/// A view has changed.
#[derive(Debug)]
pub struct Update {
    /// As it is now.
    pub view: Arc<View>,
    /// Whether a skill came, went or changed.
    pub skills: bool,
    /// The candidates that came or changed and that the agent drops now, or that can just not be
    /// read: their indexes.
    pub invalid: Vec<usize>,
    /// Whether what was found in any file changed, or may have: the worktree's own configuration
    /// file says something else.
    pub findings: bool,
    /// Whether what is not well changed.
    pub health: bool,
}

impl Options {
    /// Returns options for the machine's own disk without a source of hints.
    pub fn new(boot_id: String) -> Self {
        let (disk, read_limit) = (Arc::new(RealDisk), DEFAULT_READ_LIMIT);
        let idle = views::event_loop::VIEW_IDLE;
        Self { hints: None, disk, read_limit, boot_id, listener: None, idle, cache: None }
    }
}

/// Why the engine could not answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine's thread has ended.
    #[error("the engine has stopped")]
    Stopped,
    /// The engine's thread could not be started.
    #[error("failed to start the engine's thread")]
    Start(#[source] io::Error),
}

/// A handle to a running engine; cheap to clone.
#[derive(Clone)]
pub struct Engine {
    events: Events,
    published: Arc<Published>,
    rest: IdleCheck,
    /// Counts what makes the status another one; one that is kept is as good as new until then.
    turns: Arc<AtomicU64>,
    status: Arc<ArcSwapOption<Status>>,
    holds: ViewLeases,
    /// Says when the thread has ended, by being closed.
    ended: Arc<Mutex<Receiver<()>>>,
    news: Arc<ChangeNotifier>,
    cache: Option<PathBuf>,
    matchers: Arc<Matchers>,
    writes: Writes,
}

impl Engine {
    /// Starts an engine.
    ///
    /// # Errors
    /// Its thread cannot be started. A source of hints that cannot be started is no error: the
    /// engine then reads the disk at every request, and every view's health says so.
    pub fn start(options: Options) -> Result<Self, EngineError> {
        let (queue, receiver) = mpsc::channel();
        let events = Events::new(queue);
        let published: Arc<Published> = Arc::new(ArcSwap::from_pointee(HashMap::new()));
        let turns = Arc::new(AtomicU64::new(0));
        let waker = events.clone();
        let inbox = HintQueue::new(move || {
            // The engine's thread may have ended.
            let _ = waker.send(Event::Hints);
        });
        let writes = inbox.writes().clone();
        let watching = options.hints.is_some();
        let source = options.hints.and_then(|it| match it.start(inbox.clone()) {
            Ok(source) => Some(source),
            Err(error) => {
                tracing::warn!(%error, "cannot watch; the disk is read at every request");
                None
            }
        });
        let done = Arc::default();
        let rest = IdleCheck::new(&events, &done, source.as_ref().and_then(|it| it.still()));
        let holds = ViewLeases::default();
        let news = Arc::new(ChangeNotifier::new(events.clone()));
        let us = rustix::process::geteuid().as_raw();
        let state = views::event_loop::EngineState {
            ground: Scanner::new(options.disk, source, inbox.clone(), us, options.read_limit),
            inbox,
            published: Arc::clone(&published),
            boot_id: options.boot_id,
            watch_limit: watch_limit(),
            us,
            watching,
            views: HashMap::new(),
            worktrees: BTreeMap::new(),
            tick: 0,
            numbers: 0,
            opened: 0,
            idle: options.idle,
            cookies: views::event_loop::Cookies::default(),
            rebuilds: Rebuilds::default(),
            unused: false,
            turns: Arc::clone(&turns),
            taken: 0,
            done,
            dated: Default::default(),
            holds: holds.clone(),
            swept: Instant::now(),
            postponed: HashSet::new(),
            postponed_at: Instant::now(),
            scans: VecDeque::new(),
            until: Instant::now(),
            served: Vec::new(),
            listener: options.listener,
            providers: Sources::new(options.cache.clone(), &news),
            policy: Arc::default(),
        };
        let (ending, ended) = mpsc::channel();
        let run = move || {
            // Dropped when all else of the thread is.
            let _ending: Sender<()> = ending;
            state.run(&receiver);
        };
        thread::Builder::new().name("engine".into()).spawn(run).map_err(EngineError::Start)?;
        let ended = Arc::new(Mutex::new(ended));
        let (status, matchers, cache) = (Arc::default(), Arc::default(), options.cache);
        Ok(Self {
            events,
            published,
            rest,
            turns,
            status,
            holds,
            ended,
            news,
            cache,
            matchers,
            writes,
        })
    }

    /// Returns the published view without waiting, if there is one.
    pub fn cached(&self, key: &ViewKey) -> Option<Arc<View>> {
        self.published.load().get(key).cloned()
    }

    /// Returns a view that is that fresh already, without asking the engine's thread for it.
    fn at_once(&self, key: &ViewKey, freshness: Freshness) -> Option<Arc<View>> {
        let view = match freshness {
            Freshness::Cached => self.cached(key)?,
            Freshness::Synced if self.rest.holds() => {
                // What is provided from elsewhere goes by the time as well.
                self.cached(key).filter(|it| !it.uses.any())?
            }
            Freshness::Synced | Freshness::Verified => return None,
        };
        if view.asked().now() {
            // The status tells of the view that was asked for last.
            self.turns.fetch_add(1, Ordering::Release);
        }
        Some(view)
    }

    /// Returns what the watcher says was written.
    pub fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Hears from now on of what is written below a directory ([`Writes::next`]). Returns when what
    /// is written from then on is heard.
    pub async fn hear(&self, dir: AbsPath) -> Result<(), EngineError> {
        let (writes, events, at) = (self.writes.clone(), self.events.clone(), dir.clone());
        let (reply, answer) = oneshot::channel();
        // In one piece: whoever waits may be gone in between.
        let followed = spawn_blocking(move || {
            writes.follow(&at);
            events.send(Event::Hear(reply))
        });
        // It fails when the runtime ends, and everything with it.
        followed.await.map_err(|_| EngineError::Stopped)?.map_err(|_| EngineError::Stopped)?;
        answer.await.map_err(|_| EngineError::Stopped)?;
        self.writes.heard(&dir);
        Ok(())
    }

    /// Returns what waits in a view for a file to be touched. Made when it is first asked for.
    pub fn activation<'v>(&self, view: &'v View) -> &'v Activation {
        view.activation(|view| self.matchers.activation(&view.resolution))
    }

    /// Returns a view that is at least that fresh.
    pub async fn view(
        &self,
        key: ViewKey,
        ctx: impl FnOnce() -> DiscoveryContext,
        freshness: Freshness,
    ) -> Result<Arc<View>, EngineError> {
        if let Some(view) = self.at_once(&key, freshness) {
            return Ok(view);
        }
        let ctx = Arc::new(ctx());
        self.ask(|reply| Event::View(Request { key: Arc::new(key), ctx, freshness, reply })).await
    }

    /// Keeps a view live until the hold is dropped, whether or not anybody asks for it. Returns the
    /// view as it is once that holds.
    pub async fn hold(
        &self,
        key: ViewKey,
        ctx: DiscoveryContext,
    ) -> Result<(Arc<View>, ViewLease), EngineError> {
        let hold = self.holds.take(Arc::new(key.clone()));
        Ok((self.view(key, || ctx, Freshness::Synced).await?, hold))
    }

    /// Opens the worktree of a view and keeps it until it is closed. Returns the view.
    pub async fn open(
        &self,
        key: ViewKey,
        ctx: DiscoveryContext,
    ) -> Result<Arc<View>, EngineError> {
        let (key, ctx) = (Arc::new(key), Arc::new(ctx));
        let freshness = Freshness::Synced;
        self.ask(|reply| Event::Pin(Request { key, ctx, freshness, reply })).await
    }

    /// Closes a worktree that was opened. Returns whether it was open.
    pub async fn close(&self, top: AbsPath) -> Result<bool, EngineError> {
        self.ask(|reply| Event::Unpin(top, reply)).await
    }

    /// Takes up what the configuration says about skills from elsewhere; it counts for every
    /// later request.
    pub fn provide(&self, provision: SourceConfig) {
        // A request that comes too late says that the engine has ended.
        let _ = self.events.send(Event::Provide(Box::new(provision)));
    }

    /// Takes up what the user has decided about skills; it counts for every later request.
    pub fn follow(&self, policy: Policy) {
        // As above.
        let _ = self.events.send(Event::Policy(policy));
    }

    /// Waits until what a view uses from elsewhere is there or has failed, where that is under
    /// way for the first time. Returns the view as it is then.
    pub async fn settled(&self, view: Arc<View>) -> Result<Arc<View>, EngineError> {
        if !view.uses.any() {
            return Ok(view);
        }
        let mut news = self.news.subscribe();
        loop {
            news.borrow_and_update();
            let uses = view.uses.clone();
            // What was told before is in the views when this is answered.
            if !self.ask(|reply| Event::Awaited(uses, reply)).await? {
                return Ok(self.cached(&view.key).unwrap_or(view));
            }
            news.changed().await.map_err(|_| EngineError::Stopped)?;
        }
    }

    /// Asks an MCP server for the prompt that `path` stands for, with these arguments.
    pub async fn prompt(
        &self,
        path: &AbsPath,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptAnswer, PromptError> {
        let (server, prompt) = prompt_of(path).ok_or(PromptError::Unknown)?;
        let stopped =
            PromptError::Unavailable { server: server.clone(), why: "skillsd ends".to_owned() };
        let event = |reply| Event::Prompt { server, prompt, arguments, reply };
        self.ask(event).await.unwrap_or(Err(stopped))
    }

    /// Makes sure that the files of a bundled skill are there. Blocks on the disk.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn extract_bundled(&self) -> io::Result<()> {
        match &self.cache {
            Some(cache) => sources::bundled::extract(cache),
            // Then none are listed.
            None => Ok(()),
        }
    }

    /// Waits until everything is visible that was finished before. Returns the clock.
    pub async fn sync(&self) -> Result<String, EngineError> {
        self.ask(Event::Sync).await
    }

    /// Sets how much of a SKILL.md is read, in bytes; what this makes different is read again before
    /// the next answer.
    pub fn set_read_limit(&self, limit: u64) {
        // An engine that has ended reads nothing.
        let _ = self.events.send(Event::ReadLimit(limit));
    }

    /// Returns how the engine is: as it was when anything of it changed last.
    pub async fn status(&self) -> Result<Arc<Status>, EngineError> {
        let turn = self.turns.load(Ordering::Acquire);
        if let Some(kept) = self.status.load_full().filter(|it| it.turn == turn) {
            return Ok(kept);
        }
        let new = Arc::new(self.ask(Event::Status).await?);
        self.status.store(Some(Arc::clone(&new)));
        Ok(new)
    }

    /// Returns when the engine has come round to this call: it neither hangs nor has ended.
    pub async fn come_round(&self) -> Result<(), EngineError> {
        // Not `status`, which may answer from what is kept of the last turn.
        self.ask(Event::Status).await.map(drop)
    }

    /// Ends the engine and waits a short time for its thread: a disk that it reads may be on a
    /// server that is gone, and then it ends with the process.
    pub fn stop(&self) {
        // It may have ended already.
        let _ = self.events.send(Event::Stop);
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(END) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("a disk does not answer, and nobody waits for it any more");
        }
    }

    async fn ask<T>(
        &self,
        event: impl FnOnce(oneshot::Sender<T>) -> Event,
    ) -> Result<T, EngineError> {
        let (reply, answer) = oneshot::channel();
        self.events.send(event(reply)).map_err(|_| EngineError::Stopped)?;
        answer.await.map_err(|_| EngineError::Stopped)
    }
}

/// Returns how many directories this user may watch in all, where the system says.
pub(crate) fn watch_limit() -> Option<u64> {
    let path = Path::new("/proc/sys/fs/inotify/max_user_watches");
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}
