//! The event loop: the thread that owns the index.
//!
//!
//! Each turn takes the pending [`Event`]s, updates the directory index, resolves the views that
//! depend on a change, publishes them, and answers. Only events cause work.
//!
//!
//! **Read your writes.** A `synced` request waits for a cookie sent after the request arrived.
//! Hints and cookies share one queue in the kernel's order, so every change finished before the
//! request is marked when the cookie returns, and is read before the answer. Requests that arrive
//! while a cookie is pending share the next one. If no work is left and no events are pending,
//! callers take the published view themselves ([`super::idle_check`]). Without cookies, and for
//! `verified`, the disk is swept instead.

mod health;

mod views;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use skills_discovery::discover::{DiscoveryContext, Policy};
use skills_syntax::path::AbsPath;
use tokio::sync::oneshot;

use self::views::{Scan, ViewEntry};
use crate::Listener;
use crate::files::counters::Counters;
use crate::files::dir_index::{Node, NodeId};
use crate::files::scanner::Scanner;
use crate::sources::mcp_client::{PromptAnswer, PromptError};
use crate::sources::source_set::{SourceConfig, Sources, Uses};
use crate::views::idle_check::Latest;
use crate::views::status::{Rebuilds, Status};
use crate::views::view::{View, ViewKey};
use crate::views::view_lease::ViewLeases;
use crate::watch::hints::HintQueue;

/// Timeout of a cookie, after which the disk is swept instead. A cookie takes microseconds.
const COOKIE_TIMEOUT: Duration = Duration::from_secs(1);

/// Time after which an unused view is dropped.
pub(crate) const VIEW_IDLE: Duration = Duration::from_hours(1);

/// Interval of sweeps over unwatched directories while a view is leased.
const SWEEP_EVERY: Duration = Duration::from_secs(2);

/// Time for which a file that has just become empty counts as being written. A program that
/// truncates and rewrites a file needs some ten microseconds in between.
const WRITING: Duration = Duration::from_millis(10);

/// Time slice for resolving views before the next events are taken.
const SLICE: Duration = Duration::from_millis(10);

/// Published views, for answers without waiting.
pub(crate) type Published = ArcSwap<HashMap<Arc<ViewKey>, Arc<View>>>;

/// Events handled by the event loop.
pub(crate) enum Event {
    /// The hint queue is not empty.
    Hints,
    /// Requests a view.
    View(Request),
    /// Requests the clock once all earlier changes are visible.
    Sync(oneshot::Sender<String>),
    /// Keeps the worktree of this view until it is closed.
    Pin(Request),
    /// Closes a worktree; the reply says whether it was open.
    Unpin(AbsPath, oneshot::Sender<bool>),
    /// Requests the status.
    Status(oneshot::Sender<Status>),
    /// Sets the configured external sources.
    SetSources(Box<SourceConfig>),
    /// Sets the user's policy for skills.
    Policy(Policy),
    /// An external source has changed.
    SourceChanged,
    /// Asks whether any of these sources is being fetched for the first time.
    IsFetching(Uses, oneshot::Sender<bool>),
    /// Requests a prompt of an MCP server.
    Prompt {
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    },
    /// Extends watches to newly followed writes.
    WatchWrites(oneshot::Sender<()>),
    /// Sets the read limit for SKILL.md.
    ReadLimit(u64),
    /// Ends the loop.
    Stop,
}

impl Event {
    /// Returns true if the event always changes the status. For other events
    /// [`EngineState::date_status`] checks the outcome, so that reads alone do not invalidate the
    /// cached status.
    fn changes_status(&self) -> bool {
        match self {
            Self::Hints
            | Self::View(_)
            | Self::Sync(_)
            | Self::Status(_)
            | Self::IsFetching(..) => false,
            Self::Pin(_)
            | Self::Unpin(..)
            | Self::SetSources(_)
            | Self::Policy(_)
            | Self::SourceChanged
            | Self::Prompt { .. }
            | Self::WatchWrites(_)
            | Self::ReadLimit(_)
            | Self::Stop => true,
        }
    }
}

/// A request for a view.
pub(crate) struct Request {
    pub(crate) key: Arc<ViewKey>,
    pub(crate) ctx: Arc<DiscoveryContext>,
    pub(crate) freshness: Freshness,
    pub(crate) reply: oneshot::Sender<Arc<View>>,
}

