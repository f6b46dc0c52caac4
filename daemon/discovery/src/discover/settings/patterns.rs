//! `enabled_skills` and `disabled_skills`: patterns of names that enable and disable skills.

use std::sync::Arc;

use skills_syntax::config_tree::{Node, Value};
use skills_syntax::path::AbsPath;

use super::decisions::{OverrideValue, SettingsDecisions, SkillOverride, SkillSelector};
use super::name_pattern::{NamePattern, PatternList, SkillPatterns, compile};
use crate::permission::SourceLocation;

const ENABLED: &str = "enabled_skills";
const DISABLED: &str = "disabled_skills";

/// Maximum patterns in one list; each name is compared with all.
const MAX_PATTERNS: usize = 200;

/// Maximum characters of a pattern in a message.
const MAX_SHOWN: usize = 80;

/// Reads both lists of a file.
pub(super) fn apply(document: &Node, file: &AbsPath, settings: &mut SettingsDecisions) {
    for key in [ENABLED, DISABLED] {
        let Some(node) = document.get(key) else { continue };
        let source = |at| SourceLocation { file: file.clone(), at };
        if !matches!(node.value, Value::List(_)) {
            let message =
                format!("`{key}` is {}, not a list, so the agent does not start", node.kind());
            settings.note(&source(node.at), message, Some("Write it as `[\"…\"]`.".to_owned()));
            continue;
        }
        let items = node.items();
        if items.len() > MAX_PATTERNS {
            let message = format!(
                "`{key}` has {} patterns; those after the first {MAX_PATTERNS} are not read",
                items.len()
            );
            let next = format!("Write at most {MAX_PATTERNS} patterns.");
            settings.note(&source(node.at), message, Some(next));
        }
        let mut patterns = Vec::new();
        for item in items.iter().take(MAX_PATTERNS) {
            let source = source(item.at);
            let Some(text) = item.text() else {
                let message = format!("`{key}` has {}, so the agent does not start", item.kind());
                settings.note(&source, message, Some("Put it into quotes.".to_owned()));
                continue;
            };
            let regex = compile(text.trim());
            let text: String = text.chars().take(MAX_SHOWN).collect();
            let regex = match regex {
                Ok(regex) => regex,
                Err(why) => {
                    let message = format!("`{text}` in `{key}` selects nothing: {why}");
                    let next = "Write a simple expression, or a glob.".to_owned();
                    settings.note(&source, message, Some(next));
                    None
                }
            };
            patterns.push(NamePattern { text: text.into(), source, regex });
        }
        if !patterns.is_empty() {
            let list = PatternList { source: source(node.at), patterns };
            let all = &mut settings.patterns;
            if key == ENABLED { all.enabled.push(list) } else { all.disabled.push(list) }
        }
    }
}

/// Decides with the patterns of all files. An untrusted repository only switches off: its list of
/// enabled skills does not add to the user's, and leaves skills off that the user disables.
pub(super) fn finish(settings: &mut SettingsDecisions) {
    let SkillPatterns { enabled, disabled } = std::mem::take(&mut settings.patterns);
    let counts = |it: &PatternList| settings.may_loosen(&it.source.file);
    let (enabled, stricter): (Vec<_>, Vec<_>) = enabled.into_iter().partition(&counts);
    let has_enabled = !enabled.is_empty();
    let keeps_disabled = |it: &PatternList| !has_enabled && (stricter.is_empty() || counts(it));
    let disabled: Vec<_> = disabled.into_iter().filter(keeps_disabled).collect();
    let only = |lists: Vec<PatternList>| {
        let source = lists.last()?.source.clone();
        let patterns = lists.into_iter().flat_map(|it| it.patterns).collect();
        let which = SkillSelector::NoPattern(Arc::new(patterns));
        Some(SkillOverride { which, to: OverrideValue::Off, source, key: ENABLED })
    };
    let only = if has_enabled { only(enabled) } else { only(stricter) };
    let off = disabled.into_iter().flat_map(|it| it.patterns).map(|pattern| SkillOverride {
        source: pattern.source.clone(),
        which: SkillSelector::Pattern(pattern),
        to: OverrideValue::Off,
        key: DISABLED,
    });
    let all: Vec<_> = off.chain(only).collect();
    settings.switched.extend(all);
}
