//! The engine's thread: one loop, one closed set of events.
//!
//! The loop takes what waits, brings the forest up to date, resolves the views that what
//! changed bears on, publishes, and answers. If it is not in [`Event`], it does not cause work.
//!
//! **Read your writes.** A `synced` request waits for a cookie placed after it arrived. Hints
//! and cookies come through one queue in the kernel's order, so when the cookie is back every
//! change that was finished before the request has been marked, and is read before the answer.
//! Requests that arrive while a cookie is out share the next one. Where nothing is left to do and
//! the watch has nothing to hear, a caller sees so himself and asks nobody ([`crate::rest`]). Where cookies are not to be
//! had, and for `verified`, the disk is swept instead.

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

use self::views::{Held, Scan};
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

/// How long a cookie is waited for before the disk is swept instead. A cookie takes
/// microseconds; one that takes this long is not coming.
const COOKIE_PATIENCE: Duration = Duration::from_secs(1);

/// How long a view is kept that nobody asks for.
pub(crate) const VIEW_IDLE: Duration = Duration::from_hours(1);

/// How often directories that are not watched are looked at for those who follow a view.
const SWEEP_EVERY: Duration = Duration::from_secs(2);

/// How long a file that has just become empty is taken for one that is being written. A program
/// that empties a file and writes it again needs some ten microseconds in between.
const WRITING: Duration = Duration::from_millis(10);

/// The time for resolving views before the next events are taken.
const SLICE: Duration = Duration::from_millis(10);

/// The views as last published, for answers that need no waiting.
pub(crate) type Published = ArcSwap<HashMap<Arc<ViewKey>, Arc<View>>>;

/// What the engine's thread works on.
pub(crate) enum Event {
    /// Something waits in the inbox.
    Hints,
    /// Somebody wants a view.
    View(Request),
    /// Somebody wants to know that all is seen that happened before.
    Sync(oneshot::Sender<String>),
    /// Keep the worktree of this view until it is closed again.
    Pin(Request),
    /// The opposite; the answer says whether it was open.
    Unpin(AbsPath, oneshot::Sender<bool>),
    /// Somebody wants to know how we are.
    Status(oneshot::Sender<Status>),
    /// The configuration says this about skills from elsewhere.
    Provide(Box<SourceConfig>),
    /// The user has decided this about skills.
    Policy(Policy),
    /// What is provided has changed.
    Provided,
    /// Somebody wants to know whether anything of this is on its way for the first time.
    Awaited(Uses, oneshot::Sender<bool>),
    /// Somebody wants a prompt of an MCP server.
    Prompt {
        server: String,
        prompt: String,
        arguments: BTreeMap<String, String>,
        reply: oneshot::Sender<Result<PromptAnswer, PromptError>>,
    },
    /// Somebody wants to hear of what is written somewhere else than before.
    Hear(oneshot::Sender<()>),
    /// Read so much of each SKILL.md from now on.
    ReadLimit(u64),
    /// End.
    Stop,
}

impl Event {
    /// Whether a status is another one after it in any case. Where that depends on what is found
    /// ([`EngineState::date_status`]), those who only ask what has not changed leave it as it is.
    fn changes_status(&self) -> bool {
        match self {
            Self::Hints | Self::View(_) | Self::Sync(_) | Self::Status(_) | Self::Awaited(..) => {
                false
            }
            Self::Pin(_)
            | Self::Unpin(..)
            | Self::Provide(_)
            | Self::Policy(_)
            | Self::Provided
            | Self::Prompt { .. }
            | Self::Hear(_)
            | Self::ReadLimit(_)
            | Self::Stop => true,
        }
    }
}

/// A view that somebody waits for.
pub(crate) struct Request {
    pub(crate) key: Arc<ViewKey>,
    pub(crate) ctx: Arc<DiscoveryContext>,
    pub(crate) freshness: Freshness,
    pub(crate) reply: oneshot::Sender<Arc<View>>,
}

