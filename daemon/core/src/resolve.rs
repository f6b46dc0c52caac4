//! Resolution: from the disk, a profile and a place to the list an agent would make.
//!
//! [`resolve`] is a pure function of a [`Site`] and a [`Tree`]. It walks the profile's roots in
//! the agent's order, judges every file it meets, settles who wins each name, and keeps the
//! reason for everything it left out, so that `explain` needs no second look at the disk.

mod explain;
mod judge;
mod naming;
mod nested;
mod overlay;
mod plugins;
mod precedence;
mod provided;
mod settings;
mod sidecar;
mod tree;
mod trust;
mod walk;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::likeness;
use crate::path::AbsPath;
use crate::permission::{Rule, Source};
use crate::profile::{Base, Profile, Provider, RootRule, Scope, Seeks, Stop, Switch, Text};
use crate::skill::{SkillRecord, Spot};

pub use explain::{Explanation, Query, Step, StepKind, Verdict, differences, explain};
pub use nested::holder;
pub use overlay::Overlay;
pub use plugins::Plugin;
pub use provided::{
    Prompt, PromptArgument, Provided, Ready, Stock, address_of, path_of, prompt_of, prompt_path,
    server_path,
};
pub use settings::{Consultation, Consulted, Named, Note};
pub use tree::{
    Fault, FaultKind, FileId, Item, ItemKind, Listing, Place, SkillFile, TEXT_LIMIT, TextFile, Tree,
};

/// The variables a view depends on, by name.
pub type Environment = BTreeMap<String, OsString>;

/// Where somebody asks from, and by whose rules.
#[derive(Clone, Debug)]
pub struct Site {
    /// The rules.
    pub profile: Arc<Profile>,
    /// The directory the agent works in.
    pub cwd: AbsPath,
    /// Directories the caller added, in its order.
    pub additional: Vec<AbsPath>,
    /// The values of the variables that the profile names.
    pub environment: Environment,
    /// What the conversation has found and activated.
    pub overlay: Arc<Overlay>,
}

/// What an agent would see, and everything it would not.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The top of the git worktree; outside git the working directory.
    pub worktree: AbsPath,
    /// Whether the worktree is one of git's.
    pub in_git: bool,
    /// The ancestor at which the search for the worktree's top stopped, because it belongs to
    /// neither the user nor root.
    pub foreign: Option<AbsPath>,
    /// Whether the working directory is a directory at all.
    pub cwd_exists: bool,
    /// The agent's configuration files that were considered, in the order in which later ones
    /// override earlier ones.
    pub settings: Vec<Consulted>,
    /// What those files permit and deny, in the agent's order.
    pub permissions: Vec<Rule>,
    /// Where the agent's whole tool for loading skills is switched off.
    pub tool_off: Option<Source>,
    /// The catalogs by URL that those files name.
    pub urls: Vec<Named>,
    /// Where those files switch the agent's own skills off.
    pub bundled_off: Option<Source>,
    /// Whether those files trust the working directory; none where they do not say.
    pub trusted: Option<(bool, Source)>,
    /// Every root that was considered, in scan order.
    pub roots: Vec<Root>,
    /// Every SKILL.md that was met, in scan order, whatever became of it.
    pub candidates: Vec<Candidate>,
    /// False while the tree had not answered everything; there are no candidates then.
    pub complete: bool,
}

/// One root that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// Where it is.
    pub path: AbsPath,
    /// Its row among the roots of the profile.
    pub rule: usize,
    /// What its entries are called.
    pub scope: Scope,
    /// Whether it is the user's or the administrator's choice; a worktree's is not.
    pub own: bool,
    /// What the agent calls skills from here beside their names.
    pub label: Option<Text>,
    /// The plugin that it is part of.
    pub plugin: Option<Arc<Plugin>>,
    /// What was found there.
    pub outcome: RootOutcome,
    /// Its candidates, as a range of [`Resolution::candidates`].
    pub candidates: Range<usize>,
    /// What was passed over below it, and why.
    pub skips: Vec<Skip>,
    /// Where its skills come from, where that is not the disk; else empty.
    pub origin: String,
}

/// What was found at a root.
#[derive(Clone, Debug, PartialEq)]
pub enum RootOutcome {
    /// Nothing is there.
    Missing,
    /// It was walked.
    Walked,
    /// Something is there that cannot be walked.
    Fault(Fault),
    /// It is not looked at: its base is not known, for example because `HOME` is not set, or a
    /// variable switches it off. The reason.
    NoBase(String),
    /// Not known yet.
    Pending,
}

