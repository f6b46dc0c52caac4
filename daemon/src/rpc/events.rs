//! [`Bus`]: subscriptions of clients and the delivery of events to them.
//!
//! [`Bus::publish`] neither waits nor fails. It puts the event into the [`Mailbox`] of each
//! subscribed connection, which sends it when it has nothing else to write. A mailbox holds at most
//! one event per subscription and kind, the latest, so a client that does not read costs little.

mod mailbox;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use skills_discovery::discover::Environment;
use skills_engine::{Update, View, ViewKey, ViewLease};
use skills_platform::lock::lock;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Context, Event, EventKind};
use skills_syntax::path::AbsPath;
use tokio::sync::watch;

use crate::convert::to_wire;

pub(crate) use mailbox::Mailbox;

/// Delivers events to subscribers.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    table: Mutex<Table>,
    /// Number of changes to the skills of views, other than by a call.
    n_changes: AtomicU64,
    /// Wakes calls that wait for changes of views.
    changes: watch::Sender<()>,
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
    /// Keeps the view live; `None` before its first request and for subscriptions without a view.
    hold: Option<ViewLease>,
}

/// Scope of a subscription.
#[derive(Clone, Debug)]
pub(crate) enum Interest {
    /// All events.
    Everything,
    /// Events of one view, its worktree and its session.
    View {
        key: Arc<ViewKey>,
        worktree: AbsPath,
        /// The session, if the subscriber named one.
        followed: Option<Arc<FollowedSession>>,
    },
}

/// A session whose view is followed as it changes.
#[derive(Clone, Debug)]
pub(crate) struct FollowedSession {
    pub(crate) session: String,
    /// Context that the subscriber sent; the rest comes from the session.
    pub(crate) context: Context,
    /// Environment that the subscriber sent with `initialize`.
    pub(crate) environment: Option<Environment>,
}

/// Subject of an event, which selects the subscriptions that receive it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventSubject<'a> {
    pub(crate) view: Option<&'a ViewKey>,
    pub(crate) worktree: Option<&'a AbsPath>,
    pub(crate) session: Option<&'a str>,
}

/// A set of event kinds, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

/// A subscription. Dropping it ends the subscription.
#[derive(Debug)]
pub(crate) struct Subscription {
    id: u64,
    bus: Arc<Bus>,
    mailbox: Arc<Mailbox>,
}

impl Bus {
    /// Returns true if there is a subscription, or a call that waits for changes of views.
    pub(crate) fn is_followed(&self) -> bool {
        self.changes.receiver_count() > 0 || !lock(&self.table).followers.is_empty()
    }

    /// Returns a receiver that is notified when any view changes.
    pub(crate) fn view_changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Delivers an event to its subscribers. Does not wait.
    pub(crate) fn publish(&self, about: EventSubject<'_>, event: &Event) {
        let table = lock(&self.table);
        for (id, follower) in &table.followers {
            if follower.kinds.has(event.kind) && follower.interest.covers(about) {
                follower.mailbox.put(*id, event);
            }
        }
    }

    /// Publishes the change of a view.
    pub(crate) fn view_changed(&self, update: &Update) {
        let view = &update.view;
        self.changes.send_replace(());
        self.n_changes.fetch_add(u64::from(update.skills), Ordering::Relaxed);
        let about = EventSubject {
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
                self.publish(about, &view_event(view, kind));
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
                ..view_event(view, EventKind::SkillsInvalid)
            };
            self.publish(about, &event);
        }
    }

    /// Returns the subscriptions to the view of a session, each with its current view and the
    /// subscriber's context.
    pub(crate) fn following(
        &self,
        session: &str,
    ) -> Vec<(u64, Arc<ViewKey>, Arc<FollowedSession>)> {
        let table = lock(&self.table);
        let all = table.followers.iter().filter_map(|(id, it)| match &it.interest {
            Interest::View { key, followed: Some(its), .. } if its.session == session => {
                Some((*id, Arc::clone(key), Arc::clone(its)))
            }
            Interest::View { .. } | Interest::Everything => None,
        });
        all.collect()
    }

    /// Moves a subscription to another view and keeps that view live. `previous_if_different` is
    /// the previous view if its skills differ; the subscriber then gets an event.
    pub(crate) fn move_to_view(
        &self,
        id: u64,
        view: &View,
        hold: ViewLease,
        previous_if_different: Option<&View>,
    ) {
        let mut table = lock(&self.table);
        let Some(follower) = table.followers.get_mut(&id) else { return };
        if let Interest::View { key, worktree, .. } = &mut follower.interest {
            *key = Arc::clone(&view.key);
            worktree.clone_from(&view.resolution.worktree);
        }
        let before = follower.hold.replace(hold);
        let is_news = previous_if_different.is_some_and(|it| it.resolution != view.resolution);
        if is_news && follower.kinds.has(EventKind::SkillsChanged) {
            follower.mailbox.put(id, &view_event(view, EventKind::SkillsChanged));
        }
        drop(table);
        // Dropping the lease takes another lock.
        drop(before);
    }

    /// Returns the number of changes to the skills of views, other than by a call.
    pub(crate) fn n_changes(&self) -> u64 {
        self.n_changes.load(Ordering::Relaxed)
    }

    /// Begins a subscription. Its events wait in the mailbox until the subscription is announced.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        kinds: Kinds,
        interest: Interest,
        mailbox: &Arc<Mailbox>,
    ) -> Subscription {
        let mut table = lock(&self.table);
        table.last += 1;
        let id = table.last;
        let mailbox = Arc::clone(mailbox);
        table
            .followers
            .insert(id, Follower { kinds, interest, mailbox: Arc::clone(&mailbox), hold: None });
        drop(table);
        Subscription { id, bus: Arc::clone(self), mailbox }
    }
}

/// Returns an event about a view.
fn view_event(view: &View, kind: EventKind) -> Event {
    let encoding = encoding_of([&*view.key.cwd]);
    Event {
        clock: Some(view.clock.clone()),
        cwd: Some(encode(&view.key.cwd, encoding)),
        profile: Some(view.ctx.profile.id.to_string()),
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
        let ended = lock(&self.bus.table).followers.remove(&self.id);
        drop(ended);
        self.mailbox.forget(self.id);
    }
}

impl Interest {
    fn covers(&self, about: EventSubject<'_>) -> bool {
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
    /// Returns the set of `kinds`; all kinds if the slice is empty.
    pub(crate) fn of(kinds: &[EventKind]) -> Self {
        let kinds = if kinds.is_empty() { EventKind::ALL } else { kinds };
        Self(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u16))
    }

    fn has(self, kind: EventKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }

    /// Returns the kinds in the order of docs/protocol.md.
    pub(crate) fn list(self) -> Vec<EventKind> {
        EventKind::ALL.iter().copied().filter(|it| self.has(*it)).collect()
    }
}

#[cfg(test)]
mod tests;