/// How fresh an answer has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// The latest published view.
    Cached,
    /// All that was finished before the request is visible.
    #[default]
    Synced,
    /// As `Synced`, and compared with the disk file by file.
    Verified,
}

/// Somebody waiting for a cookie.
pub(crate) enum Waiter {
    View {
        request: Request,
        pin: bool,
    },
    Sync(oneshot::Sender<String>),
    /// Asks if a source is still being fetched; the views contain what has arrived before the answer.
    Awaited(Uses, oneshot::Sender<bool>),
}

impl Waiter {
    fn takes_what_is_there(&self) -> bool {
        matches!(self, Self::View { request, .. } if request.freshness == Freshness::Cached)
    }
}

/// The engine's thread's own state; nobody shares it.
pub(crate) struct EngineState {
    pub(crate) ground: Scanner,
    pub(crate) inbox: HintQueue,
    pub(crate) published: Arc<Published>,
    pub(crate) boot_id: String,
    pub(crate) watch_limit: Option<u64>,
    pub(crate) us: u32,
    /// Whether hints were wanted: without them health says so.
    pub(crate) watching: bool,
    pub(crate) views: HashMap<Arc<ViewKey>, Held>,
    pub(crate) worktrees: BTreeMap<AbsPath, Worktree>,
    pub(crate) tick: u64,
    /// The last number given to a worktree.
    pub(crate) numbers: u32,
    /// How often a worktree was opened to stay.
    pub(crate) opened: u64,
    /// How long a view is kept that nobody asks for.
    pub(crate) idle: Duration,
    pub(crate) cookies: Cookies,
    pub(crate) rebuilds: Rebuilds,
    pub(crate) unused: bool,
    /// Counts what makes the status another one.
    pub(crate) turns: Arc<AtomicU64>,
    /// How many events were taken up.
    pub(crate) taken: u64,
    /// Up to which of them all is done ([`crate::rest`]).
    pub(crate) done: Arc<AtomicU64>,
    /// The work that had been done when they were counted last.
    pub(crate) dated: (Rebuilds, Counters, u64),
    pub(crate) holds: ViewLeases,
    /// The views that were not published because a file may be being written, and since when.
    pub(crate) postponed: HashSet<Arc<ViewKey>>,
    pub(crate) postponed_at: Instant,
    /// The views that are being resolved, the next to go on with first.
    pub(crate) scans: VecDeque<Scan>,
    /// When the slice ends in which views are resolved.
    pub(crate) until: Instant,
    /// Scans whose views have been resolved since.
    pub(crate) served: Vec<Waiter>,
    /// When directories that are not watched were last looked at unasked.
    pub(crate) swept: Instant,
    pub(crate) listener: Option<Listener>,
    pub(crate) providers: Sources,
    /// What the user has decided about skills.
    pub(crate) policy: Arc<Policy>,
}

/// A worktree that views are in.
#[derive(Default)]
pub(crate) struct Worktree {
    number: u32,
    pins: u32,
    /// When it was opened last, in the order of all that were.
    opened: u64,
    /// The view that was asked for last.
    latest: Latest,
}

/// Cookies on their way, and who waits for them.
#[derive(Default)]
pub(crate) struct Cookies {
    /// The last ticket. Its upper half goes up when one was given up.
    ticket: u64,
    out: Option<Instant>,
    waiting: Vec<Waiter>,
    next: Vec<Waiter>,
}

impl EngineState {
    /// Runs until told to stop or everybody who could ask is gone.
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

    /// Whether nothing is left to do, and all that comes is heard of.
    fn is_at_rest(&self) -> bool {
        let is_waited_for = self.cookies.out.is_some() || !self.cookies.next.is_empty();
        !is_waited_for
            && !self.ground.has_marks()
            && !self.ground.is_deaf()
            && self.postponed.is_empty()
            && self.scans.is_empty()
    }

