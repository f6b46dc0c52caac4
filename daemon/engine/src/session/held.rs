//! All conversations: those in use in memory, all of them in the store.
//!
//! A conversation is replaced under a short lock, so that two touches at once lose nothing of each
//! other. What changed goes to the store, and the caller is answered when it is on disk; what the
//! disk does not take waits in the store, which says so. Those that nobody uses are only on disk.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skills_core::hooks::Hook;
use skills_core::path::AbsPath;
use skills_core::profile::Compaction;

use super::compaction::{self, Compacted};
use super::{
    HookOwner, Invocation, Loaded, Met, Opening, RegisteredHook, Session, Summary, USED_WITHIN,
};
use crate::run::VIEW_IDLE;
use crate::store::{self, Part, Store, millis, now};

/// How many conversations are held in memory; of more, those that were not used for longest are
/// only on disk.
const MOST_LIVE: usize = 2048;

/// For how long after its last use files that change are heard for a conversation that wants that,
/// without its being asked for anything: as long as its view is kept.
pub(crate) const HEARD: Duration = VIEW_IDLE;

/// How many conversations one waking takes into memory, the one used last first.
const MOST_AWAKE: usize = 1024;

/// All conversations; cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    store: Store,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    live: Mutex<HashMap<String, Arc<Session>>>,
    /// How many ids were made.
    made: AtomicU64,
    /// When those that nobody uses were last forgotten.
    swept: AtomicU64,
}

impl Sessions {
    /// Returns the conversations that are kept in this store.
    pub fn new(store: Store) -> Self {
        Self { store, shared: Arc::default() }
    }

    /// Returns where they are kept.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns a conversation; none when there is none of that id.
    pub async fn get(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.found(id).await?;
        Some(self.used(session))
    }

    /// Opens a conversation, one of ours where no id is given. One that there is takes the place
    /// that is given and keeps all else. Returns what came of it.
    pub async fn open(&self, id: Option<String>, opening: Opening) -> Opened {
        let id = id.unwrap_or_else(|| self.next_id());
        let take = |session: &mut Session, is_new: bool| {
            let moved = session.move_to(opening);
            (if moved || is_new { vec![Part::Place] } else { Vec::new() }, (is_new, moved))
        };
        let (session, (is_new, moved)) = self.change(&id, take).await;
        Opened { session, is_new, moved: moved && !is_new }
    }

    /// Takes up what a touch has met. Returns the conversation as it is then, and what of it is
    /// new. It is on disk, unless the store's health says that it cannot be.
    /// One that was closed meanwhile stays closed: nothing is new in it.
    pub async fn touch(&self, session: &Arc<Session>, met: Met) -> (Arc<Session>, Met) {
        let met = self.change_known(&session.id, |it| it.meet(met, now())).await;
        met.unwrap_or_else(|| (Arc::clone(session), Met::default()))
    }

    /// Remembers that an agent is told of these skills. Returns those that it was not told of
    /// before, in the same order.
    pub async fn announce(
        &self,
        id: &str,
        agent: Option<&str>,
        paths: Vec<AbsPath>,
    ) -> Vec<AbsPath> {
        let new = self.change_known(id, |it| it.announce(agent.unwrap_or_default(), paths)).await;
        new.map(|it| it.1).unwrap_or_default()
    }

    /// Remembers that an agent has loaded a skill, and counts the use. Returns the conversation as
    /// it is then; none when it was closed meanwhile.
    pub async fn record_invocation(
        &self,
        id: &str,
        agent: Option<&str>,
        invocation: Invocation,
    ) -> Option<Arc<Session>> {
        let take = |it: &mut Session| (it.invoke(agent.unwrap_or_default(), invocation, now()), ());
        Some(self.change_known(id, take).await?.0)
    }

    /// Takes up the hooks of a skill that an agent has loaded, in place of those that it had from it
    /// before. They are on disk, unless the store's health says that they cannot be.
    pub async fn register_hooks(&self, id: &str, by: HookOwner, hooks: Vec<Hook>) {
        let HookOwner { agent, path, name, plugin, place } = by;
        let registered: Vec<_> = hooks
            .into_iter()
            .map(|hook| RegisteredHook {
                id: self.next_id().replacen('s', "h", 1),
                agent: agent.clone(),
                path: path.clone(),
                name: name.clone(),
                plugin: plugin.clone(),
                place: place.clone(),
                hook,
            })
            .collect();
        self.change_known(id, |it| (it.register(&agent, &path, registered), ())).await;
    }

    /// A hook has succeeded: one that runs once goes. Returns whether it did.
    pub async fn finish_hook(&self, hook: &str) -> bool {
        let wanted = hook.to_owned();
        let gone = self.store.keep(move |it| store::finish_hook(it, &wanted)).await;
        let Some(session) = gone.flatten() else { return false };
        if let Some(session) = self.live().get_mut(&session) {
            Arc::make_mut(session).hooks.retain(|it| it.id != hook);
        }
        true
    }

