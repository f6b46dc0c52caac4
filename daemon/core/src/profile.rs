//! Profiles: each agent's own discovery rules, as data.
//!
//! A profile says where an agent looks, in what order, how deep, what it skips, how it reads a
//! file and who wins a name. One table ([`builtin`]) drives discovery, `explain` and the
//! compatibility documents; [`crate::resolve`] is the one reader of it. Nothing here decides:
//! a row is a statement about an agent, with the version and the kind of evidence behind it.

mod own;
mod page;
mod rule;
mod settings;
mod source;
mod table;
mod variant;
mod words;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::ladder::{Fence, Library, Quoting, Requirement};
use crate::render::Format;

pub use own::{DepthDraft, Draft, DraftFault, DraftSetting, Profiles, RootDraft, WalkDraft};
pub use page::page;
pub use rule::{CHECKS, RULES, Rule, RuleKind, Setting, check_of, requirement};
pub use source::{Broken, PluginRule, Reads, Seeks, SettingsRule};
pub use words::Worded;

/// Text that is either built in or comes from a user's configuration.
pub type Text = Cow<'static, str>;

/// One agent's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name used on the wire and the command line, with its variant (`claude-code@founding`).
    pub id: Text,
    /// The agent's name as people know it.
    pub agent: Text,
    /// The version the rules were taken from.
    pub version: Text,
    /// How the rules are known.
    pub evidence: Evidence,
    /// The profile it was made from; none for an agent's own row.
    pub base: Option<Arc<Profile>>,
    /// Where it differs from that one, in the order of [`RULES`].
    pub differences: Vec<Difference>,
    /// Tells it apart from others of the same id: zero where nobody changed the built-in row.
    pub revision: u64,
    /// The environment variables that discovery depends on: exact names. Views are keyed by
    /// their values; values are never logged.
    pub environment: Vec<Text>,
    /// The agent's own configuration files, in the order in which later ones override earlier
    /// ones.
    pub settings: Vec<SettingsRule>,
    /// Where the agent looks, in scan order.
    pub roots: Vec<RootRule>,
    /// A file in a skill's directory that says more about it than SKILL.md: its relative path.
    pub sidecar: Option<Text>,
    /// How a skill gets its name.
    pub name: NameRule,
    /// The key in `metadata` that gives a skill a namespace beside its name.
    pub namespace: Option<Text>,
    /// How a skill gets its description.
    pub description: DescriptionRule,
    /// Whether runs of white space in a name and a description become one blank, and those
    /// around them nothing.
    pub one_line: bool,
    /// Other fields without which the agent drops a skill.
    pub requires: Vec<Requirement>,
    /// How the agent finds the frontmatter.
    pub fence: Fence,
    /// The YAML library that the agent reads it with.
    pub library: Library,
    /// How the agent reads it, and which repairs it makes, in the order it tries them.
    pub ladder: Vec<Rung>,
    /// What becomes of a file that no rung could read.
    pub unreadable_yaml: Unreadable,
    /// Who wins when two files claim one name.
    pub duplicates: Duplicates,
    /// By which path the agent knows a file.
    pub paths: Paths,
    /// How bytes that are not UTF-8 are taken.
    pub bad_utf8: Encoding,
    /// How a byte order mark is taken.
    pub bom: Encoding,
    /// How CRLF line ends are taken.
    pub crlf: Encoding,
    /// Whether `paths:` makes a skill conditional.
    pub conditional: bool,
    /// Whether `disable-model-invocation` hides a skill from the model.
    pub hides_from_model: bool,
    /// When skill directories below the working directory are found.
    pub nested: Nested,
    /// What becomes of loaded skills when a conversation is shortened.
    pub compaction: Compaction,
    /// Whether a project's skills wait until the user trusts it.
    pub trust: Trust,
    /// Whether the winner of a name tells of those that lost it.
    pub tells_duplicates: bool,
    /// How the agent writes what it gives its model.
    pub output: Format,
}

/// One rule in which a profile differs from the one that it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The rule's name in [`RULES`].
    pub rule: &'static str,
    /// What the other one says.
    pub base: String,
    /// What this one says.
    pub here: String,
    /// Where that is written, as a sentence.
    pub source: Text,
}

impl Profile {
    /// Returns the rule by which a directory of skills may hold plugins.
    pub fn plugins_beside_skills(&self) -> Option<&PluginRule> {
        self.roots.iter().find_map(|root| match &root.base {
            Base::Plugins(rule) if rule.beside_skills => Some(rule),
            _ => None,
        })
    }

