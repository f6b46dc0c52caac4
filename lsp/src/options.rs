//! Validates the settings that a client sends.
//!
//! [`crate::from_proto`] reads the settings and ignores invalid ones; this module reports each of
//! them to the user. Unknown profile names are found by [`crate::tasks`], because only the backend
//! knows all profiles.

use serde_json::{Map, Value};
use skills_discovery::levels::Level;

/// The section of the client's settings that belongs to skillsd.
pub(crate) const SECTION: &str = "skillsd";

/// A problem in the client's settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SettingsProblem {
    /// A known setting has an invalid value.
    Invalid(String),
    /// The setting is unknown; it may belong to another program.
    Unknown(String),
}

/// The settings of the server, and those that skillsd's editor plugins keep in the same section.
const SERVER_KEYS: [&str; 8] =
    ["check", "features", "profiles", "rules", "paths", "inlayHints", "codeLens", "session"];
const PLUGIN_KEYS: [&str; 3] = ["path", "profile", "trace"];
const CHECK_KEYS: [&str; 3] = ["profiles", "rules", "paths"];
const FEATURE_KEYS: [&str; 2] = ["inlayHints", "codeLens"];

/// The severity levels of a rule, for messages.
const LEVELS: &str = "`off`, `hint`, `information`, `warning` or `error`";

/// Returns the problems in the client's settings.
pub(crate) fn problems(options: &Value) -> Vec<SettingsProblem> {
    let Some(options) = options.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    let allowed: Vec<&str> = SERVER_KEYS.into_iter().chain(PLUGIN_KEYS).collect();
    check_keys(SECTION, options, &allowed, &SERVER_KEYS, &mut found);
    check_values(SECTION, options, &mut found);
    for (name, allowed) in [("check", &CHECK_KEYS[..]), ("features", &FEATURE_KEYS[..])] {
        let path = format!("{SECTION}.{name}");
        match options.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(inner)) => {
                check_keys(&path, inner, allowed, allowed, &mut found);
                check_values(&path, inner, &mut found);
            }
            Some(other) => found.push(invalid(&path, other, "an object")),
        }
    }
    found
}

/// Reports unknown keys.
fn check_keys(
    path: &str,
    object: &Map<String, Value>,
    allowed: &[&str],
    suggested: &[&str],
    found: &mut Vec<SettingsProblem>,
) {
    for key in object.keys().filter(|it| !allowed.contains(&it.as_str())) {
        let suggested: Vec<String> = suggested.iter().map(|it| format!("`{it}`")).collect();
        found.push(SettingsProblem::Unknown(format!(
            "`{path}.{key}` is not a setting of skillsd; use one of {}",
            suggested.join(", ")
        )));
    }
}

/// Reports invalid values of known settings.
fn check_values(path: &str, object: &Map<String, Value>, found: &mut Vec<SettingsProblem>) {
    for (key, value) in object.iter().filter(|(_, it)| !it.is_null()) {
        let path = format!("{path}.{key}");
        match key.as_str() {
            "profiles" if !is_list(value) => {
                found.push(invalid(&path, value, "a list of profile names"));
            }
            "rules" => check_rules(&path, value, found),
            "paths" => match value.as_object() {
                Some(globs) => {
                    for (glob, rules) in globs {
                        check_rules(&format!("{path}.{glob}"), rules, found);
                    }
                }
                None => found.push(invalid(&path, value, "an object with globs as keys")),
            },
            "inlayHints" | "codeLens" if !value.is_boolean() => {
                found.push(invalid(&path, value, "`true` or `false`"));
            }
            _ => {}
        }
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|them| them.iter().all(Value::is_string))
}

fn check_rules(path: &str, value: &Value, found: &mut Vec<SettingsProblem>) {
    let Some(rules) = value.as_object() else {
        found.push(invalid(path, value, "an object with rules as keys"));
        return;
    };
    for (rule, level) in rules {
        if !skills_lint::is_known(rule) {
            found.push(SettingsProblem::Invalid(format!(
                "`{path}` contains the unknown rule `{rule}`; use a rule such as `name/case`, a family such as `name/*`, or `*`"
            )));
        } else if level.as_str().and_then(Level::read).is_none() {
            found.push(invalid(&format!("{path}.{rule}"), level, LEVELS));
        }
    }
}

/// Returns the problem for a profile name that does not exist.
pub(crate) fn unknown_profile(name: &str, allowed: &[String]) -> SettingsProblem {
    let allowed: Vec<String> = allowed.iter().map(|it| format!("`{it}`")).collect();
    SettingsProblem::Invalid(format!(
        "`{SECTION}.check.profiles` contains the unknown profile `{name}`; use one of {}",
        allowed.join(", ")
    ))
}

fn invalid(path: &str, value: &Value, possible: &str) -> SettingsProblem {
    SettingsProblem::Invalid(format!("`{path}` is `{value}`; set it to {possible}"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(options: &Value, expected: &Expect) {
        let shown = problems(options).into_iter().map(|it| match it {
            SettingsProblem::Invalid(text) => format!("wrong: {text}\n"),
            SettingsProblem::Unknown(text) => format!("unknown: {text}\n"),
        });
        expected.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn problem_names_setting_value_and_valid_values() {
        check(
            &json!({"profile": "codex", "trace": {"server": "off"}, "inlayHints": true, "rules": null,
                "check": {"profiles": ["codex"], "rules": {"name/*": "off"}}}),
            &expect![[""]],
        );
        check(
            &json!({"proflies": ["codex"], "profiles": "codex", "codeLens": 1, "features": true,
                "check": {"rule": {}, "rules": {"nam/case": "off", "name/case": "loud"},
                    "paths": {"x/**": "off"}}}),
            &expect![[r#"
                unknown: `skillsd.proflies` is not a setting of skillsd; use one of `check`, `features`, `profiles`, `rules`, `paths`, `inlayHints`, `codeLens`, `session`
                wrong: `skillsd.profiles` is `"codex"`; set it to a list of profile names
                wrong: `skillsd.codeLens` is `1`; set it to `true` or `false`
                unknown: `skillsd.check.rule` is not a setting of skillsd; use one of `profiles`, `rules`, `paths`
                wrong: `skillsd.check.rules` contains the unknown rule `nam/case`; use a rule such as `name/case`, a family such as `name/*`, or `*`
                wrong: `skillsd.check.rules.name/case` is `"loud"`; set it to `off`, `hint`, `information`, `warning` or `error`
                wrong: `skillsd.check.paths.x/**` is `"off"`; set it to an object with rules as keys
                wrong: `skillsd.features` is `true`; set it to an object
            "#]],
        );
    }
}
