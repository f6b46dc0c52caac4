//! The engine's thread: one loop, one closed set of events.
//!
//! The loop takes what waits, brings the forest up to date, resolves the views that what
//! changed bears on, publishes, and answers. If it is not in [`Event`], it does not cause work.
//!
//! **Read your writes.** A `synced` request waits for a cookie placed after it arrived. Hints
//! and cookies come through one queue in the kernel's order, so when the cookie is back every
//! change that was finished before the request has been marked, and is read before the answer.
//! Requests that arrive while a cookie is out share the next one. Where cookies are not to be
//! had, and for `verified`, the disk is swept instead.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use skills_core::path::AbsPath;
use skills_core::resolve::{Candidate, Policy, Resolution, Site, State, resolve};
use tokio::sync::oneshot;

use crate::forest::{Node, Serial, Watch};
use crate::ground::Ground;
use crate::hints::Inbox;
use crate::holds::Holds;
use crate::journal::{Changes, Journal};
use crate::mcp::{PromptAnswer, PromptError};
use crate::provide::{Providers, Provision, Uses};
use crate::recorder::Recorder;
use crate::status::{Rebuilds, Status, WorktreeStatus};
use crate::view::{Health, Moment, View, ViewKey};
use crate::{Listener, Update};

/// How long a cookie is waited for before the disk is swept instead. A cookie takes
/// microseconds; one that takes this long is not coming.
const COOKIE_PATIENCE: Duration = Duration::from_secs(1);

/// How many views are kept; of more, the longest unused goes.
const MAX_VIEWS: usize = 256;

/// How long a view is kept that nobody asks for.
const VIEW_IDLE: Duration = Duration::from_hours(1);

/// How often directories that are not watched are looked at for those who follow a view.
const SWEEP_EVERY: Duration = Duration::from_secs(2);

/// How long a file that has just become empty is taken for one that is being written. A program
/// that empties a file and writes it again needs some ten microseconds in between.
const WRITING: Duration = Duration::from_millis(10);

/// How often one view may ask for more before it is published as it is. Each round answers
/// every question of the last, so only a disk that grows faster than it is read gets here.
const MAX_ROUNDS: usize = 1000;

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
    Provide(Box<Provision>),
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
    /// Read so much of each SKILL.md from now on.
    ReadLimit(u64),
    /// End.
    Stop,
}

/// A view that somebody waits for.
pub(crate) struct Request {
    pub(crate) key: Arc<ViewKey>,
    pub(crate) site: Arc<Site>,
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
enum Waiter {
    View { request: Request, pin: bool },
    Sync(oneshot::Sender<String>),
}

impl Waiter {
    fn takes_what_is_there(&self) -> bool {
        matches!(self, Self::View { request, .. } if request.freshness == Freshness::Cached)
    }
}

/// The engine's thread's own state; nobody shares it.
pub(crate) struct Engine {
    pub(crate) ground: Ground,
    pub(crate) inbox: Inbox,
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
    pub(crate) cookies: Cookies,
    pub(crate) rebuilds: Rebuilds,
    pub(crate) unused: bool,
    pub(crate) turns: Arc<AtomicU64>,
    pub(crate) holds: Holds,
    /// The views that were not published because a file may be being written, and since when.
    pub(crate) postponed: HashSet<Arc<ViewKey>>,
    pub(crate) postponed_at: Instant,
    /// When directories that are not watched were last looked at unasked.
    pub(crate) swept: Instant,
    pub(crate) listener: Option<Listener>,
    pub(crate) providers: Providers,
    /// What the user has decided about skills.
    pub(crate) policy: Arc<Policy>,
}

/// A view as the engine holds it.
pub(crate) struct Held {
    view: Arc<View>,
    /// The nodes its resolution depends on.
    depends: Depends,
    used: Instant,
}

/// A set of nodes, sorted.
#[derive(PartialEq)]
struct Depends(Vec<Serial>);

impl Depends {
    fn new(mut visited: Vec<Serial>) -> Self {
        visited.sort_unstable();
        visited.dedup();
        visited.shrink_to_fit();
        Self(visited)
    }