    /// Returns who acts by these rules, as the subject of a sentence.
    pub fn subject(&self) -> &str {
        match self.evidence {
            Evidence::Standard => "An Agent Skills client",
            Evidence::Run
            | Evidence::Source
            | Evidence::Documentation
            | Evidence::Configuration => &self.agent,
        }
    }

    /// Returns what views by these rules are kept under: another content, another key.
    pub fn key(&self) -> String {
        match self.revision {
            0 => self.id.to_string(),
            revision => format!("{}#{revision:016x}", self.id),
        }
    }

    /// Returns where it differs from its base in one rule.
    pub fn difference(&self, rule: &str) -> Option<&Difference> {
        self.differences.iter().find(|it| it.rule == rule)
    }
}

/// How a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Measured on the running agent.
    Run,
    /// Read in the agent's source.
    Source,
    /// Taken from documentation, change logs and trackers.
    Documentation,
    /// Stated by the open standard and its client guide.
    Standard,
    /// Written in the user's configuration.
    Configuration,
}

/// One place, or one family of places, where an agent looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRule {
    /// Where the relative paths start.
    pub base: Base,
    /// Paths below the base, in scan order. At each level of [`Base::Ancestors`] all are tried.
    pub relative: Vec<Text>,
    /// What an entry found here is called.
    pub scope: Scope,
    /// How the directory is walked.
    pub walk: Walk,
    /// What takes this root, or one of its paths, out of the list.
    pub switches: Vec<Switch>,
    /// What makes a skill there.
    pub seeks: Seeks,
    /// What the agent calls skills from here beside their names.
    pub label: Option<Text>,
}

/// A variable that switches a root off when it is `1` or `true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The variable's name.
    pub variable: Text,
    /// The one relative path it is about; none for all of them.
    pub relative: Option<Text>,
}

/// Where a root's relative path starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// The user's home directory (`HOME`).
    Home,
    /// A directory named by an environment variable, else a path below home.
    Variable {
        /// The variable's name.
        name: Text,
        /// Used when the variable is unset or empty.
        below_home: Text,
    },
    /// A directory named by an environment variable; without it there is no such root.
    IfSet {
        /// The variable's name.
        name: Text,
    },
    /// The working directory and its ancestors, nearest first.
    Ancestors {
        /// The last directory that is looked at.
        stop: Stop,
    },
    /// An absolute path.
    Absolute(Text),
    /// Each directory the caller added, in its order.
    Additional,
    /// What comes from elsewhere than the directories of a machine; it has no relative paths.
    Provided(Provider),
    /// Each directory that the agent's configuration files name, see [`Reads::SkillPaths`].
    Settings,
    /// The installed plugins of Claude Code; the relative path is not used.
    Plugins(PluginRule),
}

/// Who provides skills that are in none of an agent's directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// skillsd itself.
    Bundled,
    /// Catalogs that are fetched by their addresses.
    Remote,
    /// The prompts of MCP servers.
    Mcp,
}

/// Where a walk towards the root directory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The working directory itself.
    Cwd,
    /// The top of the git worktree; outside git the working directory.
    Worktree,
    /// The last directory below the user's home, which itself is the user's own; elsewhere the
    /// file system's root.
    Home,
    /// The top of the git worktree; outside git the file system's root.
    WorktreeElseFilesystem,
    /// The file system's root.
    Filesystem,
}

/// Where an entry comes from, as the wire calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Set up by an administrator.
    Managed,
    /// The user's own.
    User,
    /// The worktree's.
    Project,
    /// Below the working directory, found by touching a file.
    Nested,
    /// In a directory the caller added.
    Additional,
    /// Part of the agent, or of skillsd.
    Bundled,
    /// From a catalog that was fetched.
    Remote,
    /// A prompt of an MCP server.
    Mcp,
    /// Part of a plugin of the agent.
    Plugin,
    /// A command file, which the agent takes for a skill.
    Command,
}

impl Scope {
    /// Returns the word used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Nested => "nested",
            Self::Additional => "additional",
            Self::Bundled => "bundled",
            Self::Remote => "remote",
            Self::Mcp => "mcp",
            Self::Plugin => "plugin",
            Self::Command => "command",
        }
    }

    /// Returns whether it comes with a worktree, which anybody may have written.
    pub const fn is_of_a_worktree(self) -> bool {
        match self {
            Self::Project | Self::Nested | Self::Additional => true,
            Self::Managed
            | Self::User
            | Self::Bundled
            | Self::Remote
            | Self::Mcp
            | Self::Plugin
            | Self::Command => false,
        }
    }
}