/// Something passed over below a root.
#[derive(Clone, Debug, PartialEq)]
pub struct Skip {
    /// What was passed over.
    pub path: AbsPath,
    /// Why.
    pub reason: SkipReason,
}

/// Why something below a root was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// A directory whose name begins with a dot.
    Hidden,
    /// A directory of a name that is never entered.
    SkippedName,
    /// A directory of a name that the agent keeps for itself.
    ReservedName,
    /// Further below the root than the agent goes.
    TooDeep(u16),
    /// A symbolic link that the agent does not follow.
    Link,
    /// A SKILL.md directly in the root.
    RootSkill,
    /// A file named like SKILL.md in the wrong case.
    WrongCase,
    /// A directory that was already walked: where.
    SameDirectory(AbsPath),
    /// A root with more directories than the agent reads: how many it reads, and how many there
    /// are. Nothing is left out for it, since which ones the agent loses is not settled.
    TooMany(usize, usize),
    /// A directory or link that could not be used.
    Fault(Fault),
}

/// One SKILL.md, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as this agent reads it; our own reading where the agent drops the file.
    pub name: String,
    /// The description as this agent reads it; our own reading where it drops the file.
    pub description: Option<String>,
    /// The SKILL.md: as reached, or without links on the way where the agent knows it so.
    pub path: AbsPath,
    /// The index of its root in [`Resolution::roots`].
    pub root: usize,
    /// What the file says; none when it could not be read.
    pub file: Option<SkillFile>,
    /// What became of it.
    pub state: State,
    /// Why, where the state is not plain.
    pub reason: Option<Reason>,
    /// Repairs and oddities that did not change the state.
    pub notes: Vec<Reason>,
    /// What the agent puts before the name.
    pub namespace: Option<String>,
    /// Whether the agent lists its name without a description.
    pub name_only: bool,
}

impl Candidate {
    /// Returns the skill's directory, by the same way as its SKILL.md.
    pub fn dir(&self) -> AbsPath {
        self.path.parent().unwrap_or_else(|| self.path.clone())
    }

    /// Returns whether it is a command file, which has no directory of its own.
    pub fn is_command(&self) -> bool {
        self.path.file_name().is_some_and(|it| it != walk::SKILL_FILE)
    }

    /// Returns the name of its directory, or of the file where that is a command.
    pub fn own_name(&self) -> Option<OsString> {
        if self.is_command() {
            return self.path.file_stem().map(OsStr::to_owned);
        }
        self.dir().file_name().map(OsStr::to_owned)
    }

    /// Returns what the file says, if it could be read.
    pub fn record(&self) -> Option<&SkillRecord> {
        self.file.as_ref().map(|it| &*it.record)
    }
}

/// What became of a skill, in the wire's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The agent shows it to the model.
    Active,
    /// It has `paths` that nothing has matched yet.
    Conditional,
    /// It has `paths`, and a file that matches them was touched in this session.
    Activated,
    /// Another skill of the same name, or the same file by another way, wins.
    Shadowed,
    /// The agent drops the file.
    Invalid,
    /// Not for the model.
    Hidden,
    /// The agent wants the project to be trusted first, and it is not.
    Untrusted,
    /// Switched off by settings.
    Ignored,
}

impl State {
    /// All states, the nearest to being shown first: the reverse of their rank on the wire.
    pub const ALL: [Self; 8] = [
        Self::Active,
        Self::Activated,
        Self::Conditional,
        Self::Untrusted,
        Self::Hidden,
        Self::Shadowed,
        Self::Ignored,
        Self::Invalid,
    ];

    /// Whether the agent shows skills in this state to its model.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Active | Self::Activated)
    }

    /// Returns the word used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Conditional => "conditional",
            Self::Activated => "activated",
            Self::Shadowed => "shadowed",
            Self::Invalid => "invalid",
            Self::Hidden => "hidden",
            Self::Untrusted => "untrusted",
            Self::Ignored => "ignored",
        }
    }
}

