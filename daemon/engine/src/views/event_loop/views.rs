//! The views that the engine holds: resolved, published, and let go of.
//!
//! A view is resolved until it asks for nothing more; what it asked for is known then, and what it
//! depends on is noted with it. It is published when it came out different, and told after that.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use skills_discovery::discover::{Candidate, DiscoveryContext, Resolution, discover};
use skills_syntax::path::AbsPath;

use super::{EngineState, SLICE, Waiter};
use crate::Update;
use crate::files::dir_index::{Need, NodeId};
use crate::sources::source_set::Uses;
use crate::views::idle_check::LastUsed;
use crate::views::journal::{Changes, Journal};
use crate::views::tracked_tree::TrackedTree;
use crate::views::view::{View, ViewKey, ViewVersion};

/// How many views are kept; of more, the longest unused goes.
const MAX_VIEWS: usize = 256;

/// How many worktrees are kept for those who have opened them; of more, the one that was opened
/// longest ago is closed.
const MOST_PINNED: usize = 256;

/// How often one view may ask for more before it is published as it is. Each round answers
/// every question of the last, so only a disk that grows faster than it is read gets here.
const MAX_ROUNDS: usize = 1000;

/// A view as the engine holds it.
pub(crate) struct Held {
    pub(super) view: Arc<View>,
    /// The nodes its resolution depends on.
    pub(super) depends: Depends,
    pub(super) asked: Arc<LastUsed>,
}

/// A view that is being resolved.
pub(crate) struct Scan {
    key: Arc<ViewKey>,
    ctx: Arc<DiscoveryContext>,
    patient: bool,
    /// The questions that are still open.
    needs: Vec<Need>,
    rounds: usize,
    /// The requests that are answered when it is done.
    waiters: Vec<Waiter>,
}

impl Scan {
    /// Returns whether a caller still waits for it.
    fn is_wanted(&self) -> bool {
        self.waiters.iter().any(|it| match it {
            Waiter::View { request, .. } => !request.reply.is_closed(),
            Waiter::Sync(reply) => !reply.is_closed(),
            Waiter::Awaited(_, reply) => !reply.is_closed(),
        })
    }
}

/// A set of nodes, sorted.
#[derive(PartialEq)]
pub(super) struct Depends(Vec<NodeId>);

impl Depends {
    fn new(mut visited: Vec<NodeId>) -> Self {
        visited.sort_unstable();
        visited.dedup();
        visited.shrink_to_fit();
        Self(visited)
    }

    pub(super) fn contains(&self, serial: NodeId) -> bool {
        self.0.binary_search(&serial).is_ok()
    }
}