/// How a root directory is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// How many directories below the root a skill's directory may be; none is unlimited.
    pub max_depth: Option<u16>,
    /// Whether a SKILL.md directly in the root counts.
    pub root_skill: bool,
    /// Whether directories whose names begin with a dot are entered.
    pub hidden: bool,
    /// Directory names that are never entered, at any depth.
    pub skipped: Vec<Text>,
    /// Directory names directly below the root that the agent keeps for itself.
    pub reserved: Vec<Text>,
    /// Whether directories inside a skill's directory are searched for more skills.
    pub into_skills: bool,
    /// Which symbolic links to directories are followed.
    pub directory_links: Links,
    /// Whether a SKILL.md may be a symbolic link.
    pub file_links: bool,
    /// Whether directories that are reached by a link come after all others beside them.
    pub links_last: bool,
    /// Whether a directory is walked each time it is reached, not once. For roots with a
    /// `max_depth`: else links could make the walk endless.
    pub repeats: bool,
    /// How many directories of one root the agent reads; none for all. We list what is in the
    /// others as well, and `explain` tells of it.
    pub most_directories: Option<usize>,
}

impl Walk {
    /// Returns what most agents do: any depth, links followed, hidden directories passed over.
    pub fn plain() -> Self {
        Self {
            max_depth: None,
            root_skill: false,
            hidden: false,
            skipped: Vec::new(),
            reserved: Vec::new(),
            into_skills: false,
            directory_links: Links::Always,
            file_links: true,
            links_last: false,
            repeats: false,
            most_directories: None,
        }
    }
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// None.
    Never,
    /// Only those directly below the root.
    FirstLevel,
    /// All; each real directory counts once.
    Always,
}

/// How a skill gets its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// Where the name is taken from.
    pub source: NameSource,
    /// What happens to a name or description that is not text in YAML (`123`, `true`).
    pub scalars: Scalars,
    /// What happens to an empty name.
    pub empty: Empty,
    /// What is made of the name's characters.
    pub form: NameForm,
    /// Which names are accepted.
    pub check: NameCheck,
}

/// Where a name is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// The `name` field; without it the skill is dropped.
    Field,
    /// The `name` field, else the directory's name.
    FieldElseDirectory,
    /// Always the directory's name; the field is a label.
    Directory,
}

/// What happens to plain YAML scalars where text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalars {
    /// Read as their source text.
    Text,
    /// The skill is dropped.
    Refuse,
}

/// What happens to an empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// It is the same as none.
    Missing,
    /// It is kept.
    Kept,
}

/// What an agent makes of a name's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// Nothing.
    AsWritten,
    /// Each of ``: \ / < > * ? " |`` becomes `-`, as a file name needs it.
    FileName,
}

/// Which names an agent accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCheck {
    /// Any text.
    Any,
    /// At most so many characters; longer ones are dropped.
    AtMost(usize),
    /// Lower-case letters of any script, digits and hyphens; others are dropped.
    LowerCase,
    /// The open standard's form; other names are loaded with a warning.
    StandardWarn,
}

/// How a skill gets its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionRule {
    /// Missing, null, empty or blank: the skill is dropped.
    Required,
    /// Missing, null or empty: the skill is dropped. A blank one is kept.
    NotEmpty,
    /// Missing: the skill is dropped. An empty one is kept.
    Present,
    /// Missing: the skill is loaded, but not listed for the model.
    ElseUnlisted,
    /// Missing or empty: the first line of the body that is not blank.
    ElseFirstBodyLine,
    /// Missing or empty: the first heading of the body, else the name.
    ElseFirstHeading,
}

impl DescriptionRule {
    /// Returns whether a skill without a description is dropped.
    pub const fn drops_missing(self) -> bool {
        matches!(self, Self::Required | Self::NotEmpty | Self::Present)
    }
}

/// One way of reading a frontmatter, see the leniency ladder in docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The whole block is YAML.
    Strict,
    /// Problematic one-line scalars are quoted first.
    Quote(Quoting),
    /// One-line values with a colon become blocks first.
    Block,
    /// Name and description are taken from the lines that begin with them, also where YAML
    /// gives something that is not text.
    Lines,
    /// Each top-level key is read alone.
    PerKey,
}

/// What becomes of a file whose frontmatter no rung could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The skill is dropped.
    Drop,
    /// The body is loaded as if there were no frontmatter.
    EmptyMetadata,
}

