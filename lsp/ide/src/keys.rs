//! Completion of keys: fields, hook events and the keys below them.

use skills_agents::field_table::hooks::{COMMON, EVENTS, GROUP, HookEvent, HookKey, KINDS};
use skills_agents::field_table::{self, Field, FieldStatus, METADATA, OnMissing, Shape};
use skills_syntax::quote::quote_unless_text;

use super::describe;
use crate::suggestion::{Suggestion, SuggestionKind};

/// The syntax in which a key is inserted.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyForm {
    /// True if no colon must be added.
    pub(super) has_colon: bool,
    /// True in a flow mapping, which must stay on one line.
    pub(super) in_flow: bool,
}

/// Returns the keys that may be written below `path`, without those that are `written`.
pub(super) fn keys(
    path: &[&str],
    written: &dyn Fn(&str) -> bool,
    form: KeyForm,
    directory: Option<&str>,
) -> Vec<Suggestion> {
    match path {
        [] => {
            let fields = field_table::fields().iter().copied();
            // `version` is offered below `metadata`, where every agent expects it.
            let is_of_metadata = |it: &Field| METADATA.keys.iter().any(|key| key.name == it.key);
            let is_offered = |it: &&Field| {
                it.standing == FieldStatus::Read && !is_of_metadata(it) && !written(it.key)
            };
            let mut fields: Vec<_> = fields.filter(is_offered).collect();
            // The sort is stable, so the rest keeps the order of the field table.
            fields.sort_by_key(|it| !is_needed(it));
            fields.into_iter().map(|it| field(it, form, directory)).collect()
        }
        ["hooks"] => {
            EVENTS.iter().filter(|it| !written(it.name)).map(|it| event(it, form)).collect()
        }
        ["hooks", _] => {
            GROUP.iter().filter(|it| !written(it.name)).map(|it| nested(it, form)).collect()
        }
        ["hooks", _, "hooks"] => {
            let own = KINDS.iter().flat_map(|it| it.keys.iter());
            let mut known: Vec<&HookKey> =
                COMMON.iter().chain(own).filter(|it| !written(it.name)).collect();
            known.sort_by_key(|it| !it.required);
            let mut items: Vec<Suggestion> = known.into_iter().map(|it| nested(it, form)).collect();
            let mut seen = Vec::new();
            items.retain(|it| {
                let is_new = !seen.contains(&it.label);
                seen.push(it.label.clone());
                is_new
            });
            items
        }
        [key] => {
            let keys = field_table::find(key).map_or(&[][..], |it| it.keys);
            keys.iter()
                .filter(|it| !written(it.name))
                .map(|it| Suggestion {
                    label: it.name.to_owned(),
                    kind: SuggestionKind::Key,
                    detail: it.summary.to_owned(),
                    text: with_colon(it.name, form, " "),
                    snippet: None,
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn is_needed(field: &Field) -> bool {
    field.readers.iter().any(|it| matches!(it.absent, OnMissing::Required | OnMissing::Dropped))
}

fn with_colon(key: &str, form: KeyForm, behind: &str) -> String {
    if form.has_colon { key.to_owned() } else { format!("{key}:{behind}") }
}

fn event(event: &HookEvent, form: KeyForm) -> Suggestion {
    let snippet = || {
        let matcher = escape_snippet(event.matchers.first().copied().unwrap_or(""));
        let name = event.name;
        if form.in_flow {
            return format!(
                "{name}: [{{matcher: \"${{1:{matcher}}}\", hooks: [{{type: command, command: \"$0\"}}]}}]"
            );
        }
        format!(
            "{name}:\n    - matcher: \"${{1:{matcher}}}\"\n      hooks:\n        - type: command\n          command: $0"
        )
    };
    Suggestion {
        label: event.name.to_owned(),
        kind: SuggestionKind::Event,
        detail: event.summary.to_owned(),
        text: with_colon(event.name, form, if form.in_flow { " " } else { "" }),
        snippet: (!form.has_colon).then(snippet),
    }
}

fn field(field: &'static Field, form: KeyForm, directory: Option<&str>) -> Suggestion {
    let value = match field.shape {
        Shape::Switch => match field.default {
            Some("true") => "${1|false,true|}".to_owned(),
            Some(_) | None => "${1|true,false|}".to_owned(),
        },
        Shape::Choice { .. } if !field.values.is_empty() => {
            let names: Vec<_> = field.values.iter().map(|it| it.name).collect();
            format!("${{1|{}|}}", names.join(","))
        }
        _ => match (field.key, directory) {
            ("name", Some(directory)) => {
                format!("${{1:{}}}", escape_snippet(&quote_unless_text(directory)))
            }
            _ => "$1".to_owned(),
        },
    };
    let snippet = match field.shape {
        Shape::TextMap | Shape::Hooks if form.in_flow => format!("{}: {{$1}}", field.key),
        Shape::TextMap | Shape::Hooks => format!("{}:\n  $1", field.key),
        _ => format!("{}: {value}", field.key),
    };
    Suggestion {
        label: field.key.to_owned(),
        kind: SuggestionKind::Field,
        detail: describe::readers(field),
        text: with_colon(field.key, form, " "),
        snippet: (!form.has_colon).then_some(snippet),
    }
}

fn nested(key: &HookKey, form: KeyForm) -> Suggestion {
    Suggestion {
        label: key.name.to_owned(),
        kind: SuggestionKind::Key,
        detail: key.summary.to_owned(),
        text: with_colon(key.name, form, " "),
        snippet: None,
    }
}

/// Escapes a text for use in a snippet.
pub(super) fn escape_snippet(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '$' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