    /// Outdates the status that is kept, where it would be another one now. Before each answer:
    /// whoever has it may ask for the status at once, and must not get the one from before.
    fn date_status(&mut self) {
        let work = (self.rebuilds, self.ground.counters, self.opened);
        if std::mem::replace(&mut self.dated, work) != work {
            self.outdate_status();
        }
    }

    fn outdate_status(&self) {
        self.turns.fetch_add(1, Ordering::Release);
    }

    /// Waits for an event, or for the cookie that is out to have taken too long: then there is none.
    fn wait(&self, events: &Receiver<Event>) -> Result<Option<Event>, RecvError> {
        let left = match self.cookies.out {
            _ if self.ground.has_marks() || !self.scans.is_empty() => Duration::ZERO,
            _ if !self.postponed.is_empty() => WRITING.saturating_sub(self.postponed_at.elapsed()),
            Some(since) => COOKIE_PATIENCE.saturating_sub(since.elapsed()),
            None if self.ground.is_deaf() && !self.holds.is_empty() => SWEEP_EVERY,
            None if self.views.is_empty() => return events.recv().map(Some),
            // To let go of what nobody has asked for.
            None => self.idle,
        };
        match events.recv_timeout(left) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RecvError),
        }
    }

    /// Takes up one event. Returns false when it is the last.
    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Hints => {}
            Event::View(request) => {
                let known = self.views.contains_key(&request.key);
                let waiter = Waiter::View { request, pin: false };
                // A view that is not there yet is made fresh.
                if known && waiter.takes_what_is_there() {
                    self.answer(waiter);
                } else {
                    self.cookies.next.push(waiter);
                }
            }
            Event::Pin(request) => self.cookies.next.push(Waiter::View { request, pin: true }),
            Event::Sync(reply) => self.cookies.next.push(Waiter::Sync(reply)),
            Event::Unpin(top, reply) => {
                let open = self.unpin(&top);
                // Before the answer: whoever has it may ask at once what is still watched.
                self.drop_unused();
                // Whoever asked may be gone.
                let _ = reply.send(open);
            }
            Event::Provide(provision) => {
                if self.providers.configure(*provision) {
                    self.provided_anew(|_| true);
                }
            }
            Event::Policy(policy) => {
                if *self.policy != policy {
                    self.policy = Arc::new(policy);
                    self.provided_anew(|_| true);
                }
            }
            Event::Provided => self.provided_anew(|it| it.uses.any()),
            Event::Awaited(uses, reply) => {
                self.answer(Waiter::Awaited(uses, reply));
            }
            Event::Prompt { server, prompt, arguments, reply } => {
                self.providers.mcp.get(server, prompt, arguments, reply);
            }
            Event::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Event::Hear(reply) => {
                self.ground.heed_writes();
                let _ = reply.send(());
            }
            Event::ReadLimit(limit) => self.ground.set_read_limit(limit),
            Event::Stop => {
                self.providers.stop();
                return false;
            }
        }
        true
    }

    /// One turn of the loop: hints, cookies, the disk, the views, the answers.
    fn turn(&mut self) {
        if !self.cookies.next.is_empty() {
            self.ground.follow_mounts();
        }
        self.place_cookie();
        let hints = self.inbox.take();
        if hints.mounted {
            self.ground.follow_mounts();
        }
        let mut done = Vec::new();
        if hints.lost || hints.cookie == Some(self.cookies.ticket) {
            // After lost hints everything is compared with the disk, which is as good.
            done = std::mem::take(&mut self.cookies.waiting);
            if hints.lost {
                // The cookie that is out may come late, and is nobody's then.
                self.cookies.give_up();
            }
            self.cookies.out = None;
        } else if self.cookies.out.is_some_and(|it| it.elapsed() >= COOKIE_PATIENCE) {
            tracing::warn!("a cookie did not come back; looking at everything instead");
            self.cookies.give_up();
            self.ground.sweep(|_| true);
            done = std::mem::take(&mut self.cookies.waiting);
        }
        if !hints.is_empty() {
            self.ground.mark(&hints);
        }
        if self.swept.elapsed() >= SWEEP_EVERY && !self.holds.is_empty() {
            self.swept = Instant::now();
            self.ground.sweep_deaf(|_| true);
        }
        self.settle(&done);
        self.drop_unused();
        for waiter in done {
            self.answer(waiter);
        }
        self.scan();
        self.place_cookie();
    }

    /// Sends the next cookie out for those who wait for one.
    fn place_cookie(&mut self) {
        if self.cookies.out.is_some() || self.cookies.next.is_empty() {
            return;
        }
        self.cookies.ticket += 1;
        let waiters = std::mem::take(&mut self.cookies.next);
        if self.ground.cookie(self.cookies.ticket) {
            self.cookies.waiting = waiters;
            self.cookies.out = Some(Instant::now());
            return;
        }
        self.ground.sweep(|_| true);
        self.settle(&waiters);
        for waiter in waiters {
            self.answer(waiter);
        }
    }

    /// Brings forest and views up to date with what is marked and what the waiters demand.
    fn settle(&mut self, waiters: &[Waiter]) {
        let mut compared = HashSet::new();
        self.compare(waiters, &mut compared);
        // Whoever waits is given what is there.
        let patient = waiters.is_empty()
            && (self.postponed.is_empty() || self.postponed_at.elapsed() < WRITING);
        let mut again = std::mem::take(&mut self.postponed);
        loop {
            let changed = self.ground.refresh();
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

    /// Compares with the disk what the waiters' views depend on, as far as that is demanded and was
    /// not done yet: a view may have come to depend on what only others have looked at, before.
    /// Returns whether there was any.
    fn compare(&mut self, waiters: &[Waiter], compared: &mut HashSet<NodeId>) -> bool {
        let before = compared.len();
        for waiter in waiters {
            let Waiter::View { request, .. } = waiter else {
                // Whatever view is asked for next.
                self.ground.sweep_deaf(|it| compared.insert(it.serial));
                continue;
            };
            // What a new view will depend on is not known yet, nor is it of one that waits.
            let known = self.views.get(&request.key);
            let known = known.filter(|_| !self.postponed.contains(&request.key));
            let depends = known.map(|it| &it.depends);
            let which = |it: &Node| {
                depends.is_none_or(|set| set.contains(it.serial)) && compared.insert(it.serial)
            };
            match request.freshness {
                Freshness::Verified => self.ground.sweep(which),
                Freshness::Cached | Freshness::Synced => self.ground.sweep_deaf(which),
            }
        }
        compared.len() > before
    }

    fn answer(&mut self, waiter: Waiter) {
        let Some(waiter) = self.put_off(waiter) else { return };
        // In all cases: whoever asked may be gone.
        match waiter {
            Waiter::Sync(reply) => {
                self.date_status();
                let clock = format!("{}:0:{}:{}", self.boot_id, self.rebuilds.total(), self.tick);
                let _ = reply.send(clock);
            }
            Waiter::Awaited(uses, reply) => {
                let _ = reply.send(self.providers.are_awaited(&uses));
            }
            Waiter::View { request, pin } => {
                let Some(held) = self.views.get(&request.key) else {
                    self.rebuilds.opened += 1;
                    self.resolve(Arc::clone(&request.key), Arc::clone(&request.ctx), false);
                    // What was asked anew may have been replaced since others asked.
                    self.settle(&[]);
                    return self.answer(Waiter::View { request, pin });
                };
                let view = Arc::clone(&held.view);
                self.providers.want(&view.uses);
                if pin {
                    self.pin(&view.resolution.worktree);
                }
                if view.asked().now() || view.uses.any() {
                    self.outdate_status();
                }
                self.date_status();
                let _ = request.reply.send(view);
            }
        }
    }
}

impl Cookies {
    /// The ticket that is out is not coming back; a late one must not be taken for the next.
    fn give_up(&mut self) {
        self.out = None;
        self.ticket = ((self.ticket >> 32) + 1) << 32;
    }
}