/// Who wins a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The first in scan order.
    FirstWins,
    /// The last in scan order.
    LastWins,
    /// Nobody: all are listed.
    KeepAll,
}

/// By which path an agent knows a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// The one it was reached by.
    AsReached,
    /// The one without symbolic links on the way. A file reached twice is one.
    Canonical,
}

/// How an oddity of the file's encoding is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Accepted.
    Accept,
    /// The skill is dropped.
    Drop,
}

/// When skill directories below the working directory are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nested {
    /// Never.
    Never,
    /// When a file near them is touched, for the rest of the session.
    OnTouch {
        /// The directories looked for, relative to each directory on the way up.
        relative: Vec<Text>,
        /// How each is walked.
        walk: Walk,
        /// Whether git-ignored directories are left out.
        skip_git_ignored: bool,
        /// What becomes of one whose name is taken.
        taken: Taken,
    },
}

/// What becomes of the skills that a model has loaded when its conversation is shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// They are given to it again, the latest first, within these bounds.
    Attaches {
        /// How many tokens of one.
        each: u32,
        /// How many tokens in all.
        all: u32,
    },
    /// They are forgotten.
    Forgets {
        /// Whether the list of skills is given to it again.
        lists_again: bool,
    },
}

/// What becomes of a nested skill whose name another one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is kept under `dir:name`, where `dir` is the directory that holds its root, seen from
    /// the working directory.
    Prefixed,
    /// It wins the name.
    Wins,
}

/// Whether an agent wants a project to be trusted before it takes skills from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It takes them.
    NotAsked,
    /// It takes none before the user trusts the folder.
    Needed {
        /// Variables each of which says with `1` or `true` that the user does.
        variables: Vec<Text>,
    },
}

/// Returns the built-in profiles, the variants behind the agents' own rows.
pub fn builtin() -> &'static [Arc<Profile>] {
    static TABLE: LazyLock<Vec<Arc<Profile>>> = LazyLock::new(|| {
        let mut all: Vec<_> = table::rows().into_iter().map(Arc::new).collect();
        let variants = variant::rows(&all);
        all.extend(variants.into_iter().map(Arc::new));
        all
    });
    &TABLE
}

/// Returns the built-in profiles that say what an agent does today, without the variants.
pub fn agents() -> impl Iterator<Item = &'static Arc<Profile>> {
    builtin().iter().filter(|it| it.base.is_none())
}

/// Returns the built-in profile of that name.
pub fn find(id: &str) -> Option<&'static Arc<Profile>> {
    builtin().iter().find(|it| it.id == id)
}

/// The profile used when a caller names none.
pub const DEFAULT: &str = "agentskills";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_profile_exists_and_ids_are_unique() {
        assert!(find(DEFAULT).is_some());
        let mut ids: Vec<_> = builtin().iter().map(|it| it.id.clone()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), builtin().len());
    }

    #[test]
    fn every_variable_a_root_uses_is_in_the_views_key() {
        for profile in builtin() {
            for root in &profile.roots {
                let base = match &root.base {
                    Base::Home | Base::Settings => vec!["HOME"],
                    Base::Variable { name, .. } => vec!["HOME", name],
                    Base::IfSet { name } => vec![&**name],
                    Base::Plugins(rule) => {
                        std::iter::once("HOME").chain(rule.variable.as_deref()).collect()
                    }
                    Base::Ancestors { .. }
                    | Base::Absolute(_)
                    | Base::Additional
                    | Base::Provided(_) => Vec::new(),
                };
                let trust = match &profile.trust {
                    Trust::NotAsked => &[][..],
                    Trust::Needed { variables } => variables,
                };
                let switches = root.switches.iter().map(|it| &*it.variable);
                let all = base.into_iter().chain(switches).chain(trust.iter().map(|it| &**it));
                for name in all {
                    assert!(profile.environment.iter().any(|it| it == name), "{name}");
                }
            }
            for rule in &profile.settings {
                let base = match &rule.base {
                    Base::Variable { name, .. } | Base::IfSet { name } => Some(&**name),
                    Base::Home
                    | Base::Ancestors { .. }
                    | Base::Absolute(_)
                    | Base::Additional
                    | Base::Settings
                    | Base::Provided(_)
                    | Base::Plugins(_) => None,
                };
                for name in base.into_iter().chain(rule.switches.iter().map(|it| &*it.variable)) {
                    assert!(profile.environment.iter().any(|it| it == name), "{name}");
                }
            }
        }
    }
}