/// Why a skill is in its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The rule that decided, by its stable name.
    pub rule: &'static str,
    /// What happened, as a sentence fragment.
    pub message: String,
    /// The place in the file, where there is one.
    pub at: Option<Spot>,
    /// The file that the place is in, where that is not the skill's own.
    pub file: Option<AbsPath>,
    /// What a person can do, as a sentence.
    pub next: String,
    /// The winner of the name, as an index into [`Resolution::candidates`].
    pub winner: Option<usize>,
}

impl Resolution {
    /// Returns the plugin that a skill is part of.
    pub fn plugin_of(&self, candidate: &Candidate) -> Option<&Plugin> {
        self.roots[candidate.root].plugin.as_deref()
    }

    /// Returns what this agent would show the model, in its order.
    pub fn listed(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|it| it.state.is_listed())
    }

    /// Returns how many candidates are in that state.
    pub fn count(&self, state: State) -> usize {
        self.candidates.iter().filter(|it| it.state == state).count()
    }

    /// Returns the names that somebody may have meant by one that there is not, the most likely
    /// first.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        // Two slips in a word of five letters.
        const ALIKE: f64 = 0.6;
        likeness::nearest(name, self.candidates.iter().map(|it| it.name.as_str()), ALIKE)
    }
}

/// Resolves what the site's agent would see.
pub fn resolve(site: &Site, tree: &dyn Tree) -> Resolution {
    let mut complete = true;
    let cwd = tree.look(&site.cwd);
    complete &= cwd.is_some();
    let cwd_exists = matches!(cwd, Some(Place::Directory { .. }));
    let worktree = worktree(&site.cwd, tree, &mut complete);
    let mut settings = settings::read(site, &worktree, tree);
    complete &= settings.complete;
    let addresses = settings.addresses(&worktree);
    let mut walker = walk::Walker::new(tree, &site.profile);
    let mut roots: Vec<Root> = Vec::new();
    let mut plugins: Option<Vec<plugins::Holding>> = None;
    for (rule_idx, rule) in site.profile.roots.iter().enumerate() {
        if let Base::Provided(provider) = rule.base {
            let off = settings.bundled_off.as_ref().filter(|_| provider == Provider::Bundled);
            let why =
                off.map(|it| format!("`{}:{}` switches it off", it.file.display(), it.at.line));
            for provided in tree.provided(provider, &site.profile.id, &addresses) {
                let provided = match &why {
                    Some(why) => Provided { stock: Stock::Awaited(why.clone()), ..provided },
                    None => provided,
                };
                let root = walker.provided(provided, rule, roots.len());
                roots.push(Root { rule: rule_idx, ..root });
            }
        }
        let mut places: Vec<Located> = if let Base::Plugins(it) = &rule.base {
            let all =
                plugins.get_or_insert_with(|| plugins::find(site, it, tree, &mut settings)).iter();
            all.filter(|it| it.seeks == rule.seeks).map(Located::held).collect()
        } else {
            let paths = root_paths(site, rule, &worktree, &settings.paths);
            paths.into_iter().map(|path| Located { path, held: None }).collect()
        };
        // Taken from the end, so that a plugin that is met comes right after where it lies.
        places.reverse();
        while let Some(place) = places.pop() {
            let start = walker.candidates.len();
            let (path, outcome, skips) = match place.path {
                Ok(path) => {
                    let (outcome, skips) = match (&place.held, rule.seeks) {
                        (Some(held), _) => {
                            walker.plugin(&path, held.form, held.seeks, rule, roots.len())
                        }
                        (None, Seeks::Skills) => walker.root(&path, &rule.walk, roots.len()),
                        (None, Seeks::Commands) => walker.commands(&path, roots.len()),
                    };
                    (path, outcome, skips)
                }
                Err((path, why)) => (path, RootOutcome::NoBase(why), Vec::new()),
            };
            let candidates = start..walker.candidates.len();
            let own = place.held.as_ref().map_or_else(
                || is_own(&rule.base, &path, &worktree, &settings),
                |held| !held.plugin.root.starts_with(&*worktree.top),
            );
            let scope = match &place.held {
                Some(held) if held.seeks == Seeks::Commands => Scope::Command,
                Some(_) => Scope::Plugin,
                None => rule.scope,
            };
            for dir in walker.take_plugins() {
                let beside = site.profile.plugins_beside_skills();
                let found =
                    beside.map(|it| plugins::beside_skills(site, it, &dir, tree, &mut settings));
                places.extend(found.unwrap_or_default().iter().rev().map(Located::held));
            }
            roots.push(Root {
                path,
                rule: rule_idx,
                scope,
                own,
                label: rule.label.clone(),
                plugin: place.held.map(|it| it.plugin),
                outcome,
                candidates,
                skips,
                origin: String::new(),
            });
        }
    }
    nested::walk(site, &mut walker, &mut roots);
    complete &= settings.complete;
    settings.missing_paths(site, &roots);
    complete &= walker.complete;
    let judged = |mut it: walk::Met| {
        let within = it.command.as_mut().map(|it| std::mem::take(&mut it.within));
        let (beside, root) = (it.beside, &roots[it.root]);
        let mut candidate = judge::judge(site, it);
        naming::apply(&site.profile, root, within, &mut candidate);
        (beside, candidate)
    };
    let mut judged: Vec<_> = walker.candidates.into_iter().map(judged).collect();
    complete &= sidecar::apply(&site.profile, tree, &mut judged);
    let mut candidates: Vec<_> = judged.into_iter().map(|it| it.1).collect();
    if !complete {
        // Whoever asks will ask again when more is known.
        candidates.clear();
        for root in &mut roots {
            root.candidates = 0..0;
        }
    }
    settings::apply(&settings, &roots, &mut candidates);
    precedence::settle(site, &roots, &mut candidates);
    trust::hold_back(site, settings.trusted.as_ref(), &roots, &mut candidates);
    let Worktree { top, in_git, foreign } = worktree;
    Resolution {
        worktree: top,
        in_git,
        foreign,
        cwd_exists,
        settings: settings.consulted,
        permissions: settings.rules,
        tool_off: settings.tool_off,
        urls: settings.urls,
        bundled_off: settings.bundled_off,
        trusted: settings.trusted,
        roots,
        candidates,
        complete,
    }
}

