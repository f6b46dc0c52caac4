//! Conversations: what each has touched, found and loaded, in memory and in the store.
//!
//! A conversation is an immutable value that is replaced by the next one under a short lock, so
//! that two touches at once lose nothing of each other. What changed goes to the store, and the
//! caller is answered when it is on disk. Those that nobody uses are only on disk.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skills_core::hooks::Hook;
use skills_core::path::AbsPath;
use skills_core::profile::Compaction;
use skills_core::resolve::Overlay;

use crate::store::{self, ByAgent, Part, Store, StoreError, millis, now};

/// How many skill directories one conversation keeps; of more, the one that nothing was touched
/// near for longest goes. It is found again by the next touch near it.
pub const MOST_NESTED: usize = 64;

/// How many conversations are held in memory; of more, those that were not used for longest are
/// only on disk.
const MOST_LIVE: usize = 2048;

/// How far the time of the last use may be behind, in milliseconds: a write for each call would
/// be one too many.
const USED_WITHIN: u64 = 60_000;

/// How many characters a token is taken to be.
const TOKEN: usize = 4;

/// A conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The id that the agent chose, or one of ours.
    pub id: String,
    /// The directory it began in.
    pub cwd: AbsPath,
    /// The profile's id.
    pub profile: String,
    /// The values of the variables that the profile reads.
    pub environment: BTreeMap<String, OsString>,
    /// Directories whose skills count as well.
    pub additional: Vec<AbsPath>,
    /// Whether files that change count as touched.
    pub auto: bool,
    /// When it was made, in milliseconds since 1970.
    pub created: u64,
    /// When it was last used, within a minute.
    pub used: u64,
    /// Skill directories that were found, with the time something near was last touched.
    pub discovered: BTreeMap<AbsPath, u64>,
    /// The SKILL.md of skills that were activated, and by what.
    pub activated: BTreeMap<AbsPath, Matched>,
    /// The SKILL.md of skills that each agent was told of, in that order. The main one has no name.
    pub announced: ByAgent,
    /// The SKILL.md of skills that each agent has loaded, the latest at the end.
    pub invoked: ByAgent,
    /// What its agents' skills have registered, in the order of loading.
    pub hooks: Vec<RegisteredHook>,
    /// What it adds to what the agent sees.
    pub overlay: Arc<Overlay>,
}

/// What activated a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The pattern as the skill has it.
    pub pattern: String,
    /// The file that was touched.
    pub path: AbsPath,
}

/// A hook that a loaded skill has registered.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredHook {
    /// Names it, in all conversations.
    pub id: String,
    /// The agent that has loaded the skill; the main one has no name.
    pub agent: String,
    /// The skill's SKILL.md.
    pub path: AbsPath,
    /// The skill's name.
    pub name: String,
    /// The directory of the plugin that it is part of.
    pub plugin: Option<AbsPath>,
    /// What has to be trusted for it to run; none where it is the user's own.
    pub place: Option<AbsPath>,
    /// The hook.
    pub hook: Hook,
}

/// A skill that is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The name it was loaded by.
    pub name: String,
    /// Its SKILL.md.
    pub path: AbsPath,
    /// The arguments.
    pub args: Option<String>,
    /// What the model was given.
    pub body: String,
}

/// Whose hooks are registered.
#[derive(Clone, Debug)]
pub struct HookOwner {
    /// The agent that has loaded the skill; the main one has no name.
    pub agent: String,
    /// The skill's SKILL.md.
    pub path: AbsPath,
    /// The skill's name.
    pub name: String,
    /// The directory of the plugin that it is part of.
    pub plugin: Option<AbsPath>,
    /// What has to be trusted for them to run; none where it is the user's own.
    pub place: Option<AbsPath>,
}