    fn contains(&self, serial: Serial) -> bool {
        self.0.binary_search(&serial).is_ok()
    }
}

/// A worktree that views are in.
#[derive(Default)]
pub(crate) struct Worktree {
    number: u32,
    pins: u32,
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

impl Engine {
    /// Runs until told to stop or everybody who could ask is gone.
    pub(crate) fn run(mut self, events: &Receiver<Event>) {
        while let Ok(first) = self.wait(events) {
            let mut news = false;
            for event in std::iter::once(first).chain(events.try_iter()) {
                if !news && !matches!(event, Event::Status(_)) {
                    news = true;
                    // Before the first answer: whoever has it may ask for the status at once, and
                    // must not get the one from before.
                    self.turns.fetch_add(1, Ordering::Release);
                }
                if !self.take(event) {
                    return;
                }
            }
            self.turn();
            if news {
                self.turns.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// Waits for an event, or for the cookie that is out to have taken too long.
    fn wait(&self, events: &Receiver<Event>) -> Result<Event, RecvError> {
        let left = match self.cookies.out {
            _ if !self.postponed.is_empty() => WRITING.saturating_sub(self.postponed_at.elapsed()),
            Some(since) => COOKIE_PATIENCE.saturating_sub(since.elapsed()),
            None if self.ground.is_deaf() && !self.holds.is_empty() => SWEEP_EVERY,
            None if self.views.is_empty() => return events.recv(),
            // To let go of what nobody has asked for.
            None => VIEW_IDLE,
        };
        match events.recv_timeout(left) {
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Timeout) => Ok(Event::Hints),
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
                // Whoever asked may be gone.
                let _ = reply.send(self.providers.are_awaited(&uses));
            }
            Event::Prompt { server, prompt, arguments, reply } => {
                self.providers.mcp.get(server, prompt, arguments, reply);
            }
            Event::Status(reply) => {
                let _ = reply.send(self.status());
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
        for waiter in waiters {
            let Waiter::View { request, .. } = waiter else { continue };
            // What a new view will depend on is not known yet, nor is it of one that waits.
            let known = self.views.get(&request.key);
            let known = known.filter(|_| !self.postponed.contains(&request.key));
            let depends = known.map(|it| &it.depends);
            let which = |it: &Node| depends.is_none_or(|set| set.contains(it.serial));
            match request.freshness {
                Freshness::Verified => self.ground.sweep(which),
                Freshness::Cached | Freshness::Synced => self.ground.sweep_deaf(which),
            }
        }
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
                .map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view.site)))
                .collect();
            if stale.is_empty() && changed.is_empty() {
                break;
            }
            for (key, site) in stale {
                self.rebuilds.changed += u64::from(!again.remove(&key));
                self.resolve(key, site, patient);
            }
        }
    }

