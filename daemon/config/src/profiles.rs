//! Reader for `[profiles.NAME]`: converts the user's profiles from TOML to drafts.
//!
//! The keys are the rows of [`RULES`], those of a root ([`root::ROOT_KEYS`]) and a few more
//! ([`PROFILE_KEYS`]). [`skills_agents::profile::ProfileSet::from_drafts`] interprets a draft;
//! this module gives each value its place and form.

mod inline;
pub(super) mod key;
pub(super) mod root;
mod value;

use skills_agents::profile::{
    CHECKS, DraftSetting, ProfileDraft, ProfileRule, ProfileSet, RULES, RuleValue, RuleValueKind,
    UnusableProfile, parse_name_check, parse_requirement,
};
use toml::de::{DeTable, DeValue};

use super::reader::ConfigReader;
use super::value::type_name;
use key::ProfileKeyKind::{Roots, Strings, Text, Walk};
use key::{ProfileKey, key};
use root::{every_root, roots};
use value::{Setting, below, variables};

/// Keys of a profile that are not rules.
pub const PROFILE_KEYS: &[ProfileKey] = &[
    key(
        "base",
        "The profile to start from; keys that are not set keep its values.\n\nA built-in profile has no base: its table changes the profile itself.",
        Text,
    ),
    key("agent", "The agent's name in messages.", Text),
    key("roots", "The search roots in scan order, instead of all roots of the base.", Roots),
    key("roots_first", "Search roots before those of the base.", Roots),
    key("roots_last", "Search roots after those of the base.", Roots),
    key(
        "without_roots",
        "Search roots of the base to remove: `.claude/skills` at any base, `~/.claude/skills` only below the home directory.",
        Strings,
    ),
    key("every_root", "How to walk every search root, including those of the base.", Walk),
];

/// Reads the table `profiles`.
pub(super) fn read(reader: &mut ConfigReader<'_>, table: &DeTable<'_>) -> ProfileSet {
    let mut drafts = Vec::new();
    let mut unusable = Vec::new();
    let mut reject = |reader: &mut ConfigReader<'_>, id: &str, at, message: String, hint| {
        let reason = format!("line {}: {message} ({hint})", reader.line(at));
        unusable.push(UnusableProfile { id: id.to_owned(), reason });
        reader.problem(at, message, Some(hint));
    };
    for (name, value) in table {
        let at = name.span().start;
        if let Some(hint) = invalid_name_hint(name.get_ref()) {
            let message = format!("`{}` is not a valid profile name", name.get_ref());
            reject(reader, name.get_ref(), at, message, hint);
            continue;
        }
        match value.get_ref() {
            DeValue::Table(inner) => drafts.push(draft(reader, name.get_ref(), at, inner)),
            other => {
                let message = format!(
                    "`profiles.{}` must be a table, not {}",
                    name.get_ref(),
                    type_name(other)
                );
                let hint = format!("Write `[profiles.{}]` on its own line.", name.get_ref());
                reject(reader, name.get_ref(), value.span().start, message, hint);
            }
        }
    }
    let (profiles, faults) =
        ProfileSet::from_drafts(&drafts, &|at| format!("line {}", reader.line(at)));
    for fault in faults {
        reader.problem(fault.at, fault.message, fault.hint);
    }
    unusable.extend_from_slice(profiles.unusable());
    let profiles = profiles.with_unusable(unusable);
    profiles.with_source_text(format!("profiles = {}\n", inline::table(table)))
}

/// Returns a hint if a name is not valid for a profile.
fn invalid_name_hint(name: &str) -> Option<String> {
    if skills_agents::profile::find(name).is_some() {
        return None;
    }
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || "-_.".contains(it);
    if matches!(name, "all" | "every") {
        return Some(format!("`{name}` stands for several profiles."));
    }
    let is_name = !name.is_empty() && name.chars().all(fits);
    (!is_name).then(|| "Use lower-case letters, digits, `-`, `_` and `.`.".to_owned())
}

fn draft(reader: &mut ConfigReader<'_>, id: &str, at: usize, table: &DeTable<'_>) -> ProfileDraft {
    let mut draft = ProfileDraft { id: id.to_owned(), at, ..ProfileDraft::default() };
    for setting in table.iter().map(Setting::new) {
        match setting.key {
            "base" => draft.base = setting.text(reader).map(|it| (it, setting.at)),
            "agent" => draft.agent = setting.text(reader),
            "roots" => draft.roots = Some(roots(reader, setting)),
            "roots_first" => draft.roots_first = roots(reader, setting),
            "roots_last" => draft.roots_last = roots(reader, setting),
            "without_roots" => draft.without_roots = setting.list(reader),
            "every_root" => draft.every_root = every_root(reader, setting),
            name => match ProfileRule::find(name) {
                Some(rule) => {
                    if let Some(value) = rule_value(reader, rule, setting) {
                        let at = setting.key_at;
                        draft.settings.push(DraftSetting { rule, setting: value, at });
                    }
                }
                None => setting.unknown(reader, &profile_keys(), "profile"),
            },
        }
    }
    draft
}

pub(super) fn profile_keys() -> Vec<&'static str> {
    let rules = RULES.iter().map(|it| it.name).filter(|it| *it != "roots");
    PROFILE_KEYS.iter().map(|it| it.name).chain(rules).collect()
}

fn rule_value(
    reader: &mut ConfigReader<'_>,
    rule: &'static ProfileRule,
    setting: Setting<'_>,
) -> Option<RuleValue> {
    match rule.kind {
        RuleValueKind::Word(words) => setting.word(reader, &words()).map(RuleValue::Word),
        RuleValueKind::YesNo => setting.yes_no(reader).map(RuleValue::YesNo),
        RuleValueKind::Words(words) => {
            let DeValue::Array(items) = setting.value else {
                setting.error(reader, "a list of strings");
                return None;
            };
            let words = words();
            let all = items.iter().filter_map(|it| setting.with_item(it).word(reader, &words));
            Some(RuleValue::List(all.collect()))
        }
        RuleValueKind::Names => {
            let found = setting.list(reader);
            let second = found.get(1).map(|it| it.1);
            let names = match rule.name {
                "nested" | "sidecar" => below(reader, found),
                "plugin_manifest" => found.into_iter().map(|it| it.0).collect(),
                _ => variables(reader, found),
            };
            if let (Some(at), "sidecar") = (second, rule.name) {
                reader.problem(at, "`sidecar` accepts at most one path".to_owned(), None);
            }
            Some(RuleValue::List(names))
        }
        RuleValueKind::Check => name_check(reader, setting),
        RuleValueKind::Requirements => {
            let found = setting.list(reader);
            for (text, at) in found.iter().filter(|(it, _)| parse_requirement(it).is_none()) {
                let message = format!("`{text}` is not a valid requirement");
                let hint = "Use for example `body`, `text:license` or `map-of-texts:metadata`.";
                reader.problem(*at, message, Some(hint.to_owned()));
            }
            Some(RuleValue::List(found.into_iter().map(|(it, _)| it).collect()))
        }
        // `roots` has its own reader.
        RuleValueKind::Roots => None,
    }
}

fn name_check(reader: &mut ConfigReader<'_>, setting: Setting<'_>) -> Option<RuleValue> {
    let text = setting.string(reader)?;
    if parse_name_check(text).is_some() {
        return Some(RuleValue::Word(text.to_owned()));
    }
    let hint = format!("Use one of `{}`, or for example `at-most-64`.", CHECKS.join("`, `"));
    reader.problem(setting.at, format!("`{}` cannot be `{text}`", setting.key), Some(hint));
    None
}

#[cfg(test)]
mod tests;
