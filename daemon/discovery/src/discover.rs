//! Resolution: from the disk, a profile and a place to the list an agent would make.
//!
//! [`discover`] is a pure function of a [`DiscoveryContext`] and a [`Tree`]. It walks the profile's roots in
//! the agent's order, judges every file it meets, settles who wins each name, and keeps the
//! reason for everything it left out, so that `explain` needs no second look at the disk.

mod address;
mod built_in;
mod denied;
mod explain;
mod extensions;
mod judge;
mod links;
#[cfg(any(test, feature = "testing"))]
pub mod memory;
mod naming;
mod nested;
mod overlay;
mod owner;
mod plugins;
mod policy;
mod precedence;
mod provided;
mod roots;
mod settings;
mod sidecar;
mod survey;
mod tree;
mod trust;
mod walk;
mod worktree;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::sync::Arc;

use skills_agents::profile::{Profile, Scope, Text};
use skills_agents::skill::SkillRecord;
use skills_syntax::path::AbsPath;
use skills_syntax::suggest;
use skills_syntax::text::LineColumn;

use crate::permission::{Rule, Source};
use owner::Owners;
use worktree::Worktree;

pub use address::{address_of, is_built_in, path_of, prompt_of, prompt_path, server_path, shown};
pub use explain::{
    Around, Explanation, Ignored, Query, Step, StepKind, Stray, Thing, Verdict, differences,
    explain, places, worktree_step,
};
pub use nested::holder;
pub use overlay::Overlay;
pub use owner::Owner;
pub use plugins::Plugin;
pub use policy::{Policy, REPOSITORY_FILE};
pub use provided::{Prompt, PromptArgument, Provided, Ready, Stock};
pub use settings::{About, Consultation, Consulted, Named, Note};
pub use tree::{
    Entry, Fault, FaultKind, FileId, Item, ItemKind, Listing, Place, SkillFile, TEXT_LIMIT,
    TextFile, Tree,
};
pub use trust::Trusts;
pub(crate) use walk::refusal;
pub use worktree::Repository;

/// The variables a view depends on, by name.
pub type Environment = BTreeMap<String, OsString>;

/// Where somebody asks from, and by whose rules.
#[derive(Clone, Debug)]
pub struct DiscoveryContext {
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
    /// The agent inside the agent, where its own rules count.
    pub agent: Option<Box<str>>,
}

/// What an agent would see, and everything it would not.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The top of the git worktree; outside git the working directory.
    pub worktree: AbsPath,
    /// Whether the worktree is one of git's.
    pub in_git: bool,
    /// Where its repository is.
    pub repository: Repository,
    /// The ancestor at which the search for the worktree's top stopped, because it belongs to
    /// neither the user nor root.
    pub foreign: Option<AbsPath>,
    /// Whether the working directory is a directory at all.
    pub cwd_exists: bool,
    /// The agent's configuration files that were considered, in the order in which later ones
    /// override earlier ones.
    pub settings: Vec<Consulted>,
    /// What those files permit and deny, in the agent's order, then what our own say.
    pub permissions: Vec<Rule>,
    /// A number for what the worktree's own configuration file says; none where there is none. By
    /// it a change shows that no skill tells of.
    pub own_file: Option<u64>,
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
    /// The owner, which decides whether it needs trust.
    pub owner: Owner,
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
    /// Where it is without links on the way to its worktree, which is what trust is given to; none
    /// where nobody needs to trust it.
    pub place: Option<AbsPath>,
    /// What the user has said about trusting that; none where nothing was said.
    pub said: Option<bool>,
    /// Whether the agent or the user requires trust and it is not given, so that nothing from here
    /// is given away.
    pub is_held_back: bool,
}

impl Root {
    /// Returns what the plugin opencode-agent-skills would call skills from here, in whichever
    /// profile they were found.
    pub fn plugin_label(&self) -> &str {
        let is_claudes = self.path.components().any(|it| it.as_os_str() == ".claude");
        match (&self.label, self.scope, is_claudes, self.is_own()) {
            (Some(label), ..) => label,
            (None, Scope::Plugin, ..) => "claude-plugins",
            (None, _, true, true) => "claude-user",
            (None, _, true, false) => "claude-project",
            (None, _, false, true) => "user",
            (None, _, false, false) => "project",
        }
    }

    /// Returns whether the user or an administrator has chosen it, so that it needs no trust.
    pub fn is_own(&self) -> bool {
        self.owner.is_own()
    }

    /// Whether what is there may run things.
    pub fn is_trusted(&self) -> bool {
        self.is_own() || self.said == Some(true)
    }
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
    /// It leads to a directory that is never searched: why.
    OutOfBounds(String),
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
    TooManyDirectories(usize, usize),
    /// The same of entries: files, directories and links.
    TooManyEntries(usize, usize),
    /// Over the budget of its root: the bound, and its value. All that comes later is left out as
    /// well.
    OverBudget(Bound, usize),
    /// A link to a directory that is never searched: why.
    OutOfBounds(String),
    /// A directory or link that could not be used.
    Fault(Fault),
}

/// One bound of a root's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Directories below one another.
    Depth,
    /// Directories.
    Directories,
    /// Entries of directories.
    Entries,
    /// Files that are read.
    Files,
    /// Symbolic links.
    Links,
}

