//! Profiles: each agent's discovery rules, as data.
//!
//! A profile states where an agent searches, in which order and how deep, what it skips, how it
//! loads a file and which skill wins a name. One table ([`builtin`]) drives discovery, `explain`
//! and the compatibility documents; `skills_discovery::discover` interprets it. A row is a
//! statement about an agent, with the version and the kind of evidence behind it; this module
//! decides nothing.

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

/// Text that is built in or comes from a user's configuration.
pub type Text = Cow<'static, str>;

/// One agent's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name used on the wire and the command line, including the variant
    /// (`claude-code@founding`).
    pub id: Text,
    /// The agent's display name.
    pub agent: Text,
    /// The agent's version that the rules describe.
    pub version: Text,
    /// The evidence for the rules.
    pub evidence: Evidence,
    /// The base profile; `None` for an agent's own row.
    pub base: Option<Arc<Profile>>,
    /// The differences from the base, in the order of [`RULES`].
    pub differences: Vec<Difference>,
    /// Distinguishes profiles with the same id; zero for an unchanged built-in row.
    pub revision: u64,
    /// The environment variables that discovery depends on, by exact name. Views are keyed by their
    /// values; values are never logged.
    pub environment: Vec<Text>,
    /// The agent's configuration files, lowest precedence first.
    pub settings: Vec<SettingsRule>,
    /// The search roots, in scan order.
    pub roots: Vec<RootRule>,
    /// The worktrees it reads if it runs in a linked worktree.
    pub linked_worktrees: LinkedWorktrees,
    /// The relative path of a file in a skill's directory with metadata beyond SKILL.md.
    pub sidecar: Option<Text>,
    /// The rules for a skill's name.
    pub name: NameRule,
    /// The key in `metadata` that gives a skill a namespace in addition to its name.
    pub namespace: Option<Text>,
    /// The rule for a skill's description.
    pub description: DescriptionRule,
    /// True if white space in names and descriptions is collapsed to single spaces and trimmed.
    pub one_line: bool,
    /// Other requirements; the agent drops a skill that violates one.
    pub requires: Vec<Requirement>,
    /// The rule for finding the frontmatter.
    pub fence: Fence,
    /// The YAML library that parses the frontmatter.
    pub library: YamlLibrary,
    /// The load strategies, in the order in which the agent tries them.
    pub load_strategies: Vec<LoadStrategy>,
    /// The agent's behaviour if no strategy succeeds.
    pub unreadable_yaml: OnInvalidYaml,
    /// The policy for several files with one name.
    pub duplicates: DuplicatePolicy,
    /// The path by which the agent identifies a file.
    pub paths: PathIdentity,
    /// The agent's behaviour for invalid UTF-8.
    pub bad_utf8: EncodingPolicy,
    /// The agent's behaviour for a byte order mark.
    pub bom: EncodingPolicy,
    /// The agent's behaviour for CRLF line ends.
    pub crlf: EncodingPolicy,
    /// True if `paths:` makes a skill conditional.
    pub conditional: bool,
    /// True if `disable-model-invocation` hides a skill from the model.
    pub hides_from_model: bool,
    /// The discovery of skill directories below the working directory.
    pub nested: NestedRule,
    /// The treatment of loaded skills if a session is compacted.
    pub compaction: Compaction,
    /// The rule for trust in a project.
    pub trust: TrustRule,
    /// True if the winner of a name carries a warning about the shadowed skills.
    pub warns_of_duplicates: bool,
    /// The format of the agent's output to its model.
    pub output: OutputFormat,
}

/// One rule in which a profile differs from its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The rule's name in [`RULES`].
    pub rule: &'static str,
    /// The base's value.
    pub base: String,
    /// This profile's value.
    pub here: String,
    /// The source of the difference, as a sentence.
    pub source: Text,
}