/// Freshness of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// The latest published view.
    Cached,
    /// Includes every change finished before the request.
    #[default]
    Synced,
    /// As `Synced`, and compared with the disk file by file.
    Verified,
}

/// A request that waits for a cookie.
pub(crate) enum Waiter {
    View {
        request: Request,
        pin: bool,
    },
    Sync(oneshot::Sender<String>),
    /// Asks if a source is still being fetched; the views contain what has arrived before the answer.
    IsFetching(Uses, oneshot::Sender<bool>),
}

impl Waiter {
    fn accepts_published(&self) -> bool {
        matches!(self, Self::View { request, .. } if request.freshness == Freshness::Cached)
    }
}

/// State of the event loop, owned by its thread.
pub(crate) struct EngineState {
    pub(crate) scanner: Scanner,
    pub(crate) hint_queue: HintQueue,
    pub(crate) published: Arc<Published>,
    pub(crate) boot_id: String,
    pub(crate) watch_limit: Option<u64>,
    pub(crate) us: u32,
    /// False if the engine was started without a source of hints; health does not report it then.
    pub(crate) watching: bool,
    pub(crate) views: HashMap<Arc<ViewKey>, ViewEntry>,
    pub(crate) worktrees: BTreeMap<AbsPath, Worktree>,
    pub(crate) tick: u64,
    /// The last number assigned to a worktree.
    pub(crate) numbers: u32,
    /// Number of times that a worktree was pinned.
    pub(crate) opened: u64,
    /// Time after which an unused view is dropped.
    pub(crate) idle: Duration,
    pub(crate) cookies: Cookies,
    pub(crate) rebuilds: Rebuilds,
    pub(crate) unused: bool,
    /// Counts changes of the status.
    pub(crate) turns: Arc<AtomicU64>,
    /// Number of events taken.
    pub(crate) taken: u64,
    /// Value of `taken` when all work was last done ([`super::idle_check`]).
    pub(crate) done: Arc<AtomicU64>,
    /// Work counters when the status was last invalidated.
    pub(crate) dated: (Rebuilds, Counters, u64),
    pub(crate) leases: ViewLeases,
    /// Views not published because a file may be incomplete.
    pub(crate) postponed: HashSet<Arc<ViewKey>>,
    pub(crate) postponed_at: Instant,
    /// Views being resolved, the next one first.
    pub(crate) scans: VecDeque<Scan>,
    /// End of the current slice.
    pub(crate) until: Instant,
    /// Waiters whose views have been resolved since.
    pub(crate) served: Vec<Waiter>,
    /// Time of the last periodic sweep of unwatched directories.
    pub(crate) swept: Instant,
    pub(crate) listener: Option<Listener>,
    pub(crate) sources: Sources,
    /// The user's policy for skills.
    pub(crate) policy: Arc<Policy>,
}

/// A worktree with views.
#[derive(Default)]
pub(crate) struct Worktree {
    number: u32,
    pins: u32,
    /// Sequence number of the last pin.
    opened: u64,
    /// The most recently used view.
    latest: Latest,
}

/// The pending cookie and the requests that wait for one.
#[derive(Default)]
pub(crate) struct Cookies {
    /// The last ticket. Its upper half increases after a timeout.
    ticket: u64,
    out: Option<Instant>,
    waiting: Vec<Waiter>,
    next: Vec<Waiter>,
}

impl EngineState {
    /// Runs until a stop event or until all senders are gone.
    pub(crate) fn run(mut self, events: &Receiver<Event>) {
        while let Ok(first) = self.wait(events) {
            self.until = Instant::now() + SLICE;
            for event in first.into_iter().chain(events.try_iter()) {
                self.taken += 1;
                if event.changes_status() {
                    self.outdate_status();
                }
                if !self.take(event) {
                    return;
                }
            }
            self.turn();
            self.date_status();
            if self.is_at_rest() {
                self.done.store(self.taken, Ordering::SeqCst);
            }
        }
    }

    /// Returns true if no work is left and every later change will be reported.
    fn is_at_rest(&self) -> bool {
        let is_waited_for = self.cookies.out.is_some() || !self.cookies.next.is_empty();
        !is_waited_for
            && !self.scanner.has_marks()
            && !self.scanner.needs_sweep()
            && self.postponed.is_empty()
            && self.scans.is_empty()
    }