/// A root as it is found on a site.
struct Located {
    path: RootPath,
    /// What it is, where it belongs to a plugin.
    held: Option<plugins::Holding>,
}

impl Located {
    fn held(held: &plugins::Holding) -> Self {
        let path = match &held.off {
            None => Ok(held.path.clone()),
            Some(why) => Err((held.path.clone(), why.clone())),
        };
        Self { path, held: Some(held.clone()) }
    }
}

/// The worktree a working directory belongs to.
struct Worktree {
    top: AbsPath,
    in_git: bool,
    foreign: Option<AbsPath>,
}

/// Finds the top of the git worktree that holds `cwd`; outside git that is `cwd` itself.
///
/// The search stops at an ancestor that belongs to neither the user nor root, as git's own
/// does (`safe.directory`): what a stranger put above us decides nothing.
fn worktree(cwd: &AbsPath, tree: &dyn Tree, complete: &mut bool) -> Worktree {
    let outside = |foreign| Worktree { top: cwd.clone(), in_git: false, foreign };
    for dir in cwd.ancestors() {
        if dir != *cwd {
            match tree.look(&dir) {
                None => *complete = false,
                Some(Place::Directory { foreign: true }) => return outside(Some(dir)),
                Some(_) => {}
            }
        }
        match tree.look(&dir.child(".git")) {
            None => *complete = false,
            Some(Place::Directory { .. } | Place::File) => {
                return Worktree { top: dir, in_git: true, foreign: None };
            }
            Some(_) => {}
        }
    }
    outside(None)
}

type RootPath = Result<AbsPath, (AbsPath, String)>;

/// Returns where a root of the table is on this site. `paths` are the directories that the
/// agent's configuration files name.
fn root_paths(site: &Site, rule: &RootRule, worktree: &Worktree, paths: &[Named]) -> Vec<RootPath> {
    let found = match &rule.base {
        Base::Settings => paths.iter().map(|it| named(site, &it.text)).collect(),
        other => bases(site, other, worktree),
    };
    let off = |relative: &str| switched_off(site, &rule.switches, relative);
    let below = |base: RootPath, relative: &str| match (base, off(relative)) {
        (Ok(base), None) => Ok(base.child(relative)),
        (Ok(base), Some(why)) => Err((base.child(relative), why)),
        (Err((path, why)), _) => Err((path.child(relative), why)),
    };
    found
        .into_iter()
        .flat_map(|base| rule.relative.iter().map(move |it| below(base.clone(), it)))
        .collect()
}