/// A skill that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// What was loaded.
    pub invocation: Invocation,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// A conversation in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// The directory it began in.
    pub cwd: AbsPath,
    /// The profile's id.
    pub profile: String,
    /// Whether files that change count as touched.
    pub auto: bool,
    /// When it was made.
    pub created: u64,
    /// When it was last used.
    pub used: u64,
    /// How many skills were activated.
    pub activated: u64,
    /// How many skill directories were found.
    pub discovered: u64,
    /// How many skills were loaded.
    pub invoked: u64,
}

/// Where a conversation is, and whose rules apply.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The directory.
    pub cwd: AbsPath,
    /// The profile's id.
    pub profile: String,
    /// The values of the variables that the profile reads.
    pub environment: BTreeMap<String, OsString>,
    /// Directories whose skills count as well.
    pub additional: Vec<AbsPath>,
    /// Whether files that change count as touched; none leaves it as it is.
    pub auto: Option<bool>,
}

/// What a touch has met.
#[derive(Clone, Debug, Default)]
pub struct Met {
    /// Skill directories.
    pub discovered: Vec<AbsPath>,
    /// SKILL.md whose patterns match.
    pub activated: Vec<(AbsPath, Matched)>,
}

/// What a shortened conversation is given again, and what it has lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Given again, the latest at the end, each with whether it was cut.
    pub again: Vec<(Loaded, bool)>,
    /// The names of those that count as not loaded any more.
    pub forgotten: Vec<String>,
    /// Whether the list of skills is given again.
    pub list_again: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            id: String::new(),
            cwd: AbsPath::new("/".as_ref()).expect("the root directory is an absolute path"),
            profile: String::new(),
            environment: BTreeMap::new(),
            additional: Vec::new(),
            auto: false,
            created: 0,
            used: 0,
            discovered: BTreeMap::new(),
            activated: BTreeMap::new(),
            announced: ByAgent::new(),
            invoked: ByAgent::new(),
            hooks: Vec::new(),
            overlay: Arc::default(),
        }
    }
}

impl Session {
    /// Makes what follows from the rest.
    pub(crate) fn settle(&mut self) {
        let nested = self.discovered.keys().cloned().collect();
        let activated = self.activated.keys().cloned().collect();
        self.overlay = Arc::new(Overlay::new(nested, activated));
    }

