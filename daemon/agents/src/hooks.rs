//! Reads the hooks that a skill registers, and selects those that an event triggers.
//!
//! The agent runs hooks; this module only selects them. Matchers follow Claude Code: an empty
//! matcher and `*` match everything, words between `|` or commas match exactly, and any other
//! matcher is an unanchored JavaScript regular expression, with lookaround.

mod matcher;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field_table::hooks::{MatcherSubject, find_event, find_kind};
use crate::hooks::matcher::Matcher;

pub use matcher::{
    CompiledMatcher, MAX_EXPRESSIONS, MAX_MATCHER_BYTES, MatcherError, is_expression,
};
pub use matcher::{check as check_expression, describe_regex_error, matches_any, words};

/// A hook that a skill registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub event: String,
    /// The matcher as written; empty if missing.
    pub matcher: String,
    /// The matcher's expression, compiled at its first use.
    pub compiled: CompiledMatcher,
    /// The handler as written.
    pub handler: Value,
    /// True if the hook is removed after it succeeds once.
    pub once: bool,
}

/// Reads a skill's hooks from its frontmatter as JSON, in file order. Returns the hooks that can
/// run, and a sentence for each one that cannot.
pub fn read_hooks(hooks: &Value) -> (Vec<Hook>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let Some(events) = hooks.as_object() else { return (good, bad) };
    let mut expressions = BTreeSet::new();
    for (event, groups) in events {
        if find_event(event).is_none() {
            bad.push(format!("The event `{event}` is unknown; its hooks never run."));
            continue;
        }
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            let compiled = check_limits(matcher, &mut expressions)
                .and_then(|()| CompiledMatcher::new(matcher));
            let compiled = match compiled {
                Ok(compiled) => compiled,
                Err(why) => {
                    let matcher = shorten_matcher(matcher);
                    bad.push(match why {
                        MatcherError::Invalid(why) => {
                            format!("The matcher `{matcher}` of `{event}` matches nothing: {why}.")
                        }
                        MatcherError::TooLarge(why) => format!(
                            "skillsd does not run hooks of the matcher `{matcher}` of `{event}`: {why}."
                        ),
                    });
                    continue;
                }
            };
            for handler in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                match handler_fault(handler, event) {
                    Some(what) => bad.push(format!("A hook of `{event}` does not run: {what}.")),
                    None => good.push(Hook {
                        event: event.clone(),
                        matcher: matcher.to_owned(),
                        compiled: compiled.clone(),
                        once: handler.get("once").is_some_and(is_on),
                        handler: handler.clone(),
                    }),
                }
            }
        }
    }
    (good, bad)
}

/// Checks a matcher against its own limits and against the number of expressions in the same skill.
pub fn check_limits<'a>(
    matcher: &'a str,
    expressions: &mut BTreeSet<&'a str>,
) -> Result<(), MatcherError> {
    if !is_expression(matcher) || expressions.contains(matcher) {
        return Ok(());
    }
    if expressions.len() == MAX_EXPRESSIONS {
        let many = format!(
            "the skill has more than {MAX_EXPRESSIONS} matchers that are regular expressions"
        );
        return Err(MatcherError::TooLarge(many));
    }
    expressions.insert(matcher);
    check_expression(matcher)
}

/// Truncates a matcher for a message.
pub fn shorten_matcher(matcher: &str) -> String {
    const LONGEST: usize = 64;
    match matcher.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &matcher[..at]),
        None => matcher.to_owned(),
    }
}

/// Returns the reason why a handler cannot run, if any.
fn handler_fault(handler: &Value, event: &str) -> Option<String> {
    let Some(name) = handler.get("type").and_then(Value::as_str) else {
        return Some("it has no `type`".to_owned());
    };
    let Some(kind) = find_kind(name) else { return Some(format!("the type `{name}` is unknown")) };
    let is_absent = |key: &&str| handler.get(*key).is_none_or(Value::is_null);
    let required = kind.keys.iter().filter(|it| it.required).map(|it| it.name);
    if let Some(key) = required.into_iter().find(|it| is_absent(it)) {
        return Some(format!("a hook of type `{name}` needs `{key}`"));
    }
    let of_tools = find_event(event).is_some_and(|it| it.subject() == Some("tool_name"));
    (handler.get("if").is_some() && !of_tools)
        .then(|| "`if` is valid only for tool events".to_owned())
}

fn is_on(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_str() == Some("true"))
}