    /// Resolves the views anew that what is provided bears on.
    fn provided_anew(&mut self, bears_on: impl Fn(&View) -> bool) {
        let views = self.views.iter().filter(|(_, it)| bears_on(&it.view));
        let stale: Vec<_> =
            views.map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view.site))).collect();
        for (key, site) in stale {
            self.rebuilds.changed += 1;
            self.resolve(key, site, false);
        }
    }

    /// Resolves a view, fetching what it asks for, and publishes it if it came out different.
    /// `patient`: not yet while a file of it seems to be being written.
    fn resolve(&mut self, key: Arc<ViewKey>, site: Arc<Site>, patient: bool) -> Arc<View> {
        let mut rounds = 0;
        let (resolution, depends, uses) = loop {
            let recorder =
                Recorder::new(&self.ground.forest, self.us, &self.providers, &self.policy);
            let resolution = resolve(&site, &recorder);
            let notes = recorder.into_notes();
            rounds += 1;
            if notes.needs.is_empty() || rounds >= MAX_ROUNDS {
                break (resolution, Depends::new(notes.visited), notes.uses);
            }
            self.ground.fulfil(notes.needs);
        };
        self.providers.want(&uses);
        let mut health = self.health(&site.cwd, &resolution, &depends);
        health.extend(self.providers.health(&uses));
        let before = self.views.get(&key);
        if let Some(held) = before.filter(|_| patient)
            && has_emptied(&held.view.resolution, &resolution)
        {
            if self.postponed.is_empty() {
                self.postponed_at = Instant::now();
            }
            let view = Arc::clone(&held.view);
            self.postponed.insert(key);
            return view;
        }
        let used = before.map_or_else(Instant::now, |it| it.used);
        self.unused |= before.is_some_and(|it| it.depends != depends);
        let before = before.map(|it| Arc::clone(&it.view));
        let same = before
            .clone()
            .filter(|it| *it.resolution == resolution && it.health == health && it.uses == uses);
        let is_new = same.is_none();
        let view = same.unwrap_or_else(|| {
            let clock = self.clock(&resolution.worktree);
            let tick = self.tick;
            let journal = match &before {
                None => Arc::new(Journal::new(tick)),
                Some(before) => Arc::clone(before.journal()),
            };
            let moment = Moment { clock, tick, journal };
            Arc::new(View::new(Arc::clone(&key), site, resolution, health, uses, moment))
        });
        self.views.insert(key, Held { view: Arc::clone(&view), depends, used });
        if is_new {
            let update = before.map(|before| follow(&before, Arc::clone(&view)));
            self.publish();
            // Told once it can be asked for.
            if let Some((listener, update)) = self.listener.as_ref().zip(update) {
                listener(&update);
            }
        }
        view
    }

    fn clock(&mut self, top: &AbsPath) -> String {
        self.tick += 1;
        let worktree = self.worktrees.entry(top.clone()).or_default();
        if worktree.number == 0 {
            self.numbers += 1;
            worktree.number = self.numbers;
        }
        format!("{}:{}:{}:{}", self.boot_id, worktree.number, self.rebuilds.total(), self.tick)
    }

    fn publish(&self) {
        let views = self.views.iter().map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view)));
        self.published.store(Arc::new(views.collect()));
    }

    fn answer(&mut self, waiter: Waiter) {
        // In all cases: whoever asked may be gone.
        match waiter {
            Waiter::Sync(reply) => {
                let clock = format!("{}:0:{}:{}", self.boot_id, self.rebuilds.total(), self.tick);
                let _ = reply.send(clock);
            }
            Waiter::View { request, pin } => {
                let Request { key, site, reply, .. } = request;
                let view = if let Some(held) = self.views.get_mut(&key) {
                    held.used = Instant::now();
                    let view = Arc::clone(&held.view);
                    self.providers.want(&view.uses);
                    view
                } else {
                    self.rebuilds.opened += 1;
                    self.resolve(key, site, false)
                };
                if pin {
                    self.worktrees.entry(view.resolution.worktree.clone()).or_default().pins += 1;
                }
                let _ = reply.send(view);
            }
        }
    }

    fn unpin(&mut self, top: &AbsPath) -> bool {
        let Some(worktree) = self.worktrees.get_mut(top).filter(|it| it.pins > 0) else {
            return false;
        };
        worktree.pins -= 1;
        if worktree.pins == 0 {
            let holds = &self.holds;
            self.views.retain(|key, it| it.view.resolution.worktree != *top || holds.has(key));
            self.unused = true;
            self.publish();
        }
        true
    }

    /// Lets go of views that nobody asks for, and of what only they needed.
    fn drop_unused(&mut self) {
        let views = self.views.iter();
        let mut idle: Vec<_> = views
            .map(|(key, it)| (it.used, Arc::clone(key), it.view.resolution.worktree.clone()))
            .collect();
        idle.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
        // Of a pinned worktree the view used last stays; it keeps the watches alive.
        let mut kept = BTreeSet::new();
        let pinned = |top: &AbsPath| self.worktrees.get(top).is_some_and(|it| it.pins > 0);
        idle.retain(|(_, key, top)| {
            !(self.holds.has(key) || pinned(top) && kept.insert(top.clone()))
        });
        let old = |used: &Instant| used.elapsed() > VIEW_IDLE;
        let gone: Vec<_> = idle
            .into_iter()
            .enumerate()
            .filter(|(newer, (used, ..))| *newer >= MAX_VIEWS || old(used))
            .map(|(_, (_, key, _))| key)
            .collect();
        if !gone.is_empty() {
            for key in gone {
                self.views.remove(&key);
            }
            self.unused = true;
            self.publish();
        }
        if std::mem::take(&mut self.unused) {
            let used = self.views.values().flat_map(|it| it.depends.0.iter().copied()).collect();
            self.ground.retain(&used);
            let live: BTreeSet<_> =
                self.views.values().map(|it| it.view.resolution.worktree.clone()).collect();
            self.worktrees.retain(|top, it| it.pins > 0 || live.contains(top));
        }
    }

    fn health(&self, cwd: &AbsPath, resolution: &Resolution, depends: &Depends) -> Vec<Health> {
        let mut health = Vec::new();
        let nodes = || {
            let deaf = self.ground.forest.iter().filter(|(_, it)| it.deaf());
            deaf.filter(|(_, it)| depends.contains(it.serial))
        };
        if self.watching && !self.ground.hears() {
            health.push(Health {
                code: "no-watcher",
                message: "the disk cannot be watched and is read at every request instead".into(),
                hint: "Raise the number of watchers with `sysctl fs.inotify.max_user_instances`.",
                path: None,
            });
        }
        let over_limit = nodes().filter(|(_, it)| it.watch == Watch::OverLimit).count();
        if over_limit > 0 {
            health.push(Health {
                code: "watch-limit",
                message: format!(
                    "the system's limit on inotify watches is reached; {over_limit} directories are read at every request instead"
                ),
                hint: "Raise it with `sysctl fs.inotify.max_user_watches`.",
                path: None,
            });
        }
        let read = |it: &Node| it.listing.is_some();
        let doubtful = nodes().filter(|(_, it)| read(it)).find_map(|(path, it)| match it.watch {
            Watch::Doubtful(kind) => Some((path, kind)),
            Watch::Unarmed | Watch::Armed | Watch::OverLimit | Watch::Refused => None,
        });
        if let Some((path, kind)) = doubtful {
            health.push(Health {
                code: "file-system",
                message: format!(
                    "changes made elsewhere on this file system ({kind}) are not told; it is compared at every request instead"
                ),
                hint: "Nothing has to be done; answers come faster from a local disk.",
                path: Some(path.clone()),
            });
        }
        // One that is only passed through on the way to a root is nobody's worry.
        let refused = nodes().find(|(_, it)| it.watch == Watch::Refused && read(it));
        if let Some((path, _)) = refused.filter(|_| self.ground.hears()) {
            health.push(Health {
                code: "not-watched",
                message: "a directory cannot be watched and is read at every request instead"
                    .into(),
                hint: "Give yourself read permission to it, if it is yours.",
                path: Some(path.clone()),
            });
        }
        if !resolution.cwd_exists {
            health.push(Health {
                code: "no-directory",
                message: "the working directory does not exist, or is not a directory".into(),
                hint: "Ask from a directory that exists; the user's own skills are listed all the same.",
                path: Some(cwd.to_path_buf().into()),
            });
        }
        if let Some(foreign) = &resolution.foreign {
            health.push(Health {
                code: "foreign-ancestor",
                message: "the search for the worktree's top stopped at a directory of another user"
                    .into(),
                hint: "Work as the user who owns the worktree, or change its owner.",
                path: Some(foreign.clone().into_path_buf().into()),
            });
        }
        for file in &resolution.settings {
            let path: OsString = file.path.to_path_buf().into();
            health.extend(file.problems().into_iter().map(|message| Health {
                code: "agent-settings",
                message,
                hint: "Mend the agent's configuration file; `skillsd explain` tells what each of them decides.",
                path: Some(path.clone()),
            }));
        }
        if !resolution.complete {
            health.push(Health {
                code: "incomplete",
                message: "the disk changed faster than it could be read".into(),
                hint: "Ask again.",
                path: None,
            });
        }
        health
    }

    fn status(&self) -> Status {
        let nodes = self.ground.forest.iter();
        let worktrees = self.worktrees.iter().map(|(top, worktree)| {
            let views = self.views.values().filter(|it| it.view.resolution.worktree == *top);
            let mut skills = BTreeMap::new();
            // One view stands for the worktree: the one used last.
            if let Some(held) = views.clone().max_by_key(|it| it.used) {
                for state in State::ALL {
                    skills.insert(state, held.view.resolution.count(state));
                }
            }
            let mut health: Vec<_> = views.clone().flat_map(|it| it.view.health.clone()).collect();
            health.sort_by_key(|it| it.code);
            health.dedup();
            WorktreeStatus {
                path: top.clone(),
                views: views.count(),
                pinned: worktree.pins > 0,
                skills,
                health,
            }
        });
        Status {
            turn: self.turns.load(Ordering::Relaxed),
            boot_id: self.boot_id.clone(),
            worktrees: worktrees.collect(),
            watches: nodes
                .filter(|(_, it)| matches!(it.watch, Watch::Armed | Watch::Doubtful(_)))
                .count(),
            watch_limit: self.watch_limit,
            rebuilds: self.rebuilds,
            counters: self.ground.counters,
            sources: self.providers.status(),
        }
    }
}

/// Whether a file is empty that was not, or was not there.
fn has_emptied(before: &Resolution, after: &Resolution) -> bool {
    let is_empty = |it: &Candidate| it.record().is_some_and(|it| it.facts.size == 0);
    after.candidates.iter().filter(|it| is_empty(it)).any(|it| {
        // Few are empty, if any, and rarely more than once.
        let was = before.candidates.iter().find(|was| was.path == it.path);
        !was.is_some_and(is_empty)
    })
}

/// Keeps the step from a view to the next, and says what it is.
fn follow(before: &View, view: Arc<View>) -> Update {
    let mut changes = Changes::between(&before.resolution, &view.resolution);
    let (skills, findings) = (changes.any(), changes.findings);
    let invalid = std::mem::take(&mut changes.invalid);
    view.journal().push(view.tick(), changes);
    let health = before.health != view.health;
    Update { view, skills, invalid, findings, health }
}

impl Cookies {
    /// The ticket that is out is not coming back; a late one must not be taken for the next.
    fn give_up(&mut self) {
        self.out = None;
        self.ticket = ((self.ticket >> 32) + 1) << 32;
    }
}