/// Returns whether a root is there by the user's or the administrator's own doing.
fn is_own(base: &Base, path: &AbsPath, worktree: &Worktree, settings: &settings::Settings) -> bool {
    let inside = |it: &AbsPath| it.starts_with(&*worktree.top);
    match base {
        Base::Home
        | Base::Variable { .. }
        | Base::IfSet { .. }
        | Base::Absolute(_)
        | Base::Plugins(_)
        | Base::Provided(_) => true,
        Base::Ancestors { .. } | Base::Additional => false,
        // A worktree that names a directory elsewhere makes it no better.
        Base::Settings => !inside(path) && !settings.paths.iter().any(|it| inside(&it.source.file)),
    }
}

/// Returns where relative paths start; of what is found by other means nothing.
fn bases(site: &Site, base: &Base, worktree: &Worktree) -> Vec<RootPath> {
    match base {
        Base::Home => vec![variable(site, "HOME").map_err(|why| no_base("~", why))],
        Base::Variable { name, below_home } => vec![
            variable(site, name)
                .or_else(|_| variable(site, "HOME").map(|home| home.child(below_home.as_ref())))
                .map_err(|why| no_base("~", why)),
        ],
        Base::IfSet { name } => {
            let named = site.environment.get(&**name).filter(|it| !it.is_empty());
            named
                .map(|_| variable(site, name).map_err(|why| no_base("~", why)))
                .into_iter()
                .collect()
        }
        Base::Absolute(path) => vec![
            AbsPath::new(path.as_ref().as_ref()).map_err(|error| no_base(path, error.to_string())),
        ],
        Base::Additional => site.additional.iter().cloned().map(Ok).collect(),
        Base::Ancestors { stop } => {
            let found = ancestors(site, &worktree.top, worktree.in_git, *stop);
            found.into_iter().map(Ok).collect()
        }
        Base::Settings | Base::Plugins(_) | Base::Provided(_) => Vec::new(),
    }
}

/// Returns the directory that a setting names: `~/` is the home directory, anything else is as
/// seen from the working directory.
fn named(site: &Site, text: &str) -> RootPath {
    match text.strip_prefix("~/") {
        Some(rest) => match variable(site, "HOME") {
            Ok(home) => Ok(home.towards(rest)),
            Err(why) => Err(no_base(text, why)),
        },
        None => Ok(site.cwd.towards(text)),
    }
}

/// Returns why a path is not looked at, where a variable says so.
fn switched_off(site: &Site, switches: &[Switch], relative: &str) -> Option<String> {
    let is_on = |it: &&Switch| trust::is_on(site, &it.variable);
    let is_meant = |it: &&Switch| it.relative.as_ref().is_none_or(|it| it == relative);
    let switch = switches.iter().filter(is_meant).find(is_on)?;
    Some(format!("`{}` switches it off", switch.variable))
}

fn ancestors(site: &Site, worktree: &AbsPath, in_git: bool, stop: Stop) -> Vec<AbsPath> {
    let cwd = &site.cwd;
    let last = match stop {
        Stop::Cwd => cwd.clone(),
        Stop::Worktree => worktree.clone(),
        Stop::WorktreeElseFilesystem if in_git => worktree.clone(),
        Stop::Home => {
            let home = variable(site, "HOME").ok();
            return cwd.ancestors().take_while(|it| Some(it) != home.as_ref()).collect();
        }
        Stop::WorktreeElseFilesystem | Stop::Filesystem => {
            cwd.ancestors().last().unwrap_or_else(|| cwd.clone())
        }
    };
    cwd.ancestors().take_while(|it| it.starts_with(&last)).collect()
}

fn variable(site: &Site, name: &str) -> Result<AbsPath, String> {
    let value = site.environment.get(name).map_or(OsStr::new(""), OsString::as_os_str);
    if value.is_empty() {
        return Err(format!("`{name}` is not set"));
    }
    AbsPath::new(value.as_ref()).map_err(|error| format!("`{name}`: {error}"))
}

/// A stand-in path for a root whose base is not known, so that `explain` can still name it.
fn no_base(shown: &str, why: String) -> (AbsPath, String) {
    let path = PathBuf::from("/").join(shown);
    let path = AbsPath::new(&path).unwrap_or_else(|_| {
        AbsPath::new("/".as_ref()).expect("the root directory is an absolute path")
    });
    (path, why)
}

#[cfg(test)]
pub(crate) mod tests;
