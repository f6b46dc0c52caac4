//! Keywords for the values of profile rules, in the configuration and in the reference.
//!
//! Each value has one keyword, so a user's configuration, its schema, the reference and `explain`
//! agree. Keywords are a stable interface: add new ones, never repurpose them.

use super::{
    AncestorStop, DescriptionRule, DuplicatePolicy, EmptyNameRule, EncodingPolicy, LinkPolicy,
    LinkedWorktrees, LoadStrategy, NameCheck, NameForm, NameSource, NestedConflict, OnInvalidYaml,
    PathIdentity, ScalarRule, Scope, SettingsItem, Text,
};
use crate::fence::Fence;
use crate::profile::{OutputFormat, Quoting, Requirement};
use crate::yaml_library::YamlLibrary;

/// A type whose values all have a keyword.
pub trait Keyword: Copy + PartialEq + Sized + 'static {
    /// Every value with its keyword, in the order of the reference.
    const KEYWORDS: &'static [(&'static str, Self)];

    /// Returns the value's keyword.
    fn keyword(self) -> &'static str {
        let found = Self::KEYWORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(word, _)| word)
    }

    /// Returns the value with this keyword.
    fn from_keyword(word: &str) -> Option<Self> {
        Self::KEYWORDS.iter().find(|(it, _)| *it == word).map(|(_, value)| *value)
    }

    /// Returns all keywords.
    fn keywords() -> Vec<&'static str> {
        Self::KEYWORDS.iter().map(|(word, _)| *word).collect()
    }
}

macro_rules! keywords {
    ($($type:ident { $($word:literal = $value:expr,)* })*) => {
        $(impl Keyword for $type {
            const KEYWORDS: &'static [(&'static str, Self)] = &[$(($word, $value),)*];
        })*
    };
}

keywords! {
    OutputFormat {
        "opencode" = Self::Opencode,
        "opencode@founding" = Self::OpencodeFounding,
        "claude" = Self::Claude,
        "claude@founding" = Self::ClaudeFounding,
        "agentskills" = Self::AgentSkills,
        "codex" = Self::Codex,
        "gemini" = Self::Gemini,
        "plugin" = Self::Plugin,
        "raw" = Self::Raw,
    }
    NameSource {
        "field" = Self::Field,
        "field-else-directory" = Self::FieldElseDirectory,
        "directory" = Self::Directory,
    }
    ScalarRule {
        "text" = Self::Text,
        "refuse" = Self::Refuse,
    }
    EmptyNameRule {
        "missing" = Self::Missing,
        "kept" = Self::Kept,
    }
    NameForm {
        "as-written" = Self::AsWritten,
        "file-name" = Self::FileName,
    }
    DescriptionRule {
        "required" = Self::Required,
        "not-empty" = Self::NotEmpty,
        "present" = Self::Present,
        "else-unlisted" = Self::ElseUnlisted,
        "else-first-body-line" = Self::ElseFirstBodyLine,
        "else-first-heading" = Self::ElseFirstHeading,
    }
    LoadStrategy {
        "strict" = Self::Strict,
        "quote-claude-code" = Self::Quote(Quoting::ClaudeCode),
        "quote-codex" = Self::Quote(Quoting::Codex),
        "quote-client-guide" = Self::Quote(Quoting::ClientGuide),
        "block" = Self::Block,
        "lines" = Self::Lines,
        "per-key" = Self::PerKey,
    }
    Fence {
        "first-line" = Self::FirstLine,
        "trimmed-lines" = Self::TrimmedLines,
        "anywhere" = Self::Anywhere,
        "gray-matter" = Self::GrayMatter,
        "prefix" = Self::Prefix,
        "exact" = Self::Exact,
    }
    YamlLibrary {
        "js-yaml-3" = Self::JsYaml3,
        "js-yaml-4" = Self::JsYaml4,
        "serde-yaml" = Self::SerdeYaml,
        "npm-yaml" = Self::NpmYaml,
        "bun" = Self::Bun,
        "ours" = Self::Ours,
    }
    OnInvalidYaml {
        "drop" = Self::Drop,
        "empty-metadata" = Self::EmptyMetadata,
    }
    DuplicatePolicy {
        "first-wins" = Self::FirstWins,
        "last-wins" = Self::LastWins,
        "last-wins-by-race" = Self::LastWinsByRace,
        "keep-all" = Self::KeepAll,
    }
    PathIdentity {
        "as-reached" = Self::AsReached,
        "as-first-reached" = Self::AsFirstReached,
        "canonical" = Self::Canonical,
    }
    SettingsItem {
        "skill-paths" = Self::SkillPaths,
        "skill-urls" = Self::SkillUrls,
        "permission-map" = Self::PermissionMap,
        "permission-lists" = Self::PermissionLists,
        "restrictions" = Self::Restrictions,
        "skill-overrides" = Self::SkillOverrides,
        "bundled-switch" = Self::BundledSwitch,
        "enabled-plugins" = Self::EnabledPlugins,
        "disabled-skills" = Self::DisabledSkills,
        "skills-config" = Self::SkillsConfig,
        "folder-trust" = Self::FolderTrust,
        "trusted-folders" = Self::TrustedFolders,
    }
    EncodingPolicy {
        "accept" = Self::Accept,
        "drop" = Self::Drop,
    }
    LinkPolicy {
        "never" = Self::Never,
        "first-level" = Self::FirstLevel,
        "always" = Self::Always,
    }
    AncestorStop {
        "cwd" = Self::Cwd,
        "worktree" = Self::Worktree,
        "home" = Self::Home,
        "worktree-else-filesystem" = Self::WorktreeElseFilesystem,
        "worktree-below-home" = Self::WorktreeBelowHome,
        "filesystem" = Self::Filesystem,
    }
    LinkedWorktrees {
        "alone" = Self::Alone,
        "main-if-missing" = Self::MainIfMissing,
        "with-main" = Self::WithMain,
    }
    Scope {
        "managed" = Self::Managed,
        "user" = Self::User,
        "project" = Self::Project,
        "nested" = Self::Nested,
        "additional" = Self::Additional,
        "bundled" = Self::Bundled,
        "remote" = Self::Remote,
        "mcp" = Self::Mcp,
        "plugin" = Self::Plugin,
        "command" = Self::Command,
    }
    NestedConflict {
        "prefixed" = Self::Prefixed,
        "wins" = Self::Wins,
    }
}

