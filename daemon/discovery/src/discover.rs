//! Discovery: builds the list of skills that an agent would load for one profile, working directory
//! and environment.
//!
//! [`discover`] is a pure function of a [`DiscoveryContext`] and a [`Tree`]. It walks the profile's
//! search roots in the agent's order, evaluates every file found, resolves name conflicts, and
//! records a reason for everything left out, so that [`explain`] does not read the disk again.

mod address;
mod built_in;
mod denied;
mod evaluate;
mod explain;
mod extensions;
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

use crate::permission::{Rule, SourceLocation};
use owner::Owners;
use worktree::Worktree;

pub use address::{address_of, is_built_in, path_of, prompt_of, prompt_path, server_path, shown};
pub use explain::{
    Explanation, IgnoreRule, NearMiss, NearMissKind, NearMisses, Query, Step, StepKind, Verdict,
    differences, explain, places, worktree_step,
};
pub use nested::holder;
pub use overlay::Overlay;
pub use owner::Owner;
pub use plugins::Plugin;
pub use policy::{Policy, REPOSITORY_FILE};
pub use provided::{Prompt, PromptArgument, ProvidedContents, ProvidedRoot, ProvidedSkill};
pub use settings::{NoteScope, SettingsFile, SettingsNote, SettingsOutcome, SettingsValue};
pub use tree::{
    Entry, Fault, FaultKind, FileId, Item, ItemKind, Listing, PathStatus, SkillFile, TEXT_LIMIT,
    TextFile, Tree,
};
pub use trust::TrustDecisions;
pub(crate) use walk::refusal;
pub use worktree::Repository;

/// Environment variables that a view depends on, by name.
pub type Environment = BTreeMap<String, OsString>;

/// The inputs of [`discover`]: profile, directories, environment and session state.
#[derive(Clone, Debug)]
pub struct DiscoveryContext {
    /// The agent's rules.
    pub profile: Arc<Profile>,
    /// The directory the agent works in.
    pub cwd: AbsPath,
    /// Directories added by the caller, in its order.
    pub additional: Vec<AbsPath>,
    /// Values of the variables that the profile names.
    pub environment: Environment,
    /// Skill directories and activations added by the session.
    pub overlay: Arc<Overlay>,
    /// Name of the subagent, for permission rules that apply to one subagent.
    pub agent: Option<Box<str>>,
}

/// The result of [`discover`]: every root and skill considered, with the reason for everything left
/// out.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Top of the git worktree; the working directory if it is not in git.
    pub worktree: AbsPath,
    /// True if the working directory is in a git worktree.
    pub in_git: bool,
    /// Location of the worktree's repository.
    pub repository: Repository,
    /// The ancestor at which the search for the top of the worktree stopped, because it belongs to
    /// neither the user nor root.
    pub foreign: Option<AbsPath>,
    /// True if the working directory exists and is a directory.
    pub cwd_exists: bool,
    /// The agent's configuration files that were considered, in the order in which later ones
    /// override earlier ones.
    pub settings: Vec<SettingsFile>,
    /// Permission rules of the agent's files, in the agent's order, followed by the rules of
    /// skillsd's own configuration.
    pub permissions: Vec<Rule>,
    /// Hash of the worktree's `.skillsd.toml`; `None` if the file is missing. Makes a change of the
    /// file visible even if it changes no skill.
    pub own_file: Option<u64>,
    /// Registry URLs from those files.
    pub urls: Vec<SettingsValue>,
    /// The setting that switches off the agent's bundled skills.
    pub bundled_off: Option<SourceLocation>,
    /// True if those files trust the working directory, with the setting that decides; `None` if
    /// none of them says.
    pub trusted: Option<(bool, SourceLocation)>,
    /// Every root that was considered, in scan order.
    pub roots: Vec<SearchRoot>,
    /// Every SKILL.md found, in scan order and in any state.
    pub candidates: Vec<Candidate>,
    /// False if the tree could not answer every query; `candidates` is empty then.
    pub complete: bool,
}

/// One search root that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRoot {
    /// Its path.
    pub path: AbsPath,
    /// Its row among the roots of the profile.
    pub rule: usize,
    /// The scope of its skills on the wire.
    pub scope: Scope,
    /// The owner, which decides whether it needs trust.
    pub owner: Owner,
    /// The label that the agent adds to skills from this root.
    pub label: Option<Text>,
    /// The plugin that it is part of.
    pub plugin: Option<Arc<Plugin>>,
    /// Result of the walk.
    pub outcome: RootOutcome,
    /// Its candidates, as a range of [`Resolution::candidates`].
    pub candidates: Range<usize>,
    /// Entries skipped below it.
    pub skips: Vec<SkippedEntry>,
    /// Description of its source if that is not the disk; otherwise empty.
    pub origin: String,
    /// The path that trust is recorded for: `path` with links resolved up to the worktree. `None`
    /// if the root needs no trust.
    pub trust_path: Option<AbsPath>,
    /// The user's trust decision for that path; `None` if there is no decision.
    pub trust_decision: Option<bool>,
    /// True if the agent or the user requires trust and the root is not trusted, so that none of
    /// its content is returned.
    pub is_held_back: bool,
}