    fn take(&mut self, opening: Opening) {
        let Opening { cwd, profile, environment, additional, auto } = opening;
        (self.cwd, self.profile) = (cwd, profile);
        (self.environment, self.additional) = (environment, additional);
        self.auto = auto.unwrap_or(self.auto);
    }
}

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
        if let Some(session) = self.live().get(id).cloned() {
            return Some(self.used(session));
        }
        let wanted = id.to_owned();
        let found = self.store.perform(move |it| store::load(it, &wanted)).await;
        let found = found.inspect_err(|error| tracing::warn!(%error, "a session is not read"));
        let session = Arc::new(found.ok().flatten()?);
        let mut live = self.live();
        make_room(&mut live);
        // Somebody else may have been faster, and gone on from there.
        let session = Arc::clone(live.entry(id.to_owned()).or_insert(session));
        drop(live);
        Some(self.used(session))
    }

    /// Opens a conversation, one of ours where no id is given. One that there is takes the place
    /// that is given and keeps all else. Returns whether it was made.
    pub async fn open(&self, id: Option<String>, opening: Opening) -> (Arc<Session>, bool) {
        let id = id.unwrap_or_else(|| self.next_id());
        let take = |session: &mut Session, is_new: bool| {
            let before = session.clone();
            session.take(opening);
            let stays = !is_new && before == *session;
            (if stays { Vec::new() } else { vec![Part::Place] }, is_new)
        };
        self.change(&id, take).await
    }

    /// Takes up what a touch has met. Returns the conversation as it is then, and what of it is
    /// new. It is on disk, unless the store's health says that it cannot be.
    pub async fn touch(&self, id: &str, met: Met) -> (Arc<Session>, Met) {
        let at = now();
        let take = |session: &mut Session| {
            let mut parts = Vec::new();
            let mut new = Met::default();
            for dir in met.discovered {
                let used = session.discovered.insert(dir.clone(), at);
                if used.is_none_or(|used| at.saturating_sub(used) > USED_WITHIN) {
                    parts.push(Part::Discovered(dir.clone(), at));
                }
                if used.is_none() {
                    new.discovered.push(dir);
                }
            }
            while session.discovered.len() > MOST_NESTED {
                let oldest = session.discovered.iter().min_by_key(|(_, used)| **used);
                let Some(dir) = oldest.map(|(dir, _)| dir.clone()) else { break };
                session.discovered.remove(&dir);
                new.discovered.retain(|it| *it != dir);
                parts.push(Part::Dropped(dir));
            }
            for (path, matched) in met.activated {
                if !session.activated.contains_key(&path) {
                    session.activated.insert(path.clone(), matched.clone());
                    parts.push(Part::Activated(path.clone(), matched.clone()));
                    new.activated.push((path, matched));
                }
            }
            if !parts.is_empty() {
                session.settle();
            }
            (parts, new)
        };
        self.change(id, |it, _| take(it)).await
    }

    /// Remembers that an agent is told of these skills. Returns those that it was not told of
    /// before, in the same order.
    pub async fn announce(
        &self,
        id: &str,
        agent: Option<&str>,
        paths: Vec<AbsPath>,
    ) -> Vec<AbsPath> {
        let agent = agent.unwrap_or_default().to_owned();
        let take = |session: &mut Session| {
            let told = session.announced.entry(agent.clone()).or_default();
            let first = told.len();
            let mut new: Vec<AbsPath> = Vec::new();
            for path in paths {
                if !told.contains(&path) {
                    told.push(path.clone());
                    new.push(path);
                }
            }
            let part = Part::Announced { agent, first, paths: new.clone() };
            (if new.is_empty() { Vec::new() } else { vec![part] }, new)
        };
        self.change(id, |it, _| take(it)).await.1
    }

    /// Remembers that an agent has loaded a skill, and counts the use.
    pub async fn record_invocation(&self, id: &str, agent: Option<&str>, invocation: Invocation) {
        let agent = agent.unwrap_or_default().to_owned();
        let take = |session: &mut Session| {
            let loaded = session.invoked.entry(agent.clone()).or_default();
            loaded.retain(|it| *it != invocation.path);
            loaded.push(invocation.path.clone());
            (vec![Part::Invoked { agent, invocation, at: now() }], ())
        };
        self.change(id, |it, _| take(it)).await;
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
        let take = |session: &mut Session| {
            let before = session.hooks.len();
            session.hooks.retain(|it| it.agent != agent || it.path != path);
            let stays = session.hooks.len() == before && registered.is_empty();
            session.hooks.extend(registered.iter().cloned());
            let part = Part::Hooks { agent, path, hooks: registered };
            (if stays { Vec::new() } else { vec![part] }, ())
        };
        self.change(id, |it, _| take(it)).await;
    }

    /// A hook has succeeded: one that runs once goes. Returns whether it did.
    pub async fn finish_hook(&self, hook: &str) -> bool {
        let wanted = hook.to_owned();
        let gone = self.store.perform(move |it| store::finish_hook(it, &wanted)).await;
        let gone = gone.inspect_err(|error| tracing::warn!(%error, "a hook is not removed"));
        let Some(session) = gone.ok().flatten() else { return false };
        if let Some(session) = self.live().get_mut(&session) {
            Arc::make_mut(session).hooks.retain(|it| it.id != hook);
        }
        true
    }

    /// Returns what an agent has loaded, the latest at the end.
    pub async fn invoked(&self, id: &str, agent: Option<&str>) -> Vec<Loaded> {
        let (id, agent) = (id.to_owned(), agent.unwrap_or_default().to_owned());
        let read = self.store.perform(move |it| store::invoked(it, &id, &agent)).await;
        read.inspect_err(|error| tracing::warn!(%error, "what was loaded is not read"))
            .unwrap_or_default()
    }

    /// An agent's conversation was shortened: returns what it is given again by this rule.
    pub async fn compacted(&self, id: &str, agent: Option<&str>, rule: Compaction) -> Compacted {
        let loaded = self.invoked(id, agent).await;
        let (again, gone, list_again) = match rule {
            Compaction::Attaches { each, all } => {
                let (again, gone) = attach(loaded, each as usize, all as usize);
                (again, gone, false)
            }
            Compaction::Forgets { lists_again } => (Vec::new(), loaded, lists_again),
        };
        let paths: Vec<_> = gone.iter().map(|it| it.invocation.path.clone()).collect();
        self.forget(id, agent, Some(paths), list_again).await;
        let forgotten = gone.into_iter().map(|it| it.invocation.name).collect();
        Compacted { again, forgotten, list_again }
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
        let kept = self.store.perform(move |it| store::drop_session(it, &id)).await;
        kept.unwrap_or(false) || live
    }

    /// Returns all conversations in a few words, the one used last first.
    pub async fn list(&self) -> Vec<Summary> {
        let read = self.store.perform(store::summaries).await;
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
        match self.store.perform(move |it| store::drop_expired(it, since)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "sessions that nobody has used are forgotten"),
            Err(error) => tracing::warn!(%error, "old sessions are not forgotten"),
        }
    }

    /// Returns the conversations in memory for which files that change count as touched.
    pub fn automatic(&self) -> Vec<Arc<Session>> {
        let live = self.live();
        let mut all: Vec<_> = live.values().filter(|it| it.auto).cloned().collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
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
            let session = Arc::make_mut(session);
            match &only {
                None => {
                    session.invoked.remove(&agent);
                    session.hooks.retain(|it| it.agent != agent);
                }
                Some(gone) => {
                    if let Some(loaded) = session.invoked.get_mut(&agent) {
                        loaded.retain(|it| !gone.contains(it));
                    }
                }
            }
            session.invoked.retain(|_, it| !it.is_empty());
            if announced {
                session.announced.remove(&agent);
            }
        }
        let id = id.to_owned();
        let work = move |connection: &rusqlite::Connection| {
            store::drop_agent(connection, &id, &agent, only.as_deref(), announced)
        };
        told(self.store.perform(work).await);
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
            let mut is_new = false;
            let entry = live.entry(id.to_owned()).or_insert_with(|| {
                // It may have left memory since; it is new where it never was anywhere.
                before.unwrap_or_else(|| {
                    is_new = true;
                    let (id, at) = (id.to_owned(), now());
                    Arc::new(Session { id, created: at, used: at, ..Session::default() })
                })
            });
            let (parts, result) = change(Arc::make_mut(entry), is_new);
            (Arc::clone(entry), parts, result)
        };
        if !parts.is_empty() {
            let saved = Arc::clone(&session);
            told(self.store.perform(move |it| store::save(it, &saved, parts)).await);
        }
        (session, result)
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
        self.store.forward(move |it| store::save(it, &saved, vec![Part::Used]));
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

/// What cannot be saved is in the store's health; the conversation goes on.
fn told(saved: Result<(), StoreError>) {
    if let Err(error) = saved {
        tracing::warn!(%error, "what a session has done is not saved");
    }
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
    live.retain(|_, it| it.used > oldest || it.auto);
}

/// Chooses what is given again, from the latest on, and cuts it.
fn attach(loaded: Vec<Loaded>, each: usize, all: usize) -> (Vec<(Loaded, bool)>, Vec<Loaded>) {
    let mut left = all * TOKEN;
    let (mut again, mut gone) = (Vec::new(), Vec::new());
    for mut it in loaded.into_iter().rev() {
        let body = &mut it.invocation.body;
        let end = body.char_indices().nth(each * TOKEN).map(|(at, _)| at);
        let length = body.chars().count().min(each * TOKEN);
        if length > left || !gone.is_empty() {
            gone.push(it);
            continue;
        }
        left -= length;
        if let Some(end) = end {
            body.truncate(end);
        }
        again.push((it, end.is_some()));
    }
    again.reverse();
    gone.reverse();
    (again, gone)
}