/// The keywords of [`RuleValueKind::Check`](super::RuleValueKind::Check) besides `at-most-N`.
pub const CHECKS: [&str; 4] = ["any", "lower-case", "standard-warn", "visible"];

pub(super) fn check_word(check: NameCheck) -> String {
    match check {
        NameCheck::Any => CHECKS[0].to_owned(),
        NameCheck::LowerCase => CHECKS[1].to_owned(),
        NameCheck::StandardWarn => CHECKS[2].to_owned(),
        NameCheck::Visible => CHECKS[3].to_owned(),
        NameCheck::AtMost(max) => format!("at-most-{max}"),
    }
}

/// Parses a value of [`RuleValueKind::Check`](super::RuleValueKind::Check).
pub fn parse_name_check(word: &str) -> Option<NameCheck> {
    match CHECKS.iter().position(|it| *it == word) {
        Some(0) => Some(NameCheck::Any),
        Some(1) => Some(NameCheck::LowerCase),
        Some(2) => Some(NameCheck::StandardWarn),
        Some(_) => Some(NameCheck::Visible),
        None => word.strip_prefix("at-most-")?.parse().ok().map(NameCheck::AtMost),
    }
}

/// Parses an item of [`RuleValueKind::Requirements`](super::RuleValueKind::Requirements).
pub fn parse_requirement(word: &str) -> Option<Requirement> {
    if word == "body" {
        return Some(Requirement::Body);
    }
    let (kind, key) = word.split_once(':').filter(|(_, key)| !key.is_empty())?;
    let text = |it: &str| Text::Owned(it.to_owned());
    match kind {
        "text" => Some(Requirement::TextOnly(text(key))),
        "texts" => Some(Requirement::ListOfTexts(text(key))),
        "map-of-texts" => Some(Requirement::MapOfTexts(text(key))),
        "map-with" => {
            let (key, scalar) = key.split_once('/')?;
            Some(Requirement::MapWith { key: text(key), scalar: text(scalar) })
        }
        _ => None,
    }
}

pub(super) fn requirement_word(requirement: &Requirement) -> String {
    match requirement {
        Requirement::Body => "body".to_owned(),
        Requirement::TextOnly(key) => format!("text:{key}"),
        Requirement::ListOfTexts(key) => format!("texts:{key}"),
        Requirement::MapOfTexts(key) => format!("map-of-texts:{key}"),
        Requirement::MapWith { key, scalar } => format!("map-with:{key}/{scalar}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Keyword + std::fmt::Debug>() {
        for (word, value) in T::KEYWORDS {
            assert_eq!(T::from_keyword(word), Some(*value));
            assert_eq!(value.keyword(), *word);
        }
        assert_eq!(T::from_keyword("no-such"), None);
    }

    #[test]
    fn keywords_round_trip() {
        check::<NameSource>();
        check::<ScalarRule>();
        check::<EmptyNameRule>();
        check::<NameForm>();
        check::<DescriptionRule>();
        check::<LoadStrategy>();
        check::<Fence>();
        check::<YamlLibrary>();
        check::<OnInvalidYaml>();
        check::<DuplicatePolicy>();
        check::<PathIdentity>();
        check::<SettingsItem>();
        check::<EncodingPolicy>();
        check::<LinkPolicy>();
        check::<LinkedWorktrees>();
        check::<AncestorStop>();
        check::<Scope>();
        check::<NestedConflict>();
        assert_eq!(Scope::Bundled.keyword(), Scope::Bundled.name());
    }
}