impl Profile {
    /// Returns the rules for finding plugins.
    pub fn plugins(&self) -> impl Iterator<Item = &PluginRule> {
        self.roots.iter().filter_map(|root| match &root.base {
            RootBase::Plugins(rule) => Some(rule),
            _ => None,
        })
    }

    /// Returns the plugin rule that also applies inside skill directories, if any.
    pub fn plugins_beside_skills(&self) -> Option<&PluginRule> {
        self.plugins().find(|it| it.beside_skills)
    }

    /// Returns whether the agent reserves a directory name in one of its search roots.
    pub fn is_reserved(&self, name: &str) -> bool {
        self.roots.iter().any(|it| it.walk.reserved.iter().any(|it| &**it == name))
    }

    /// Returns the agent's name as the subject of a sentence.
    pub fn subject(&self) -> &str {
        match self.evidence {
            Evidence::Standard => "An Agent Skills client",
            Evidence::Run
            | Evidence::Source
            | Evidence::Documentation
            | Evidence::Configuration => &self.agent,
        }
    }

    /// Returns the cache key for views of this profile; it changes with the profile's content.
    pub fn key(&self) -> String {
        match self.revision {
            0 => self.id.to_string(),
            revision => format!("{}#{revision:016x}", self.id),
        }
    }

    /// Returns the difference from the base in one rule, if any.
    pub fn difference(&self, rule: &str) -> Option<&Difference> {
        self.differences.iter().find(|it| it.rule == rule)
    }
}

/// The evidence for a rule.
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

/// Discovery of skill directories below the working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestedRule {
    /// Nested directories are not searched.
    Never,
    /// Nested directories are searched when a file near them is touched, for the rest of the
    /// session.
    OnTouch {
        /// The directories, relative to each directory on the way up.
        relative: Vec<Text>,
        /// The rule for walking each directory.
        walk: WalkRule,
        /// True if git-ignored directories are skipped.
        skip_git_ignored: bool,
        /// The policy for a nested skill whose name is taken.
        taken: NestedConflict,
    },
}

/// Treatment of loaded skills when a session is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// The agent attaches them again, most recent first, within these limits.
    Attaches {
        /// The limit in tokens for one skill.
        each: u32,
        /// The limit in tokens for all skills.
        all: u32,
    },
    /// The agent does not attach them again.
    Forgets {
        /// True if the prompt listing is sent again.
        lists_again: bool,
    },
}

/// Policy for a nested skill whose name another skill has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestedConflict {
    /// The skill is listed as `dir:name`; `dir` is the directory that contains its root, relative
    /// to the working directory.
    Prefixed,
    /// The nested skill wins the name.
    Wins,
}

/// An agent's requirement of trust before it loads a project's skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustRule {
    /// No trust is required.
    NotAsked,
    /// The agent loads none before the user trusts the folder.
    Needed {
        /// Environment variables that declare trust if set to `1` or `true`.
        variables: Vec<Text>,
    },
}

/// Returns the built-in profiles; variants follow the agents' own rows.
pub fn builtin() -> &'static [Arc<Profile>] {
    static TABLE: LazyLock<Vec<Arc<Profile>>> = LazyLock::new(|| {
        let mut all: Vec<_> = table::rows().into_iter().map(Arc::new).collect();
        let variants = variant::rows(&all);
        all.extend(variants.into_iter().map(Arc::new));
        all
    });
    &TABLE
}

/// Returns the built-in profiles of current agents, without the variants.
pub fn agents() -> impl Iterator<Item = &'static Arc<Profile>> {
    builtin().iter().filter(|it| it.base.is_none())
}

/// Returns the built-in profile with this id.
pub fn find(id: &str) -> Option<&'static Arc<Profile>> {
    builtin().iter().find(|it| it.id == id)
}

/// The profile for callers that name none.
pub const DEFAULT: &str = "agentskills";

/// The profiles checked by default: those of all agents in wide use.
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
    fn variables_of_roots_settings_and_trust_are_in_the_environment() {
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
