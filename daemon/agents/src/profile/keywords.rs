//! Keywords for the values of profile rules that are not plain enums, in the configuration and in
//! the reference.
//!
//! Each value has one keyword, so a user's configuration, its schema, the reference and `explain`
//! agree.

use super::{LoadStrategy, NameCheck, SettingsItem, Text};
use crate::keyword::Keyword;
use crate::profile::{FieldForm, Quoting, Requirement};

macro_rules! keywords {
    ($($type:ident { $($word:literal = $value:expr,)* })*) => {
        $(impl Keyword for $type {
            const KEYWORDS: &'static [(&'static str, Self)] = &[$(($word, $value),)*];
        })*
    };
}

keywords! {
    LoadStrategy {
        "strict" = Self::Strict,
        "quote-claude-code" = Self::Quote(Quoting::ClaudeCode),
        "quote-codex" = Self::Quote(Quoting::Codex),
        "quote-client-guide" = Self::Quote(Quoting::ClientGuide),
        "quote-description" = Self::Quote(Quoting::Description),
        "block" = Self::Block,
        "lines" = Self::Lines,
        "invalid-lines" = Self::InvalidLines,
        "colon-lines" = Self::ColonLines,
        "any-lines" = Self::AnyLines,
        "per-key" = Self::PerKey,
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
        "disabled-names" = Self::DisabledNames,
        "disabled-slugs" = Self::DisabledSlugs,
        "disabled-exactly" = Self::DisabledExactly,
        "skill-patterns" = Self::SkillPatterns,
        "skill-directories" = Self::SkillDirectories,
        "skills-config" = Self::SkillsConfig,
        "folder-trust" = Self::FolderTrust,
        "trusted-folders" = Self::TrustedFolders,
    }
}

/// The keywords of [`RuleValueKind::Check`](super::RuleValueKind::Check) besides `at-most-N`.
pub const CHECKS: [&str; 9] = [
    "any", "lower-case", "standard-warn", "visible", "ascii-label", "word", "standard",
    "ascii-lower-case", "standard-directory",
];

pub(super) fn check_word(check: NameCheck) -> String {
    match check {
        NameCheck::Any => CHECKS[0].to_owned(),
        NameCheck::LowerCase => CHECKS[1].to_owned(),
        NameCheck::StandardWarn => CHECKS[2].to_owned(),
        NameCheck::Visible => CHECKS[3].to_owned(),
        NameCheck::AsciiLabel => CHECKS[4].to_owned(),
        NameCheck::Word => CHECKS[5].to_owned(),
        NameCheck::Standard => CHECKS[6].to_owned(),
        NameCheck::AsciiLowerCase => CHECKS[7].to_owned(),
        NameCheck::StandardDirectory => CHECKS[8].to_owned(),
        NameCheck::AtMost(max) => format!("at-most-{max}"),
    }
}

/// Parses a value of [`RuleValueKind::Check`](super::RuleValueKind::Check).
pub fn parse_name_check(word: &str) -> Option<NameCheck> {
    match CHECKS.iter().position(|it| *it == word) {
        Some(0) => Some(NameCheck::Any),
        Some(1) => Some(NameCheck::LowerCase),
        Some(2) => Some(NameCheck::StandardWarn),
        Some(3) => Some(NameCheck::Visible),
        Some(4) => Some(NameCheck::AsciiLabel),
        Some(5) => Some(NameCheck::Word),
        Some(6) => Some(NameCheck::Standard),
        Some(7) => Some(NameCheck::AsciiLowerCase),
        Some(_) => Some(NameCheck::StandardDirectory),
        None => word.strip_prefix("at-most-")?.parse().ok().map(NameCheck::AtMost),
    }
}

/// Parses an item of [`RuleValueKind::Requirements`](super::RuleValueKind::Requirements).
pub fn parse_requirement(word: &str) -> Option<Requirement> {
    match word {
        "body" => return Some(Requirement::Body),
        "body-text" => return Some(Requirement::BodyText),
        "content" => return Some(Requirement::Content),
        "frontmatter" => return Some(Requirement::Frontmatter),
        _ => {}
    }
    let (kind, key) = word.split_once(':').filter(|(_, key)| !key.is_empty())?;
    let text = |it: &str| Text::Owned(it.to_owned());
    match kind {
        "description-at-most" => key.parse().ok().map(Requirement::DescriptionAtMost),
        "map-with" => {
            let (key, scalar) = key.split_once('/')?;
            Some(Requirement::MapWith { key: text(key), scalar: text(scalar) })
        }
        form => FieldForm::from_keyword(form).map(|form| Requirement::Field(form, text(key))),
    }
}

pub(super) fn requirement_word(requirement: &Requirement) -> String {
    match requirement {
        Requirement::Body => "body".to_owned(),
        Requirement::BodyText => "body-text".to_owned(),
        Requirement::Content => "content".to_owned(),
        Requirement::Frontmatter => "frontmatter".to_owned(),
        Requirement::DescriptionAtMost(most) => format!("description-at-most:{most}"),
        Requirement::Field(form, key) => format!("{}:{key}", form.keyword()),
        Requirement::MapWith { key, scalar } => format!("map-with:{key}/{scalar}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::fence::Fence;
    use crate::yaml_library::YamlLibrary;

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
    }
}
