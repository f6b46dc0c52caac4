//! A conversation: what it has touched, found and loaded, and how each step changes that.
//!
//! A conversation is an immutable value that is replaced by the next one. Each step here takes it
//! there and says which parts of it are new, which is what is written; who holds conversations and
//! has them written is [`held`], and what is left of one that was shortened [`compaction`].

mod compaction;

mod held;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use skills_agents::hooks::Hook;
use skills_discovery::discover::Overlay;
use skills_syntax::path::AbsPath;

use crate::sessions::store::{ByAgent, Part};

pub use compaction::Compacted;
pub use held::{Opened, Sessions};

/// How many skill directories one conversation keeps; of more, the one that nothing was touched
/// near for longest goes. It is found again by the next touch near it. A conversation is in one
/// worktree at a time, so that this bounds what it has in a worktree; what several of them have there
/// is not bounded together, or one agent's touches would take from another what agents keep for as
/// long as they live.
pub const MOST_NESTED: usize = 64;

/// How far the time of the last use may be behind, in milliseconds: a write for each call would
/// be one too many.
const USED_WITHIN: u64 = 60_000;

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
    /// Whether it was to run once, and has: it is remembered, and runs no more.
    pub is_done: bool,
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
pub struct TouchDelta {
    /// Skill directories.
    pub discovered: Vec<AbsPath>,
    /// SKILL.md whose patterns match.
    pub activated: Vec<(AbsPath, Matched)>,
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
    /// Returns a conversation in which nothing has happened yet.
    fn new(id: &str, at: u64) -> Self {
        Self { id: id.to_owned(), created: at, used: at, ..Self::default() }
    }

    /// Makes what follows from the rest.
    pub(crate) fn settle(&mut self) {
        let nested = self.discovered.keys().cloned().collect();
        let activated = self.activated.keys().cloned().collect();
        self.overlay = Arc::new(Overlay::new(nested, activated));
    }

    /// Takes the place that it is opened in. Returns whether that is another one.
    fn move_to(&mut self, opening: Opening) -> bool {
        let before = self.clone();
        let Opening { cwd, profile, environment, additional, auto } = opening;
        (self.cwd, self.profile) = (cwd, profile);
        (self.environment, self.additional) = (environment, additional);
        self.auto = auto.unwrap_or(self.auto);
        before != *self
    }

    /// Takes up what a touch has met. Returns what of it is new.
    fn meet(&mut self, met: TouchDelta, at: u64) -> (Vec<Part>, TouchDelta) {
        let mut parts = Vec::new();
        let mut new = TouchDelta::default();
        for dir in met.discovered {
            let used = self.discovered.insert(dir.clone(), at);
            if used.is_none_or(|used| at.saturating_sub(used) > USED_WITHIN) {
                parts.push(Part::Discovered(dir.clone(), at));
            }
            if used.is_none() {
                new.discovered.push(dir);
            }
        }
        while self.discovered.len() > MOST_NESTED {
            let oldest = self.discovered.iter().min_by_key(|(_, used)| **used);
            let Some(dir) = oldest.map(|(dir, _)| dir.clone()) else { break };
            self.discovered.remove(&dir);
            new.discovered.retain(|it| *it != dir);
            parts.push(Part::Dropped(dir));
        }
        for (path, matched) in met.activated {
            if !self.activated.contains_key(&path) {
                self.activated.insert(path.clone(), matched.clone());
                parts.push(Part::Activated(path.clone(), matched.clone()));
                new.activated.push((path, matched));
            }
        }
        if !parts.is_empty() {
            self.settle();
        }
        (parts, new)
    }

    /// An agent is told of these skills. Returns those that it was not told of before.
    fn announce(&mut self, agent: &str, paths: Vec<AbsPath>) -> (Vec<Part>, Vec<AbsPath>) {
        let told = self.announced.entry(agent.to_owned()).or_default();
        let first = told.len();
        let mut new: Vec<AbsPath> = Vec::new();
        for path in paths {
            if !told.contains(&path) {
                told.push(path.clone());
                new.push(path);
            }
        }
        if new.is_empty() {
            return (Vec::new(), new);
        }
        (vec![Part::Announced { agent: agent.to_owned(), first, paths: new.clone() }], new)
    }

    /// An agent has loaded a skill, which is its latest then.
    fn invoke(&mut self, agent: &str, invocation: Invocation, at: u64) -> Vec<Part> {
        let loaded = self.invoked.entry(agent.to_owned()).or_default();
        loaded.retain(|it| *it != invocation.path);
        loaded.push(invocation.path.clone());
        vec![Part::Invoked { agent: agent.to_owned(), invocation, at }]
    }

    /// Takes up the hooks of a skill that an agent has loaded, in place of those that it had from
    /// it before.
    fn register(&mut self, agent: &str, path: &AbsPath, hooks: Vec<RegisteredHook>) -> Vec<Part> {
        let before = self.hooks.len();
        let is_theirs = |it: &RegisteredHook| it.agent == agent && it.path == *path;
        self.hooks.retain(|it| !is_theirs(it) || it.is_done);
        // What was to run once and has is not there again.
        let done: Vec<_> =
            self.hooks.iter().filter(|it| is_theirs(it)).map(|it| &it.hook).collect();
        let mut hooks = hooks;
        hooks.retain(|it| !done.contains(&&it.hook));
        if self.hooks.len() == before && hooks.is_empty() {
            return Vec::new();
        }
        self.hooks.extend(hooks.iter().cloned());
        vec![Part::Hooks { agent: agent.to_owned(), path: path.clone(), hooks }]
    }

    /// Forgets what an agent has loaded, all of it with its hooks or these skills, and what it was
    /// told of if so wanted.
    fn forget(&mut self, agent: &str, only: Option<&[AbsPath]>, announced: bool) {
        match only {
            None => {
                self.invoked.remove(agent);
                self.hooks.retain(|it| it.agent != agent);
            }
            Some(gone) => {
                if let Some(loaded) = self.invoked.get_mut(agent) {
                    loaded.retain(|it| !gone.contains(it));
                }
            }
        }
        self.invoked.retain(|_, it| !it.is_empty());
        if announced {
            self.announced.remove(agent);
        }
    }
}