/// One SKILL.md, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as this agent reads it; our own reading where the agent drops the file.
    pub name: String,
    /// The description as this agent reads it; our own reading where it drops the file.
    pub description: Option<Arc<str>>,
    /// The SKILL.md: as reached, or without links on the way where the agent knows it so.
    pub path: AbsPath,
    /// The index of its root in [`Resolution::roots`].
    pub root: usize,
    /// Which directory its file was met in; none where it is in none. Files of the skill are
    /// served from this directory and from no other that comes to its path.
    pub directory: Option<FileId>,
    /// What the file says; none when it could not be read.
    pub file: Option<SkillFile>,
    /// What became of it.
    pub state: State,
    /// Why, where the state is not plain; apart, because of most there is none.
    pub reason: Option<Box<Reason>>,
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
    /// A permission rule denies it.
    Denied,
    /// Switched off by settings.
    Ignored,
    /// A link that leads to a file which must not be read.
    Refused,
}

impl State {
    /// All states, the nearest to being shown first: the reverse of their rank on the wire.
    pub const ALL: [Self; 10] = [
        Self::Active,
        Self::Activated,
        Self::Conditional,
        Self::Untrusted,
        Self::Hidden,
        Self::Denied,
        Self::Shadowed,
        Self::Ignored,
        Self::Invalid,
        Self::Refused,
    ];

    /// Returns true if the file is dropped: it takes no name, and no setting or rule applies to it.
    pub const fn is_out(self) -> bool {
        matches!(self, Self::Invalid | Self::Ignored | Self::Refused)
    }

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
            Self::Denied => "denied",
            Self::Untrusted => "untrusted",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
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
    pub at: Option<LineColumn>,
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

    /// Returns whether rules say something of their own about this agent inside the agent.
    pub fn has_rules_of(&self, agent: &str) -> bool {
        self.permissions.iter().any(|it| it.agent.as_deref() == Some(agent))
    }

    /// Returns the names that somebody may have meant by one that there is not, the most likely
    /// first. What is denied is not named.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        // Two slips in a word of five letters.
        const ALIKE: f64 = 0.6;
        let told = self.candidates.iter().filter(|it| it.state != State::Denied);
        suggest::nearest(name, told.map(|it| it.name.as_str()), ALIKE)
    }
}

/// Resolves what the site's agent would see.
pub fn discover(ctx: &DiscoveryContext, tree: &dyn Tree) -> Resolution {
    let mut complete = true;
    let cwd = tree.look(&ctx.cwd);
    complete &= cwd.is_some();
    let cwd_exists = matches!(cwd, Some(Place::Directory { .. }));
    let worktree = Worktree::of(&ctx.cwd, tree, &mut complete);
    let owners = Owners::new(ctx, &worktree, tree);
    let mut settings = settings::read(ctx, &worktree, &owners, tree);
    policy::read(&worktree, tree, &mut settings);
    complete &= settings.complete;
    let policy = tree.policy();
    let links = links::LinkRule::new(ctx, &worktree, &owners, tree, &policy);
    let mut walker = walk::Walker::new(tree, ctx, &worktree, &links);
    let mut roots = roots::search(ctx, &worktree, &owners, &mut settings, &mut walker, tree);
    nested::walk(ctx, &mut walker, &mut roots);
    complete &= settings.complete;
    settings.missing_paths(ctx, &roots);
    settings.keep_limits();
    complete &= walker.complete;
    trust::mark(&owners, &mut roots);
    complete &= owners.is_complete();
    let judged = |mut it: walk::Met| {
        let within = it.command.as_mut().map(|it| std::mem::take(&mut it.within));
        let (beside, root) = (it.beside, &roots[it.root]);
        let mut candidate = judge::judge(ctx, it);
        naming::apply(&ctx.profile, root, within, &mut candidate);
        (beside, candidate)
    };
    let mut judged: Vec<_> = walker.candidates.into_iter().map(judged).collect();
    complete &= sidecar::apply(&ctx.profile, tree, &links, &roots, &mut judged);
    complete &= links.complete.get();
    let mut candidates: Vec<_> = judged.into_iter().map(|it| it.1).collect();
    if !complete {
        // Whoever asks will ask again when more is known.
        candidates.clear();
        for root in &mut roots {
            root.candidates = 0..0;
        }
    }
    settings::apply(&settings, &roots, &mut candidates);
    precedence::settle(ctx, &roots, &mut candidates);
    trust::hold_back(ctx, &policy, &settings, &mut roots, &mut candidates);
    denied::apply(ctx, &settings.rules, &roots, &mut candidates);
    let Worktree { top, in_git, foreign, repository } = worktree;
    Resolution {
        worktree: top,
        in_git,
        repository,
        foreign,
        cwd_exists,
        settings: settings.consulted,
        permissions: settings.rules,
        own_file: settings.own_file,
        urls: settings.urls,
        bundled_off: settings.bundled_off,
        trusted: settings.trusted,
        roots,
        candidates,
        complete,
    }
}

/// Returns the candidates of a resolution in the order in which their claims to names are heard;
/// none where the agent keeps several skills of a name.
pub fn claim_order(ctx: &DiscoveryContext, resolution: &Resolution) -> Option<Vec<usize>> {
    precedence::order(ctx, &resolution.roots, &resolution.candidates)
}

#[cfg(test)]
mod tests;