    /// Returns what an agent has loaded, the latest at the end.
    pub async fn invoked(&self, id: &str, agent: Option<&str>) -> Vec<Loaded> {
        let (id, agent) = (id.to_owned(), agent.unwrap_or_default().to_owned());
        let read = self.store.ask(move |it| store::invoked(it, &id, &agent)).await;
        read.inspect_err(|error| tracing::warn!(%error, "what was loaded is not read"))
            .unwrap_or_default()
    }

    /// An agent's conversation was shortened: returns what it is given again by this rule.
    pub async fn compacted(&self, id: &str, agent: Option<&str>, rule: Compaction) -> Compacted {
        let loaded = self.invoked(id, agent).await;
        let (compacted, gone) = compaction::apply(rule, loaded);
        let paths = gone.into_iter().map(|it| it.invocation.path).collect();
        self.forget(id, agent, Some(paths), compacted.list_again).await;
        compacted
    }

    /// An agent has ended: forgets what it had. Returns the names of what it had loaded.
    pub async fn agent_end(&self, id: &str, agent: Option<&str>) -> Vec<String> {
        let loaded = self.invoked(id, agent).await;
        self.forget(id, agent, None, true).await;
        loaded.into_iter().map(|it| it.invocation.name).collect()
    }

    /// Forgets a conversation. Returns whether there was one.
    pub async fn close(&self, id: &str) -> bool {
        let live = self.live().remove(id).is_some();
        let id = id.to_owned();
        let kept = self.store.keep(move |it| store::drop_session(it, &id)).await;
        kept.unwrap_or(false) || live
    }

    /// Returns all conversations in a few words, the one used last first.
    pub async fn list(&self) -> Vec<Summary> {
        let read = self.store.ask(store::summaries).await;
        read.inspect_err(|error| tracing::warn!(%error, "sessions are not read"))
            .unwrap_or_default()
    }

    /// Forgets conversations that were not used for this long; now and then, however often it
    /// is called.
    pub async fn expire(&self, keep: Duration) {
        const EVERY: u64 = 3_600_000;
        let at = now();
        let swept = self.shared.swept.load(Ordering::Relaxed);
        if swept != 0 && at.saturating_sub(swept) < EVERY {
            return;
        }
        self.shared.swept.store(at, Ordering::Relaxed);
        let since = at.saturating_sub(millis(keep));
        self.live().retain(|_, it| it.used >= since);
        let count = self.store.keep(move |it| store::drop_expired(it, since)).await;
        if let Some(count) = count.filter(|it| *it > 0) {
            tracing::info!(count, "sessions that nobody has used are forgotten");
        }
    }

