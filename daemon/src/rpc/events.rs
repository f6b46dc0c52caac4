//! Who wants to be told of what, and how news reaches them.
//!
//! [`Bus::publish`] is the one way in: whoever changes something that clients follow says so in
//! one call, which neither waits nor fails. What comes of it lies in the [`Mailbox`] of each
//! connection until the connection has nothing else to write: of each subscription and kind at
//! most one event, the latest. A connection that nobody reads holds these few and no more.

mod mailbox;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skills_engine::{Update, View, ViewKey, ViewLease};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Context, Event, EventKind};
use skills_syntax::path::AbsPath;

use crate::api::to_wire;
use crate::rpc::peer::Environment;

pub(crate) use mailbox::Mailbox;

/// Brings news to those who subscribed to them.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    table: Mutex<Table>,
    /// How often the skills of a view have changed by themselves.
    n_changes: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    last: u64,
    followers: BTreeMap<u64, Follower>,
}

#[derive(Debug)]
struct Follower {
    kinds: Kinds,
    interest: Interest,
    mailbox: Arc<Mailbox>,
    /// Keeps the view live; none before it is asked for, and where none is followed.
    hold: Option<ViewLease>,
}

/// What a subscription is about.
#[derive(Clone, Debug)]
pub(crate) enum Interest {
    /// Everything.
    Everything,
    /// One view, and what is about its worktree or its session.
    View {
        /// What the view is of.
        key: Arc<ViewKey>,
        /// Where it is.
        worktree: AbsPath,
        /// The conversation, where the subscriber named one.
        followed: Option<Arc<Followed>>,
    },
}

/// A conversation whose view is followed, wherever it goes.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    /// Its id.
    pub(crate) session: String,
    /// What the subscriber has said; all else is as the conversation has it.
    pub(crate) context: Context,
    /// The variables that the subscriber has introduced itself with.
    pub(crate) environment: Option<Environment>,
}

/// What an event is about, for choosing who is told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// The view, where it is one.
    pub(crate) view: Option<&'a ViewKey>,
    /// The worktree, where it is one.
    pub(crate) worktree: Option<&'a AbsPath>,
    /// The conversation, where it is one.
    pub(crate) session: Option<&'a str>,
}

/// A set of kinds, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

/// A subscription; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    id: u64,
    bus: Arc<Bus>,
    mailbox: Arc<Mailbox>,
}

impl Bus {
    /// Returns whether anybody wants to be told of anything.
    pub(crate) fn is_followed(&self) -> bool {
        !self.lock().followers.is_empty()
    }

    /// Tells those who want to know. Does not wait, whoever they are.
    pub(crate) fn publish(&self, about: About<'_>, event: &Event) {
        let table = self.lock();
        for (id, follower) in &table.followers {
            if follower.kinds.has(event.kind) && follower.interest.covers(about) {
                follower.mailbox.put(*id, event);
            }
        }
    }

    /// Tells of a view that has changed.
    pub(crate) fn view_changed(&self, update: &Update) {
        let view = &update.view;
        self.n_changes.fetch_add(u64::from(update.skills), Ordering::Relaxed);
        let about = About {
            view: Some(&view.key),
            worktree: Some(&view.resolution.worktree),
            session: None,
        };
        for (happened, kind) in [
            (update.skills, EventKind::SkillsChanged),
            (update.findings, EventKind::DiagnosticsChanged),
            (update.health, EventKind::HealthChanged),
        ] {
            if happened {
                self.publish(about, &of_view(view, kind));
            }
        }
        for index in &update.invalid {
            let candidate = &view.resolution.candidates[*index];
            let encoding = encoding_of([&*view.key.cwd, &*candidate.path]);
            let event = Event {
                cwd: Some(encode(&view.key.cwd, encoding)),
                name: Some(candidate.name.clone()),
                path: Some(encode(&candidate.path, encoding)),
                path_encoding: encoding,
                message: Some(to_wire::invalid_message(candidate)),
                ..of_view(view, EventKind::SkillsInvalid)
            };
            self.publish(about, &event);
        }
    }

    /// Returns the subscriptions to what a conversation sees, with the view that each follows and
    /// what it was subscribed to by.
    pub(crate) fn following(&self, session: &str) -> Vec<(u64, Arc<ViewKey>, Arc<Followed>)> {
        let table = self.lock();
        let all = table.followers.iter().filter_map(|(id, it)| match &it.interest {
            Interest::View { key, followed: Some(its), .. } if its.session == session => {
                Some((*id, Arc::clone(key), Arc::clone(its)))
            }
            Interest::View { .. } | Interest::Everything => None,
        });
        all.collect()
    }

    /// Keeps the view of a subscription live, which is that view from now on. Where it shows
    /// something else than the one before, that is told.
    pub(crate) fn turn(&self, id: u64, view: &View, hold: ViewLease, shows_else: Option<&View>) {
        let mut table = self.lock();
        let Some(follower) = table.followers.get_mut(&id) else { return };
        if let Interest::View { key, worktree, .. } = &mut follower.interest {
            *key = Arc::clone(&view.key);
            worktree.clone_from(&view.resolution.worktree);
        }
        let before = follower.hold.replace(hold);
        let is_news = shows_else.is_some_and(|it| it.resolution != view.resolution);
        if is_news && follower.kinds.has(EventKind::SkillsChanged) {
            follower.mailbox.put(id, &of_view(view, EventKind::SkillsChanged));
        }
        drop(table);
        // What lets go of a view takes a lock of its own.
        drop(before);
    }

    /// Returns how often the skills of a view have changed by themselves.
    pub(crate) fn n_changes(&self) -> u64 {
        self.n_changes.load(Ordering::Relaxed)
    }

    /// Begins a subscription whose events lie in the mailbox until they may be sent.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        kinds: Kinds,
        interest: Interest,
        mailbox: &Arc<Mailbox>,
    ) -> Subscription {
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        let mailbox = Arc::clone(mailbox);
        table
            .followers
            .insert(id, Follower { kinds, interest, mailbox: Arc::clone(&mailbox), hold: None });
        drop(table);
        Subscription { id, bus: Arc::clone(self), mailbox }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // One entry is put in or taken out at a time.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns an event about a view.
fn of_view(view: &View, kind: EventKind) -> Event {
    let encoding = encoding_of([&*view.key.cwd]);
    Event {
        clock: Some(view.clock.clone()),
        cwd: Some(encode(&view.key.cwd, encoding)),
        profile: Some(view.key.profile.clone()),
        path_encoding: encoding,
        ..Event::new(kind)
    }
}

impl Subscription {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let ended = self.bus.lock().followers.remove(&self.id);
        drop(ended);
        self.mailbox.forget(self.id);
    }
}

impl Interest {
    fn covers(&self, about: About<'_>) -> bool {
        match self {
            Self::Everything => true,
            Self::View { key, worktree, followed } => match (about.view, about.session, followed) {
                (Some(view), ..) => *view == **key,
                (None, Some(its), Some(followed)) => followed.session == its,
                (None, ..) => about.worktree.is_none_or(|it| it == worktree),
            },
        }
    }
}

impl Kinds {
    /// Returns the set of these kinds; of all where there are none.
    pub(crate) fn of(kinds: &[EventKind]) -> Self {
        let kinds = if kinds.is_empty() { EventKind::ALL } else { kinds };
        Self(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u16))
    }

    fn has(self, kind: EventKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }

    /// Returns the kinds in the order of the reference.
    pub(crate) fn list(self) -> Vec<EventKind> {
        EventKind::ALL.iter().copied().filter(|it| self.has(*it)).collect()
    }
}

#[cfg(test)]
mod tests;
