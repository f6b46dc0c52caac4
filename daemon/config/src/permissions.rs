//! Reader of the table `permission.skill`: actions by pattern of skill names.

use skills_discovery::permission::{Action, SkillRule};
use skills_syntax::text::LineColumn;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{ConfigKey, ConfigSource};
use super::reader::ConfigReader;
use super::value::{ValueError, nearest, type_name};

/// Actions of `permission.skill`, the strictest first.
pub const ACTIONS: [Action; 3] = [Action::Deny, Action::Ask, Action::Allow];

/// Reads the rules in text order. Mistakes are returned with their offsets; the other rules still
/// apply.
pub(super) fn read(
    reader: &ConfigReader<'_>,
    row: &ConfigKey,
    table: &DeTable<'_>,
) -> (Vec<SkillRule>, Vec<(usize, ValueError)>) {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (key, value) in entries {
        match action(reader.source(), row, key.get_ref(), value) {
            Ok(action) => {
                let (line, column) = reader.place(key.span().start);
                let pattern = key.get_ref().to_string();
                rules.push(SkillRule { pattern, action, at: LineColumn { line, column } });
            }
            Err(error) => errors.push((value.span().start, error)),
        }
    }
    (rules, errors)
}

/// Returns the offset of the first value that is no action.
pub(super) fn unknown_action(table: &DeTable<'_>) -> Option<usize> {
    let is_action = |it: &DeValue<'_>| it.as_str().is_some_and(|it| Action::parse(it).is_some());
    let unknown = table.values().filter(|it| !is_action(it.get_ref()));
    unknown.map(|it| it.span().start).min()
}

fn action(
    source: ConfigSource,
    row: &ConfigKey,
    pattern: &str,
    value: &Spanned<DeValue<'_>>,
) -> Result<Action, ValueError> {
    let words = ACTIONS.map(Action::name);
    let DeValue::String(word) = value.get_ref() else {
        let message = format!("has {} for `{pattern}`", type_name(value.get_ref()));
        let hint = format!("Write `\"{pattern}\" = \"deny\"` below `[{}]`.", row.name);
        return Err(ValueError { message, hint: Some(hint) });
    };
    match Action::parse(word) {
        Some(Action::Allow) if source == ConfigSource::Repository => Err(ValueError {
            message: format!("cannot allow `{pattern}`: a repository can only ask or deny"),
            hint: Some("Set it in your own `config.toml`.".to_owned()),
        }),
        Some(action) => Ok(action),
        None => {
            let near = nearest(word, &words).map(|it| format!("Did you mean `{it}`?"));
            let hint = near.unwrap_or_else(|| "Use `deny`, `ask` or `allow`.".to_owned());
            Err(ValueError {
                message: format!("has the unknown action `{word}` for `{pattern}`"),
                hint: Some(hint),
            })
        }
    }
}
