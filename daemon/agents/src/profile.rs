//! Profiles: each agent's own discovery rules, as data.
//!
//! A profile says where an agent looks, in what order, how deep, what it skips, how it reads a
//! file and who wins a name. One table ([`builtin`]) drives discovery, `explain` and the
//! compatibility documents; `skills_discovery::discover` is the one reader of it. Nothing here decides:
//! a row is a statement about an agent, with the version and the kind of evidence behind it.

mod display;
mod format;
mod inputs;
mod keywords;
mod page;
mod read_rules;
mod root;
mod rule;
mod settings;
mod table;
mod user_profiles;
mod variant;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::fence::Fence;
use crate::yaml_library::YamlLibrary;

pub use format::OutputFormat;
pub use inputs::{
    ExtensionRule, OnBrokenSettings, PluginRule, RootContent, SettingsItem, SettingsRule,
};
pub use keywords::{CHECKS, Keyword, parse_name_check, parse_requirement};
pub use page::page;
pub use read_rules::{
    DescriptionRule, DuplicatePolicy, EmptyNameRule, EncodingPolicy, LoadStrategy, NameCheck,
    NameForm, NameRule, NameSource, OnInvalidYaml, PathIdentity, Quoting, Requirement, ScalarRule,
};
pub use root::{
    AncestorStop, BuiltInSkill, DisableSwitch, LinkPolicy, LinkedWorktrees, Provider, RootBase,
    RootRule, Scope, WalkBudget, WalkRule,
};
pub use rule::{ProfileRule, RULES, RuleValue, RuleValueKind};
pub use user_profiles::{
    DepthDraft, DraftFault, DraftSetting, ProfileDraft, ProfileSet, RootDraft, WalkDraft,
};

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
    /// What it reads where it works in a linked worktree.
    pub linked_worktrees: LinkedWorktrees,
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
    pub library: YamlLibrary,
    /// How the agent reads it, and which repairs it makes, in the order it tries them.
    pub load_strategies: Vec<LoadStrategy>,
    /// What becomes of a file that no rung could read.
    pub unreadable_yaml: OnInvalidYaml,
    /// Who wins when two files claim one name.
    pub duplicates: DuplicatePolicy,
    /// By which path the agent knows a file.
    pub paths: PathIdentity,
    /// How bytes that are not UTF-8 are taken.
    pub bad_utf8: EncodingPolicy,
    /// How a byte order mark is taken.
    pub bom: EncodingPolicy,
    /// How CRLF line ends are taken.
    pub crlf: EncodingPolicy,
    /// Whether `paths:` makes a skill conditional.
    pub conditional: bool,
    /// Whether `disable-model-invocation` hides a skill from the model.
    pub hides_from_model: bool,
    /// When skill directories below the working directory are found.
    pub nested: NestedRule,
    /// What becomes of loaded skills when a conversation is shortened.
    pub compaction: Compaction,
    /// Whether a project's skills wait until the user trusts it.
    pub trust: TrustRule,
    /// Whether the winner of a name tells of those that lost it.
    pub warns_of_duplicates: bool,
    /// How the agent writes what it gives its model.
    pub output: OutputFormat,
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
    /// Returns the rules by which it finds plugins.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginRule> {
        self.roots.iter().filter_map(|root| match &root.base {
            RootBase::Plugins(rule) => Some(rule),
            _ => None,
        })
    }

    /// Returns the rule by which a directory of skills may hold plugins.
    pub fn plugins_beside_skills(&self) -> Option<&PluginRule> {
        self.plugins().find(|it| it.beside_skills)
    }

    /// Whether the agent keeps a name of a directory for itself, where it looks for skills.
    pub fn is_reserved(&self, name: &str) -> bool {
        self.roots.iter().any(|it| it.walk.reserved.iter().any(|it| &**it == name))
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

/// When skill directories below the working directory are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestedRule {
    /// Never.
    Never,
    /// When a file near them is touched, for the rest of the session.
    OnTouch {
        /// The directories looked for, relative to each directory on the way up.
        relative: Vec<Text>,
        /// How each is walked.
        walk: WalkRule,
        /// Whether git-ignored directories are left out.
        skip_git_ignored: bool,
        /// What becomes of one whose name is taken.
        taken: NestedConflict,
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
pub enum NestedConflict {
    /// It is kept under `dir:name`, where `dir` is the directory that holds its root, seen from
    /// the working directory.
    Prefixed,
    /// It wins the name.
    Wins,
}

/// Whether an agent wants a project to be trusted before it takes skills from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustRule {
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

/// The profiles whose agents count where nobody says otherwise: all that are in wide use.
pub const DEFAULT_PROFILES: [&str; 5] =
    ["agentskills", "claude-code", "opencode", "codex", "gemini-cli"];

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
                    RootBase::Home | RootBase::Settings => vec!["HOME"],
                    RootBase::Variable { name, .. } => vec!["HOME", name],
                    RootBase::IfSet { name } => vec![&**name],
                    RootBase::Plugins(rule) => {
                        std::iter::once("HOME").chain(rule.variable.as_deref()).collect()
                    }
                    RootBase::Extensions(rule) => vec!["HOME", &*rule.variable],
                    RootBase::Ancestors { .. }
                    | RootBase::Absolute(_)
                    | RootBase::Additional
                    | RootBase::Provided(_)
                    | RootBase::BuiltIn(_) => Vec::new(),
                };
                let trust = match &profile.trust {
                    TrustRule::NotAsked => &[][..],
                    TrustRule::Needed { variables } => variables,
                };
                let switches = root.switches.iter().map(|it| &*it.variable);
                let all = base.into_iter().chain(switches).chain(trust.iter().map(|it| &**it));
                for name in all {
                    assert!(profile.environment.iter().any(|it| it == name), "{name}");
                }
            }
            for rule in &profile.settings {
                let base = match &rule.base {
                    RootBase::Variable { name, .. } | RootBase::IfSet { name } => Some(&**name),
                    RootBase::Home
                    | RootBase::Ancestors { .. }
                    | RootBase::Absolute(_)
                    | RootBase::Additional
                    | RootBase::Settings
                    | RootBase::Provided(_)
                    | RootBase::Plugins(_)
                    | RootBase::Extensions(_)
                    | RootBase::BuiltIn(_) => None,
                };
                for name in base.into_iter().chain(rule.switches.iter().map(|it| &*it.variable)) {
                    assert!(profile.environment.iter().any(|it| it == name), "{name}");
                }
            }
        }
    }
}