    /// Returns the conversations in memory for which files that change count as touched, and that
    /// were used not long ago.
    pub fn automatic(&self) -> Vec<Arc<Session>> {
        let at = now();
        let live = self.live();
        let mut all: Vec<_> = live.values().filter(|it| is_heard(it, at)).cloned().collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    /// Takes the conversations into memory for which files that change count as touched and that
    /// another daemon would still hear them for, and returns them, the one used last first. That is
    /// no use of them. Where nothing is kept yet nothing is made.
    pub async fn wake(&self) -> Vec<Arc<Session>> {
        if !self.store.is_there() {
            return Vec::new();
        }
        let since = now().saturating_sub(millis(HEARD));
        let ids = self.store.ask(move |it| store::automatic(it, since, MOST_AWAKE)).await;
        let ids = ids.inspect_err(|error| tracing::warn!(%error, "sessions are not read"));
        let mut awake = Vec::new();
        // One by one: whoever calls meanwhile comes in between.
        for id in ids.unwrap_or_default() {
            awake.extend(self.found(&id).await);
        }
        awake
    }

    /// Returns a conversation, which is no use of it.
    pub async fn found(&self, id: &str) -> Option<Arc<Session>> {
        if let Some(session) = self.live().get(id) {
            return Some(Arc::clone(session));
        }
        let wanted = id.to_owned();
        let found = self.store.ask(move |it| store::load(it, &wanted)).await;
        let found = found.inspect_err(|error| tracing::warn!(%error, "a session is not read"));
        let session = Arc::new(found.ok().flatten()?);
        let mut live = self.live();
        make_room(&mut live);
        // Somebody else may have been faster, and gone on from there.
        Some(Arc::clone(live.entry(id.to_owned()).or_insert(session)))
    }

    async fn forget(
        &self,
        id: &str,
        agent: Option<&str>,
        only: Option<Vec<AbsPath>>,
        announced: bool,
    ) {
        let agent = agent.unwrap_or_default().to_owned();
        if let Some(session) = self.live().get_mut(id) {
            Arc::make_mut(session).forget(&agent, only.as_deref(), announced);
        }
        let id = id.to_owned();
        let work = move |connection: &rusqlite::Connection| {
            store::drop_agent(connection, &id, &agent, only.as_deref(), announced)
        };
        self.store.keep(work).await;
    }

    /// Changes a conversation that there is and waits until the parts are on disk.
    async fn change_known<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session) -> (Vec<Part>, T),
    ) -> Option<(Arc<Session>, T)> {
        self.found(id).await?;
        let (session, parts, result) = {
            let mut live = self.live();
            // Closed in between.
            let entry = live.get_mut(id)?;
            let (parts, result) = change(Arc::make_mut(entry));
            (Arc::clone(entry), parts, result)
        };
        self.keep(&session, parts).await;
        Some((session, result))
    }

    /// Changes a conversation and waits until the parts are on disk. One that is not there is
    /// made; `change` is told so.
    async fn change<T>(
        &self,
        id: &str,
        change: impl FnOnce(&mut Session, bool) -> (Vec<Part>, T),
    ) -> (Arc<Session>, T) {
        let before = self.get(id).await;
        let (session, parts, result) = {
            let mut live = self.live();
            if !live.contains_key(id) {
                make_room(&mut live);
            }
            let mut is_new = false;
            let entry = live.entry(id.to_owned()).or_insert_with(|| {
                // It may have left memory since; it is new where it never was anywhere.
                before.unwrap_or_else(|| {
                    is_new = true;
                    Arc::new(Session::new(id, now()))
                })
            });
            let (parts, result) = change(Arc::make_mut(entry), is_new);
            (Arc::clone(entry), parts, result)
        };
        self.keep(&session, parts).await;
        (session, result)
    }

    async fn keep(&self, session: &Arc<Session>, parts: Vec<Part>) {
        if !parts.is_empty() {
            let saved = Arc::clone(session);
            self.store.keep(move |it| store::save(it, &saved, &parts)).await;
        }
    }

    /// Notes that a conversation is used, on disk now and then.
    fn used(&self, session: Arc<Session>) -> Arc<Session> {
        let at = now();
        if at.saturating_sub(session.used) <= USED_WITHIN {
            return session;
        }
        let mut live = self.live();
        let Some(entry) = live.get_mut(&session.id) else { return session };
        Arc::make_mut(entry).used = at;
        let session = Arc::clone(entry);
        drop(live);
        let saved = Arc::clone(&session);
        self.store.leave(move |it| store::save(it, &saved, &[Part::Used]));
        session
    }

    fn next_id(&self) -> String {
        let made = self.shared.made.fetch_add(1, Ordering::Relaxed);
        format!("s-{:x}-{:x}-{made}", now(), std::process::id())
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        // Each conversation is replaced whole.
        self.shared.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of opening a conversation.
#[derive(Clone, Debug)]
pub struct Opened {
    /// As it is then.
    pub session: Arc<Session>,
    /// Whether it was made.
    pub is_new: bool,
    /// Whether it was there, and is in another place from now on.
    pub moved: bool,
}

/// Lets go of conversations that were not used for longest when there are too many. They are on
/// disk.
fn make_room(live: &mut HashMap<String, Arc<Session>>) {
    if live.len() < MOST_LIVE {
        return;
    }
    let mut used: Vec<_> = live.values().map(|it| it.used).collect();
    used.sort_unstable();
    let oldest = used[used.len() / 4];
    let at = now();
    live.retain(|_, it| it.used > oldest || is_heard(it, at));
}

/// Whether files that change are heard for a conversation.
fn is_heard(session: &Session, at: u64) -> bool {
    session.auto && at.saturating_sub(session.used) < millis(HEARD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_closed_meanwhile_stays_closed() {
        let sessions = Sessions::new(Store::new(None));
        let opening = Opening {
            cwd: AbsPath::new("/w".as_ref()).unwrap(),
            profile: "claude-code".to_owned(),
            environment: [].into(),
            additional: Vec::new(),
            auto: None,
        };
        let session = sessions.open(Some("s".to_owned()), opening).await.session;
        let dir = AbsPath::new("/w/a/.claude/skills".as_ref()).unwrap();
        let met = || Met { discovered: vec![dir.clone()], activated: Vec::new() };
        assert_eq!(sessions.touch(&session, met()).await.1.discovered.len(), 1);
        assert!(sessions.close("s").await);
        assert!(sessions.touch(&session, met()).await.1.discovered.is_empty());
        assert!(sessions.announce("s", None, vec![dir.clone()]).await.is_empty());
        assert!(sessions.list().await.is_empty());
    }
}