/// Returns whether an event triggers a hook. `tool` is the tool's name if the caller gives one;
/// otherwise the matcher is compared with a member of `payload`.
pub fn is_triggered(hook: &Hook, event: &str, tool: Option<&str>, payload: &Value) -> bool {
    if hook.event != event {
        return false;
    }
    let Some(known) = find_event(event) else { return false };
    if known.matches == MatcherSubject::Nothing {
        return true;
    }
    let key = known.subject().unwrap_or_default();
    let named = tool.filter(|_| key == "tool_name" || !payload.is_object());
    let subject = named.or_else(|| payload.get(key).and_then(Value::as_str));
    let subject = match (key, subject) {
        // Files match by name only.
        ("file_path", Some(path)) => path.rsplit('/').next(),
        (_, subject) => subject,
    };
    Matcher::read(&hook.matcher).matches(&hook.matcher, &hook.compiled, subject)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(event: &str, matcher: &str) -> Hook {
        let (event, matcher) = (event.to_owned(), matcher.to_owned());
        Hook {
            event,
            matcher,
            compiled: CompiledMatcher::default(),
            handler: json!({}),
            once: false,
        }
    }

    #[track_caller]
    fn check(matcher: &str, tool: &str, expected: bool) {
        let hook = one("PreToolUse", matcher);
        assert_eq!(
            is_triggered(&hook, "PreToolUse", Some(tool), &Value::Null),
            expected,
            "{matcher}"
        );
        let payload = json!({"tool_name": tool});
        assert_eq!(is_triggered(&hook, "PreToolUse", None, &payload), expected, "{matcher}");
    }

    #[test]
    fn matchers_follow_claude_code() {
        check("", "Bash", true);
        check("*", "Bash", true);
        check("Bash", "Bash", true);
        check("Bash", "BashOutput", false);
        check("bash", "Bash", false);
        check("Edit|Write", "Write", true);
        check("Edit|Write", "MultiEdit", false);
        check("mcp__.*", "mcp__notes__add", true);
        check("^Notebook", "NotebookEdit", true);
        check("Edit.*", "MultiEdit", true);
        check("Bash(", "Bash", false);
        check("^(?!Bash)", "Read", true);
        check("^(?!Bash)", "BashOutput", false);
        check("(?<=mcp__)notes", "mcp__notes__add", true);
        check("(?<=mcp__)notes", "notes", false);
        check("^(?<server>mcp__\\w+?)__.*(?=_all$)", "mcp__notes__drop_all", true);
        check("(.)\\1", "Bass", true);
        check("(.)\\1", "Bash", false);
        check("a\\/b|c\\-d", "a/b", true);
    }

    #[test]
    fn catastrophic_expression_stops_and_does_not_match() {
        check("^(?=(a+)+$)(a|aa)+$", &format!("{}!", "a".repeat(64)), false);
    }

    #[test]
    fn matcher_is_compared_with_the_events_payload_member() {
        let runs_at = |event: &str, matcher: &str, payload: &Value| {
            is_triggered(&one(event, matcher), event, None, payload)
        };
        assert!(runs_at("SessionStart", "resume", &json!({"source": "resume"})));
        assert!(!runs_at("SessionStart", "resume", &json!({"source": "startup"})));
        assert!(runs_at("PreCompact", "manual", &json!({"trigger": "manual"})));
        assert!(runs_at("FileChanged", ".envrc|.env", &json!({"file_path": "/w/.env"})));
        assert!(runs_at("Stop", "Bash", &json!({})), "it takes no matcher");
        assert!(!runs_at("Notification", "auth_success", &json!({})), "nothing to compare with");
        assert!(!is_triggered(&one("Stop", ""), "SubagentStop", None, &Value::Null));
        assert!(!is_triggered(&one("Nothing", ""), "Nothing", None, &Value::Null));
    }

    #[test]
    fn invalid_hooks_are_rejected_with_reasons() {
        let hooks = json!({
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [
                    {"type": "command", "command": "./a", "once": true},
                    {"type": "command"},
                    {"type": "comand", "command": "./b"},
                    {"command": "./c"},
                    {"type": "command", "command": "./d", "if": "Bash(git *)"},
                ]},
                {"matcher": "Bash(", "hooks": [{"type": "command", "command": "./e"}]},
            ],
            "Stop": [{"hooks": [
                {"type": "prompt", "prompt": "Done?"},
                {"type": "command", "command": "./f", "if": "Bash(git *)"},
            ]}],
            "Stopp": [{"hooks": [{"type": "command", "command": "./g"}]}],
        });
        let (good, bad) = read_hooks(&hooks);
        let shown: Vec<_> =
            good.iter().map(|it| format!("{} {} {}", it.event, it.matcher, it.once)).collect();
        assert_eq!(shown, ["PreToolUse Bash true", "PreToolUse Bash false", "Stop  false"]);
        assert_eq!(bad.len(), 6, "{bad:#?}");
        assert!(bad.iter().any(|it| it.contains("needs `command`")), "{bad:#?}");
        assert!(bad.iter().any(|it| it.contains("event `Stopp` is unknown")), "{bad:#?}");
    }
}