impl SearchRoot {
    /// Returns the label that the opencode-agent-skills plugin uses for skills from this root,
    /// whichever profile found them.
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

    /// Returns true if the user or an administrator chose this root, so that it needs no trust.
    pub fn is_own(&self) -> bool {
        self.owner.is_own()
    }

    /// Returns true if skills from this root may run commands.
    pub fn is_trusted(&self) -> bool {
        self.is_own() || self.trust_decision == Some(true)
    }
}

/// Result of walking a root.
#[derive(Clone, Debug, PartialEq)]
pub enum RootOutcome {
    /// The path does not exist.
    Missing,
    /// The directory was walked.
    Walked,
    /// The path exists but cannot be walked.
    Fault(Fault),
    /// The root is not searched, for example because `HOME` is not set or a variable switches it
    /// off. Holds the reason.
    NoBase(String),
    /// The path leads to a directory that is never searched. Holds the reason.
    OutOfBounds(String),
    /// The tree could not answer yet.
    Pending,
}

/// An entry below a root that was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct SkippedEntry {
    /// The skipped entry.
    pub path: AbsPath,
    /// The reason.
    pub reason: SkipReason,
}

/// Reason for skipping an entry below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// A directory whose name starts with a dot.
    Hidden,
    /// A directory name that is never entered.
    SkippedName,
    /// A directory name that the agent reserves.
    ReservedName,
    /// Deeper below the root than the agent searches. Holds the limit.
    TooDeep(u16),
    /// A symbolic link that the agent does not follow.
    Link,
    /// A SKILL.md directly in the root.
    RootSkill,
    /// A file named like SKILL.md, but in the wrong case.
    WrongCase,
    /// A directory that was already walked, at this path.
    SameDirectory(AbsPath),
    /// The root has more directories than the agent reads: the agent's limit, and the number found.
    /// Nothing is skipped, because it is unknown which ones the agent would miss.
    TooManyDirectories(usize, usize),
    /// As `TooManyDirectories`, for entries: files, directories and links.
    TooManyEntries(usize, usize),
    /// The root's budget is used up: the bound, and its value. Everything after this entry is
    /// skipped too.
    OverBudget(Bound, usize),
    /// A link to a directory that is never searched. Holds the reason.
    OutOfBounds(String),
    /// A directory or link that cannot be read.
    Fault(Fault),
}

/// One limit of a root's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Levels of directories.
    Depth,
    /// Number of directories.
    Directories,
    /// Number of directory entries.
    Entries,
    /// Number of files read.
    Files,
    /// Number of symbolic links.
    Links,
}

/// One SKILL.md and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as the agent reads it, or as skillsd reads it if the agent drops the file.
    pub name: String,
    /// The description as the agent reads it, or as skillsd reads it if the agent drops the file.
    pub description: Option<Arc<str>>,
    /// The path of the SKILL.md: as reached, or canonical if the agent resolves links.
    pub path: AbsPath,
    /// The index of its root in [`Resolution::roots`].
    pub root: usize,
    /// Identity of the directory that the file was found in; `None` if it has none. Files of the
    /// skill are served only from this directory, even if another one later appears at the path.
    pub directory: Option<FileId>,
    /// The parsed file; `None` if it could not be read.
    pub file: Option<SkillFile>,
    /// The skill's state.
    pub state: SkillState,
    /// The reason for the state; boxed, because most skills have none.
    pub reason: Option<Box<Reason>>,
    /// Repairs and warnings that do not change the state.
    pub notes: Vec<Reason>,
    /// The prefix that the agent puts before the name.
    pub namespace: Option<String>,
    /// True if the agent lists the name without a description.
    pub name_only: bool,
}

impl Candidate {
    /// Returns the skill's directory, reached by the same path as its SKILL.md.
    pub fn dir(&self) -> AbsPath {
        self.path.parent().unwrap_or_else(|| self.path.clone())
    }

    /// Returns true if this is a command file, which has no directory of its own.
    pub fn is_command(&self) -> bool {
        self.path.file_name().is_some_and(|it| it != walk::SKILL_FILE)
    }

    /// Returns the name of the skill's directory, or the file's stem if it is a command.
    pub fn own_name(&self) -> Option<OsString> {
        if self.is_command() {
            return self.path.file_stem().map(OsStr::to_owned);
        }
        self.dir().file_name().map(OsStr::to_owned)
    }

