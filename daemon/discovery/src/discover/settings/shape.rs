//! Values for which Claude Code ignores a whole settings file. Measured: 2.1.332, in the files of
//! the user, the project and the local ones; managed files are read value by value.

use skills_syntax::config_tree::{Node, Value};
use skills_syntax::path::AbsPath;

use super::decisions::SettingsDecisions;
use crate::discover::owner::Owner;
use crate::permission::{Action, SourceLocation};

/// The form that the agent demands of a value.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    /// A whole number, at least this.
    Count(u32),
    /// A number above 0, at most 1.
    Fraction,
    Map,
    List,
    Texts,
    OneOf(&'static [&'static str]),
    /// A map whose values are flags or lists.
    Switches,
    /// A map with a text `command` and the `type` `command`.
    Command,
}

const MODES: &[&str] = &[
    "acceptEdits", "auto", "bypassPermissions", "default", "delegate", "dontAsk", "manual", "plan",
];

const KEYS: &[(&[&str], Shape)] = &[
    (&["$schema"], Shape::Text),
    (&["alwaysThinkingEnabled"], Shape::Flag),
    (&["apiKeyHelper"], Shape::Text),
    (&["attribution"], Shape::Map),
    (&["awsAuthRefresh"], Shape::Text),
    (&["cleanupPeriodDays"], Shape::Count(0)),
    (&["companyAnnouncements"], Shape::List),
    (&["disableAllHooks"], Shape::Flag),
    (&["disableBundledSkills"], Shape::Flag),
    (&["enableAllProjectMcpServers"], Shape::Flag),
    (&["enabledPlugins"], Shape::Switches),
    (&["env"], Shape::Map),
    (&["includeCoAuthoredBy"], Shape::Flag),
    (&["language"], Shape::Text),
    (&["model"], Shape::Text),
    (&["outputStyle"], Shape::Text),
    (&["permissions"], Shape::Map),
    (&["permissions", "additionalDirectories"], Shape::Texts),
    (&["permissions", "allow"], Shape::List),
    (&["permissions", "ask"], Shape::List),
    (&["permissions", "defaultMode"], Shape::OneOf(MODES)),
    (&["permissions", "deny"], Shape::List),
    (&["pluginConfigs"], Shape::Map),
    (&["sandbox"], Shape::Map),
    (&["skillListingBudgetFraction"], Shape::Fraction),
    (&["skillListingMaxDescChars"], Shape::Count(1)),
    (&["spinnerTipsEnabled"], Shape::Flag),
    (&["statusLine"], Shape::Command),
];

/// Returns whether the agent reads a file; notes the first value of a wrong form.
pub(super) fn is_accepted(
    document: &Node,
    file: &AbsPath,
    settings: &mut SettingsDecisions,
) -> bool {
    if settings.owner_of(file) == Owner::Managed {
        return true;
    }
    let wrong = KEYS.iter().find_map(|(keys, shape)| {
        let node = document.at_path(keys)?;
        (!shape.accepts(node)).then_some((keys, shape, node.at))
    });
    let Some((keys, shape, at)) = wrong else { return true };
    let message = format!(
        "`{}` must be {}, so the agent ignores this file",
        keys.join("."),
        shape.expected()
    );
    let next = "Correct the value, or remove the key.".to_owned();
    settings.note(&SourceLocation { file: file.clone(), at }, message, Some(next));
    false
}

/// Removes the rules that allow of a file that the agent ignores; those that deny or ask stay.
pub(super) fn drop_allowing(file: &AbsPath, settings: &mut SettingsDecisions) {
    settings.rules.retain(|it| it.action != Action::Allow || it.source.file != *file);
}

impl Shape {
    fn accepts(self, node: &Node) -> bool {
        let number = || match &node.value {
            Value::Other(number) => number.parse::<f64>().ok(),
            _ => None,
        };
        match self {
            Self::Text => node.text().is_some(),
            Self::Flag => node.flag().is_some(),
            Self::Count(min) => number().is_some_and(|it| it >= min.into() && it.fract() == 0.0),
            Self::Fraction => number().is_some_and(|it| it > 0.0 && it <= 1.0),
            Self::Map => matches!(node.value, Value::Map(_)),
            Self::List => matches!(node.value, Value::List(_)),
            Self::Texts => {
                Self::List.accepts(node) && node.items().iter().all(|it| it.text().is_some())
            }
            Self::OneOf(words) => node.text().is_some_and(|it| words.contains(&it)),
            Self::Switches => match &node.value {
                Value::Map(entries) => entries.iter().all(|it| {
                    it.node.flag().is_some()
                        || matches!(it.node.value, Value::List(_) | Value::Map(_))
                }),
                _ => false,
            },
            Self::Command => {
                let text = |key| node.get(key).and_then(Node::text);
                text("type") == Some("command") && text("command").is_some()
            }
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Flag => "`true` or `false`",
            Self::Count(_) => "a whole number",
            Self::Fraction => "a number above 0, at most 1",
            Self::Map => "a map",
            Self::List => "a list",
            Self::Texts => "a list of strings",
            Self::OneOf(_) => "a mode of the agent",
            Self::Switches => "a map of `true` and `false`",
            Self::Command => "a map with a `command` and the `type` `command`",
        }
    }
}
