//! What is wrong with the settings that a client sends: told once, and the rest of them counts.
//!
//! They are read by [`crate::from_proto`], which leaves out what cannot be read. Whether a profile
//! is known only the source can say, see [`crate::errands`].

use serde_json::{Map, Value};
use skills_discovery::levels::Level;

use crate::tasks::SECTION;

/// Something that is wrong with the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Complaint {
    /// What is asked for is not done.
    Wrong(String),
    /// Nobody knows what is asked for: it may be another program's.
    Unknown(String),
}

/// What may be set, and what clients of ours keep for themselves in the same section.
const KEYS: [&str; 8] =
    ["check", "features", "profiles", "rules", "paths", "inlayHints", "codeLens", "session"];
const CLIENTS: [&str; 3] = ["path", "profile", "trace"];
const CHECK: [&str; 3] = ["profiles", "rules", "paths"];
const FEATURES: [&str; 2] = ["inlayHints", "codeLens"];

/// The words for how much a rule matters.
const LEVELS: &str = "`off`, `hint`, `information`, `warning` or `error`";

/// Returns what is wrong with the settings.
pub(crate) fn complaints(options: &Value) -> Vec<Complaint> {
    let Some(options) = options.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    let known: Vec<&str> = KEYS.into_iter().chain(CLIENTS).collect();
    keys(SECTION, options, &known, &KEYS, &mut found);
    said(SECTION, options, &mut found);
    for (name, known) in [("check", &CHECK[..]), ("features", &FEATURES[..])] {
        let path = format!("{SECTION}.{name}");
        match options.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(inner)) => {
                keys(&path, inner, known, known, &mut found);
                said(&path, inner, &mut found);
            }
            Some(other) => found.push(wrong(&path, other, "an object")),
        }
    }
    found
}

/// Tells of keys that nobody reads.
fn keys(
    path: &str,
    object: &Map<String, Value>,
    known: &[&str],
    told: &[&str],
    found: &mut Vec<Complaint>,
) {
    for key in object.keys().filter(|it| !known.contains(&it.as_str())) {
        let told: Vec<String> = told.iter().map(|it| format!("`{it}`")).collect();
        found.push(Complaint::Unknown(format!(
            "the setting `{path}.{key}` is not known; there are {}",
            told.join(", ")
        )));
    }
}

/// Tells of values that cannot be read, of what is set here by its name.
fn said(path: &str, object: &Map<String, Value>, found: &mut Vec<Complaint>) {
    for (key, value) in object.iter().filter(|(_, it)| !it.is_null()) {
        let path = format!("{path}.{key}");
        match key.as_str() {
            "profiles" if !is_list(value) => {
                found.push(wrong(&path, value, "a list of names of profiles"));
            }
            "rules" => self::rules(&path, value, found),
            "paths" => match value.as_object() {
                Some(globs) => {
                    for (glob, rules) in globs {
                        self::rules(&format!("{path}.{glob}"), rules, found);
                    }
                }
                None => found.push(wrong(&path, value, "an object of rules by glob")),
            },
            "inlayHints" | "codeLens" if !value.is_boolean() => {
                found.push(wrong(&path, value, "`true` or `false`"));
            }
            _ => {}
        }
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|them| them.iter().all(Value::is_string))
}

fn rules(path: &str, value: &Value, found: &mut Vec<Complaint>) {
    let Some(rules) = value.as_object() else {
        found.push(wrong(path, value, "an object of levels by rule"));
        return;
    };
    for (rule, level) in rules {
        if !skills_lint::is_known(rule) {
            found.push(Complaint::Wrong(format!(
                "`{path}` names `{rule}`, which is no rule; possible are a rule such as `name/case`, a family such as `name/*`, and `*`"
            )));
        } else if level.as_str().and_then(Level::read).is_none() {
            found.push(wrong(&format!("{path}.{rule}"), level, LEVELS));
        }
    }
}

/// Returns the complaint about profiles that there are not.
pub(crate) fn no_profile(name: &str, known: &[String]) -> Complaint {
    let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
    Complaint::Wrong(format!(
        "`{SECTION}.check.profiles` names `{name}`, which is no profile; there are {}",
        known.join(", ")
    ))
}

fn wrong(path: &str, value: &Value, possible: &str) -> Complaint {
    Complaint::Wrong(format!("`{path}` is `{value}`, and takes {possible}"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(options: &Value, expected: &Expect) {
        let shown = complaints(options).into_iter().map(|it| match it {
            Complaint::Wrong(text) => format!("wrong: {text}\n"),
            Complaint::Unknown(text) => format!("unknown: {text}\n"),
        });
        expected.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn each_mistake_names_the_setting_the_value_and_what_is_possible() {
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
                unknown: the setting `skillsd.proflies` is not known; there are `check`, `features`, `profiles`, `rules`, `paths`, `inlayHints`, `codeLens`, `session`
                wrong: `skillsd.profiles` is `"codex"`, and takes a list of names of profiles
                wrong: `skillsd.codeLens` is `1`, and takes `true` or `false`
                unknown: the setting `skillsd.check.rule` is not known; there are `profiles`, `rules`, `paths`
                wrong: `skillsd.check.rules` names `nam/case`, which is no rule; possible are a rule such as `name/case`, a family such as `name/*`, and `*`
                wrong: `skillsd.check.rules.name/case` is `"loud"`, and takes `off`, `hint`, `information`, `warning` or `error`
                wrong: `skillsd.check.paths.x/**` is `"off"`, and takes an object of levels by rule
                wrong: `skillsd.features` is `true`, and takes an object
            "#]],
        );
    }
}