    /// Invalidates the cached status if it would differ now. Runs before each answer: a caller may
    /// request the status right after it.
    fn date_status(&mut self) {
        let work = (self.rebuilds, self.scanner.counters, self.opened);
        if std::mem::replace(&mut self.dated, work) != work {
            self.outdate_status();
        }
    }

    fn outdate_status(&self) {
        self.turns.fetch_add(1, Ordering::Release);
    }

    /// Waits for an event; returns none on the timeout of the pending cookie or timer.
    fn wait(&self, events: &Receiver<Event>) -> Result<Option<Event>, RecvError> {
        let left = match self.cookies.out {
            _ if self.scanner.has_marks() || !self.scans.is_empty() => Duration::ZERO,
            _ if !self.postponed.is_empty() => WRITING.saturating_sub(self.postponed_at.elapsed()),
            Some(since) => COOKIE_TIMEOUT.saturating_sub(since.elapsed()),
            None if self.scanner.needs_sweep() && !self.leases.is_empty() => SWEEP_EVERY,
            None if self.views.is_empty() => return events.recv().map(Some),
            // Wakes up to drop unused views.
            None => self.idle,
        };
        match events.recv_timeout(left) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RecvError),
        }
    }

    /// Handles one event. Returns false for the last one.
    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Hints => {}
            Event::View(request) => {
                let known = self.views.contains_key(&request.key);
                let waiter = Waiter::View { request, pin: false };
                // A view that does not exist yet is resolved with full freshness.
                if known && waiter.accepts_published() {
                    self.answer(waiter);
                } else {
                    self.cookies.next.push(waiter);
                }
            }
            Event::Pin(request) => self.cookies.next.push(Waiter::View { request, pin: true }),
            Event::Sync(reply) => self.cookies.next.push(Waiter::Sync(reply)),
            Event::Unpin(top, reply) => {
                let open = self.unpin(&top);
                // Before the reply: the caller may query the watches right after it.
                self.drop_unused();
                // The caller may have hung up.
                let _ = reply.send(open);
            }
            Event::SetSources(config) => {
                if self.sources.configure(*config) {
                    self.resolve_dependents(|_| true);
                }
            }
            Event::Policy(policy) => {
                if *self.policy != policy {
                    self.policy = Arc::new(policy);
                    self.resolve_dependents(|_| true);
                }
            }
            Event::SourceChanged => self.resolve_dependents(|it| it.uses.any()),
            Event::IsFetching(uses, reply) => {
                self.answer(Waiter::IsFetching(uses, reply));
            }
            Event::Prompt { server, prompt, arguments, reply } => {
                self.sources.mcp.get(server, prompt, arguments, reply);
            }
            Event::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Event::WatchWrites(reply) => {
                self.scanner.watch_writes();
                let _ = reply.send(());
            }
            Event::ReadLimit(limit) => self.scanner.set_read_limit(limit),
            Event::Stop => {
                self.sources.stop();
                return false;
            }
        }
        true
    }

    /// Runs one turn: hints, cookies, disk, views, answers.
    fn turn(&mut self) {
        if !self.cookies.next.is_empty() {
            self.scanner.follow_mounts();
        }
        self.place_cookie();
        let hints = self.hint_queue.take();
        if hints.mounted {
            self.scanner.follow_mounts();
        }
        let mut done = Vec::new();
        if hints.lost || hints.cookie == Some(self.cookies.ticket) {
            // After lost hints everything is compared with the disk, which subsumes the cookie.
            done = std::mem::take(&mut self.cookies.waiting);
            if hints.lost {
                // The pending cookie may arrive late and must be ignored.
                self.cookies.give_up();
            }
            self.cookies.out = None;
        } else if self.cookies.out.is_some_and(|it| it.elapsed() >= COOKIE_TIMEOUT) {
            tracing::warn!("a cookie timed out; comparing everything with the disk");
            self.cookies.give_up();
            self.scanner.sweep(|_| true);
            done = std::mem::take(&mut self.cookies.waiting);
        }
        if !hints.is_empty() {
            self.scanner.mark(&hints);
        }
        if self.swept.elapsed() >= SWEEP_EVERY && !self.leases.is_empty() {
            self.swept = Instant::now();
            self.scanner.sweep_unwatched(|_| true);
        }
        self.update_views(&done);
        self.drop_unused();
        for waiter in done {
            self.answer(waiter);
        }
        self.scan();
        self.place_cookie();
    }

    /// Sends the next cookie if requests wait for one.
    fn place_cookie(&mut self) {
        if self.cookies.out.is_some() || self.cookies.next.is_empty() {
            return;
        }
        self.cookies.ticket += 1;
        let waiters = std::mem::take(&mut self.cookies.next);
        if self.scanner.cookie(self.cookies.ticket) {
            self.cookies.waiting = waiters;
            self.cookies.out = Some(Instant::now());
            return;
        }
        self.scanner.sweep(|_| true);
        self.update_views(&waiters);
        for waiter in waiters {
            self.answer(waiter);
        }
    }

    /// Updates the index and the views: marked nodes, and the sweeps that the waiters require.
    fn update_views(&mut self, waiters: &[Waiter]) {
        let mut compared = HashSet::new();
        self.compare(waiters, &mut compared);
        // Incomplete files are published if a request waits.
        let patient = waiters.is_empty()
            && (self.postponed.is_empty() || self.postponed_at.elapsed() < WRITING);
        let mut again = std::mem::take(&mut self.postponed);
        loop {
            let changed = self.scanner.refresh();
            let stale: Vec<_> = self
                .views
                .iter()
                .filter(|(key, held)| {
                    again.contains(*key) || changed.iter().any(|it| held.depends.contains(*it))
                })
                .map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view.ctx)))
                .collect();
            if stale.is_empty() && changed.is_empty() && !self.compare(waiters, &mut compared) {
                break;
            }
            for (key, ctx) in stale {
                self.rebuilds.changed += u64::from(!again.remove(&key));
                self.resolve(key, ctx, patient);
            }
        }
    }

    /// Compares nodes that the waiters' views depend on with the disk, as required and not yet
    /// done: a view may come to depend on nodes that only other views used before. Returns true if
    /// any node was compared.
    fn compare(&mut self, waiters: &[Waiter], compared: &mut HashSet<NodeId>) -> bool {
        let before = compared.len();
        for waiter in waiters {
            let Waiter::View { request, .. } = waiter else {
                // Covers any view requested next.
                self.scanner.sweep_unwatched(|it| compared.insert(it.id));
                continue;
            };
            // The dependencies of a new or postponed view are not known yet.
            let known = self.views.get(&request.key);
            let known = known.filter(|_| !self.postponed.contains(&request.key));
            let depends = known.map(|it| &it.depends);
            let which =
                |it: &Node| depends.is_none_or(|set| set.contains(it.id)) && compared.insert(it.id);
            match request.freshness {
                Freshness::Verified => self.scanner.sweep(which),
                Freshness::Cached | Freshness::Synced => self.scanner.sweep_unwatched(which),
            }
        }
        compared.len() > before
    }

    fn answer(&mut self, waiter: Waiter) {
        let Some(waiter) = self.defer(waiter) else { return };
        // In all cases the caller may have hung up.
        match waiter {
            Waiter::Sync(reply) => {
                self.date_status();
                let clock = format!("{}:0:{}:{}", self.boot_id, self.rebuilds.total(), self.tick);
                let _ = reply.send(clock);
            }
            Waiter::IsFetching(uses, reply) => {
                let _ = reply.send(self.sources.are_fetching(&uses));
            }
            Waiter::View { request, pin } => {
                let Some(held) = self.views.get(&request.key) else {
                    self.rebuilds.opened += 1;
                    self.resolve(Arc::clone(&request.key), Arc::clone(&request.ctx), false);
                    // New nodes may overlap with others that changed since they were read.
                    self.update_views(&[]);
                    return self.answer(Waiter::View { request, pin });
                };
                let view = Arc::clone(&held.view);
                self.sources.want(&view.uses);
                if pin {
                    self.pin(&view.resolution.worktree);
                }
                if view.last_used().now() || view.uses.any() {
                    self.outdate_status();
                }
                self.date_status();
                let _ = request.reply.send(view);
            }
        }
    }
}

impl Cookies {
    /// Abandons the pending ticket; a late return must not match a later one.
    fn give_up(&mut self) {
        self.out = None;
        self.ticket = ((self.ticket >> 32) + 1) << 32;
    }
}