impl EngineState {
    /// Resolves the views anew that what is provided bears on.
    pub(super) fn provided_anew(&mut self, bears_on: impl Fn(&View) -> bool) {
        let views = self.views.iter().filter(|(_, it)| bears_on(&it.view));
        let stale: Vec<_> =
            views.map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view.ctx))).collect();
        for (key, ctx) in stale {
            self.rebuilds.changed += 1;
            self.resolve(key, ctx, false);
        }
    }

    /// Resolves a view, fetching what it asks for, and publishes it if it came out different; where
    /// that takes longer than a slice, the rest is done in later ones.
    /// `patient`: not yet while a file of it seems to be being written.
    pub(super) fn resolve(&mut self, key: Arc<ViewKey>, ctx: Arc<DiscoveryContext>, patient: bool) {
        if let Some(scan) = self.scan_of(&key) {
            scan.patient &= patient;
            return;
        }
        let (needs, waiters) = (Vec::new(), Vec::new());
        let scan = Scan { key, ctx, patient, needs, rounds: 0, waiters };
        if Instant::now() < self.until {
            self.advance(scan);
        } else {
            self.scans.push_back(scan);
        }
    }

    /// Goes on with the views that are being resolved, for one slice, and answers those who waited
    /// for them.
    pub(super) fn scan(&mut self) {
        self.until = Instant::now() + SLICE;
        while let Some(scan) = self.scans.pop_front() {
            // Drops the scan of a view that is neither awaited nor kept.
            if scan.is_wanted() || self.views.contains_key(&scan.key) {
                self.advance(scan);
            }
            if Instant::now() >= self.until {
                break;
            }
        }
        let served = std::mem::take(&mut self.served);
        if !served.is_empty() {
            self.settle(&served);
            for waiter in served {
                self.answer(waiter);
            }
        }
    }

    /// Returns the view of that key where it is being resolved.
    fn scan_of(&mut self, key: &ViewKey) -> Option<&mut Scan> {
        self.scans.iter_mut().find(|it| *it.key == *key)
    }

    /// Keeps who waits for something that is being resolved until that is done; returns all others.
    pub(super) fn put_off(&mut self, waiter: Waiter) -> Option<Waiter> {
        let scan = match &waiter {
            Waiter::View { request, .. } => {
                let is_there = self.views.contains_key(&request.key);
                let takes_it = is_there && waiter.takes_what_is_there();
                self.scan_of(&request.key).filter(|_| !takes_it)
            }
            // Views that are published already have to be up to date.
            Waiter::Sync(_) | Waiter::Awaited(..) => {
                let views = &self.views;
                self.scans.iter_mut().find(|it| views.contains_key(&it.key))
            }
        };
        let Some(scan) = scan else { return Some(waiter) };
        scan.patient = false;
        scan.waiters.push(waiter);
        None
    }

    /// Resolves a view as far as the slice allows.
    fn advance(&mut self, mut scan: Scan) {
        let (resolution, depends, uses) = loop {
            if !scan.needs.is_empty() {
                scan.needs = self.ground.fulfil(std::mem::take(&mut scan.needs), self.until);
                if !scan.needs.is_empty() || Instant::now() >= self.until {
                    self.scans.push_back(scan);
                    return;
                }
            }
            let recorder =
                TrackedTree::new(&self.ground.forest, self.us, &self.providers, &self.policy);
            let resolution = discover(&scan.ctx, &recorder);
            let notes = recorder.into_notes();
            scan.rounds += 1;
            if notes.needs.is_empty() || scan.rounds >= MAX_ROUNDS {
                break (resolution, Depends::new(notes.visited), notes.uses);
            }
            scan.needs = notes.needs;
        };
        let Scan { key, ctx, patient, waiters, .. } = scan;
        self.served.extend(waiters);
        self.conclude(key, ctx, patient, (resolution, depends, uses));
    }

    /// Publishes a view that was resolved, if it came out different.
    fn conclude(
        &mut self,
        key: Arc<ViewKey>,
        ctx: Arc<DiscoveryContext>,
        patient: bool,
        (resolution, depends, uses): (Resolution, Depends, Uses),
    ) {
        self.providers.want(&uses);
        let mut health = self.health(&ctx.cwd, &resolution, &depends);
        health.extend(self.providers.health(&uses));
        let before = self.views.get(&key);
        if let Some(held) = before.filter(|_| patient)
            && has_emptied(&held.view.resolution, &resolution)
        {
            if self.postponed.is_empty() {
                self.postponed_at = Instant::now();
            }
            self.postponed.insert(key);
            return;
        }
        let top = &resolution.worktree;
        let asked = before.filter(|it| it.view.resolution.worktree == *top);
        let worktree = self.worktrees.entry(top.clone()).or_default();
        let new = || Arc::new(LastUsed::new(&worktree.latest));
        let asked = asked.map_or_else(new, |it| Arc::clone(&it.asked));
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
            let moment = ViewVersion { clock, tick, journal, asked: Arc::clone(&asked) };
            Arc::new(View::new(Arc::clone(&key), ctx, resolution, health, uses, moment))
        });
        self.views.insert(key, Held { view: Arc::clone(&view), depends, asked });
        if is_new {
            let update = before.map(|before| follow(&before, Arc::clone(&view)));
            self.publish();
            // Told once it can be asked for.
            if let Some((listener, update)) = self.listener.as_ref().zip(update) {
                listener(&update);
            }
        }
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

    pub(super) fn publish(&self) {
        let views = self.views.iter().map(|(key, it)| (Arc::clone(key), Arc::clone(&it.view)));
        self.published.store(Arc::new(views.collect()));
    }

    pub(super) fn pin(&mut self, top: &AbsPath) {
        let pinned = self.worktrees.iter().filter(|(it, worktree)| worktree.pins > 0 && *it != top);
        if pinned.clone().count() >= MOST_PINNED
            && let Some((oldest, _)) = pinned.min_by_key(|(_, worktree)| worktree.opened)
        {
            let oldest = oldest.clone();
            tracing::warn!(path = ?oldest, "closed, because too many worktrees are opened to stay");
            while self.unpin(&oldest) {}
        }
        self.opened += 1;
        let worktree = self.worktrees.entry(top.clone()).or_default();
        worktree.pins += 1;
        worktree.opened = self.opened;
    }

    pub(super) fn unpin(&mut self, top: &AbsPath) -> bool {
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
    pub(super) fn drop_unused(&mut self) {
        let views = self.views.iter();
        let mut idle: Vec<_> = views
            .map(|(key, it)| {
                (it.asked.last(), Arc::clone(key), it.view.resolution.worktree.clone())
            })
            .collect();
        idle.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
        // Of a pinned worktree the view used last stays; it keeps the watches alive.
        let mut kept = BTreeSet::new();
        let pinned = |top: &AbsPath| self.worktrees.get(top).is_some_and(|it| it.pins > 0);
        idle.retain(|(_, key, top)| {
            !(self.holds.has(key) || pinned(top) && kept.insert(top.clone()))
        });
        let old = |used: &Instant| used.elapsed() > self.idle;
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
        // No view holds the nodes of one that is still being resolved.
        if self.scans.is_empty() && std::mem::take(&mut self.unused) {
            let used = self.views.values().flat_map(|it| it.depends.0.iter().copied()).collect();
            self.ground.retain(&used);
            let live: BTreeSet<_> =
                self.views.values().map(|it| it.view.resolution.worktree.clone()).collect();
            self.worktrees.retain(|top, it| it.pins > 0 || live.contains(top));
            // Also where nothing but a status was asked for, which is answered before this.
            self.turns.fetch_add(1, Ordering::Release);
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
    let own_file = |it: &View| it.resolution.own_file;
    // What it says about rules makes findings, or takes them away.
    let findings = changes.findings || own_file(before) != own_file(&view);
    let skills = changes.any();
    let invalid = std::mem::take(&mut changes.invalid);
    view.journal().push(view.tick(), changes);
    let health = before.health != view.health;
    Update { view, skills, invalid, findings, health }
}
