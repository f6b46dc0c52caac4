//! Profiles: each agent's discovery rules, as data.
//!
//! A profile states where an agent searches, in which order and how deep, what it skips, how it
//! loads a file and which skill wins a name. One table ([`builtin()`]) drives discovery, `explain`
//! and the compatibility documents; `skills_discovery::discover` interprets it. A row is a
//! statement about an agent, with the version and the kind of evidence behind it; this module
//! decides nothing.

mod activation;
mod builtin;
mod definition;
mod display;
mod format;
mod keywords;
mod plugins;
mod presence;
mod read_rules;
mod root;
mod row;
mod rule;
mod running;
mod settings;
mod settings_rule;
mod table;
pub mod template;
mod text;
mod user_profiles;
mod variant;

pub use crate::keyword::Keyword;
pub use builtin::{DEFAULT, DEFAULT_PROFILES, agents, builtin, find};
pub use definition::{
    Compaction, Evidence, NestedConflict, NestedRule, Profile, RuleDifference, TrustRule,
};
pub use format::OutputFormat;
pub use keywords::{CHECKS, parse_name_check, parse_requirement};
pub use plugins::{ExtensionRule, PluginRule};
pub use presence::PresenceRule;
pub use read_rules::{
    DescriptionRule, DuplicatePolicy, EmptyNameRule, EncodingPolicy, FieldForm, LoadStrategy,
    NameCheck, NameForm, NameRule, NameSource, OnInvalidYaml, PathIdentity, Quoting, Requirement,
    ScalarRule,
};
pub use root::{
    AncestorStop, BuiltInSkill, DisableSwitch, LinkPolicy, LinkedWorktrees, Provider, RootBase,
    RootContent, RootRule, Scope, WalkBudget, WalkRule,
};
pub use rule::{ProfileRule, RULES, RuleValue, RuleValueKind, join_lines};
pub use running::running_agent;
pub use settings_rule::{
    AncestorFiles, OnBrokenSettings, SettingsItem, SettingsRule, SettingsSource,
};
pub use text::Text;
pub use user_profiles::{
    DepthDraft, DraftFault, DraftSetting, ProfileDraft, ProfileSet, RootDraft, UnusableProfile,
    WalkDraft,
};
