//! The conversations in memory, and the order in which what changes there reaches the disk.
//!
//! The invariant: memory and disk have the changes of a conversation in the same order. Whatever
//! changes is handed to the store under the lock of what is in memory; and what was read of the
//! disk is taken into memory only if nothing has left memory since, or it would bring back what
//! was closed meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use skills_syntax::path::AbsPath;

use super::{HEARD, Sessions};
use crate::sessions::session::{Session, USED_WITHIN};
use crate::sessions::store;
use crate::sessions::store::{HandedIn, Part, StoreError, millis, now};

/// How many conversations are held in memory; of more, those that were not used for longest are
/// only on disk.
const MOST_LIVE: usize = 2048;

/// Prefix of the id of a session that could not be read.
const ASIDE: &str = "damaged-";

/// The conversations in memory.
#[derive(Default)]
pub(super) struct Live {
    pub(super) sessions: HashMap<String, Arc<Session>>,
    /// How often conversations have left memory, or were changed on disk alone. What was read of
    /// the disk while this went up may be older than what is there.
    pub(super) n_left: u64,
}

impl Sessions {
    /// Returns a conversation, which is no use of it.
    pub async fn found(&self, id: &str) -> Option<Arc<Session>> {
        self.having(id).await?.sessions.get(id).cloned()
    }

    /// Returns what is in memory with this conversation in it, locked; none when there is none of
    /// that id.
    async fn having(&self, id: &str) -> Option<MutexGuard<'_, Live>> {
        loop {
            let n_left = {
                let live = self.live();
                if live.sessions.contains_key(id) {
                    return Some(live);
                }
                live.n_left
            };
            let wanted = id.to_owned();
            let found = self.store.ask(move |it| store::load(it, &wanted)).await;
            if let Err(StoreError::Damaged(why)) = &found {
                self.set_aside(id, why).await;
            }
            let found = found.inspect_err(|error| tracing::warn!(%error, "a session is not read"));
            let session = Arc::new(found.ok().flatten()?);
            let mut live = self.live();
            // Somebody else may have been faster and gone on from there, and even have closed it.
            if live.sessions.contains_key(id) {
                return Some(live);
            }
            if live.n_left == n_left {
                live.make_room();
                live.sessions.insert(id.to_owned(), session);
                return Some(live);
            }
        }
    }

    /// Sets a conversation aside that cannot be read, and tells so.
    pub(super) async fn set_aside(&self, id: &str, why: &str) {
        if id.starts_with(ASIDE) {
            return;
        }
        let (wanted, aside) = (id.to_owned(), format!("{ASIDE}{} {id}", now()));
        let kept = aside.clone();
        let done = self.store.perform(move |it| store::set_aside(it, &wanted, &kept)).await;
        let shown: String = id.chars().take(64).collect();
        let what = match done {
            Ok(()) => "it is set aside and begins anew".to_owned(),
            Err(error) => format!("and it cannot be set aside: {error}"),
        };
        let message = format!("session `{shown}` could not be read ({why}); {what}");
        self.store.tell_damage(message, "Nothing is needed: it is forgotten when sessions expire.");
    }

    pub(super) async fn forget(
        &self,
        id: &str,
        agent: Option<&str>,
        only: Option<Vec<AbsPath>>,
        announced: bool,
    ) {
        let agent = agent.unwrap_or_default().to_owned();
        let wanted = id.to_owned();
        let handed_in = {
            let mut live = self.live();
            match live.sessions.get_mut(id) {
                Some(it) => Arc::make_mut(it).forget(&agent, only.as_deref(), announced),
                None => live.n_left += 1,
            }
            self.store.hand_in(move |it| {
                store::drop_agent(it, &wanted, &agent, only.as_deref(), announced)
            })
        };
        handed_in.kept().await;
    }

    /// Changes a conversation that there is and waits until the parts are on disk.
    pub(super) async fn change_known<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session) -> (Vec<Part>, T),
    ) -> Option<(Arc<Session>, T)> {
        let changed = {
            let mut live = self.having(id).await?;
            self.change_live(live.sessions.get_mut(id)?, change)
        };
        Some(changed.kept().await)
    }

    /// Changes a conversation and waits until the parts are on disk. One that is not there is
    /// made; `change` is told so.
    pub(super) async fn change<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session, bool) -> (Vec<Part>, T),
    ) -> (Arc<Session>, T) {
        let changed = loop {
            let n_left = self.live().n_left;
            let is_known = self.get(id).await.is_some();
            let mut live = self.live();
            let is_live = live.sessions.contains_key(id);
            if !is_live && (is_known || live.n_left != n_left) {
                // It has left memory since, for the disk or for good.
                continue;
            }
            if !is_live {
                live.make_room();
            }
            let entry = live.sessions.entry(id.to_owned());
            let entry = entry.or_insert_with(|| Arc::new(Session::new(id, now())));
            break self.change_live(entry, |it| change(it, !is_live));
        };
        changed.kept().await
    }

    /// Changes a conversation in memory, and hands the parts that are new to the store: under the
    /// lock of what is in memory, for the disk to have all changes in the same order.
    fn change_live<T>(
        &self,
        entry: &mut Arc<Session>,
        change: impl FnOnce(&mut Session) -> (Vec<Part>, T),
    ) -> Changed<T> {
        let (parts, result) = change(Arc::make_mut(entry));
        let (session, saved) = (Arc::clone(entry), Arc::clone(entry));
        let handed_in = (!parts.is_empty())
            .then(|| self.store.hand_in(move |it| store::save(it, &saved, &parts)));
        Changed { session, result, handed_in }
    }

    /// Notes that a conversation is used, on disk now and then.
    pub(super) fn used(&self, session: Arc<Session>) -> Arc<Session> {
        let at = now();
        if at.saturating_sub(session.used) <= USED_WITHIN {
            return session;
        }
        let mut live = self.live();
        let Some(entry) = live.sessions.get_mut(&session.id) else { return session };
        Arc::make_mut(entry).used = at;
        let (session, saved) = (Arc::clone(entry), Arc::clone(entry));
        self.store.leave(move |it| store::save(it, &saved, &[Part::Used]));
        session
    }

    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        // Each conversation is replaced whole.
        self.shared.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conversation that was changed in memory, on its way to the disk.
#[must_use = "whoever is answered before it is kept may lose it"]
struct Changed<T> {
    session: Arc<Session>,
    result: T,
    /// None where there is nothing to keep.
    handed_in: Option<HandedIn<()>>,
}

impl<T> Changed<T> {
    async fn kept(self) -> (Arc<Session>, T) {
        if let Some(handed_in) = self.handed_in {
            handed_in.kept().await;
        }
        (self.session, self.result)
    }
}

impl Live {
    /// Lets go of conversations that were not used for longest when there are too many. They are
    /// on disk.
    fn make_room(&mut self) {
        if self.sessions.len() < MOST_LIVE {
            return;
        }
        let mut used: Vec<_> = self.sessions.values().map(|it| it.used).collect();
        used.sort_unstable();
        let oldest = used[used.len() / 4];
        let at = now();
        self.n_left += 1;
        self.sessions.retain(|_, it| it.used > oldest || is_heard(it, at));
    }
}

/// Whether files that change are heard for a conversation.
pub(super) fn is_heard(session: &Session, at: u64) -> bool {
    session.auto && at.saturating_sub(session.used) < millis(HEARD)
}