    /// Returns the parsed record, if the file could be read.
    pub fn record(&self) -> Option<&SkillRecord> {
        self.file.as_ref().map(|it| &*it.record)
    }
}

/// State of a skill; each variant has the name used on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkillState {
    /// Shown to the model.
    Active,
    /// Has `paths`, and no touched file matches them yet.
    Conditional,
    /// Has `paths`, and a file touched in this session matches them.
    Activated,
    /// Another skill with the same name, or the same file by another path, wins.
    Shadowed,
    /// Dropped by the agent because the file is invalid.
    Invalid,
    /// Not shown to the model.
    Hidden,
    /// Not loaded until the project is trusted.
    Untrusted,
    /// Denied by a permission rule.
    Denied,
    /// Switched off by settings.
    Ignored,
    /// A link to a file that must not be read.
    Refused,
}

impl SkillState {
    /// All states, from the one closest to being shown. The wire ranks them in the reverse order.
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

    /// Returns true if the file is dropped: it claims no name, and no setting or rule applies to
    /// it.
    pub const fn is_out(self) -> bool {
        matches!(self, Self::Invalid | Self::Ignored | Self::Refused)
    }

    /// Returns true if the agent shows skills in this state to the model.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Active | Self::Activated)
    }

    /// Returns the name used on the wire.
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

/// Reason for the state of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Stable name of the rule that decided.
    pub rule: &'static str,
    /// Description of the cause, as a sentence fragment.
    pub message: String,
    /// Position in the file, if there is one.
    pub at: Option<LineColumn>,
    /// The file of that position, if it is not the skill's own.
    pub file: Option<AbsPath>,
    /// Suggested action, as a sentence.
    pub next: String,
    /// The candidate that won the name, as an index into [`Resolution::candidates`].
    pub winner: Option<usize>,
}

impl Resolution {
    /// Returns the plugin that contains a skill.
    pub fn plugin_of(&self, candidate: &Candidate) -> Option<&Plugin> {
        self.roots[candidate.root].plugin.as_deref()
    }

    /// Returns the skills shown to the model, in the agent's order.
    pub fn listed(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|it| it.state.is_listed())
    }

    /// Returns the number of candidates in a state.
    pub fn count(&self, state: SkillState) -> usize {
        self.candidates.iter().filter(|it| it.state == state).count()
    }

    /// Returns true if a permission rule applies to this subagent only.
    pub fn has_rules_of(&self, agent: &str) -> bool {
        self.permissions.iter().any(|it| it.agent.as_deref() == Some(agent))
    }

    /// Returns names similar to an unknown name, the most similar first. Denied skills are not
    /// included.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        // Allows two typing errors in a word of five letters.
        const ALIKE: f64 = 0.6;
        let told = self.candidates.iter().filter(|it| it.state != SkillState::Denied);
        suggest::nearest(name, told.map(|it| it.name.as_str()), ALIKE)
    }
}

/// Discovers the skills that the context's agent would see.
pub fn discover(ctx: &DiscoveryContext, tree: &dyn Tree) -> Resolution {
    let mut complete = true;
    let cwd = tree.look(&ctx.cwd);
    complete &= cwd.is_some();
    let cwd_exists = matches!(cwd, Some(PathStatus::Directory { .. }));
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
    let judged = |mut it: walk::FoundFile| {
        let within = it.command.as_mut().map(|it| std::mem::take(&mut it.within));
        let (may_have_sidecar, root) = (it.may_have_sidecar, &roots[it.root]);
        let mut candidate = evaluate::evaluate(ctx, it);
        naming::apply(&ctx.profile, root, within, &mut candidate);
        (may_have_sidecar, candidate)
    };
    let mut judged: Vec<_> = walker.candidates.into_iter().map(judged).collect();
    complete &= sidecar::apply(&ctx.profile, tree, &links, &roots, &mut judged);
    complete &= links.complete.get();
    let mut candidates: Vec<_> = judged.into_iter().map(|it| it.1).collect();
    if !complete {
        // The caller runs discovery again once the tree can answer.
        candidates.clear();
        for root in &mut roots {
            root.candidates = 0..0;
        }
    }
    settings::apply(&settings, &roots, &mut candidates);
    precedence::resolve_conflicts(ctx, &roots, &mut candidates);
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

/// Returns the candidates in the order in which they claim names; `None` if the agent keeps several
/// skills with one name.
pub fn claim_order(ctx: &DiscoveryContext, resolution: &Resolution) -> Option<Vec<usize>> {
    precedence::order(ctx, &resolution.roots, &resolution.candidates)
}

#[cfg(test)]
mod tests;
