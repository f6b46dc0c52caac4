//! Hooks at work: what a skill registers when it is loaded, and which of it runs at an event.
//!
//! The agent runs hooks; here it is only said which. A matcher is read as Claude Code reads it:
//! nothing and `*` match all, words between `|` match exactly, and anything else is a regular
//! expression that matches anywhere, as JavaScript has them: it may look around itself.

use fancy_regex::{CompileError, Error, ParseError, Regex, RegexBuilder};
use serde_json::Value;

use crate::catalog::hooks::{Matches, find_event, find_kind};

/// A hook that a skill registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The event it is bound to.
    pub event: String,
    /// The matcher as it is written; empty where there is none.
    pub matcher: String,
    /// The handler as it is written.
    pub handler: Value,
    /// Whether it goes once it has succeeded.
    pub once: bool,
}

/// Reads the hooks of a skill from its frontmatter as JSON, in the order of the file. Returns what
/// can run, and why the rest cannot, as sentences.
pub fn registered(hooks: &Value) -> (Vec<Hook>, Vec<String>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let Some(events) = hooks.as_object() else { return (good, bad) };
    for (event, groups) in events {
        if find_event(event).is_none() {
            bad.push(format!("There is no event `{event}`; the hooks below it never run."));
            continue;
        }
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            if let Err(why) = read(matcher) {
                bad.push(format!("The matcher `{matcher}` of `{event}` matches nothing: {why}."));
                continue;
            }
            for handler in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                match missing(handler, event) {
                    Some(what) => bad.push(format!("A hook of `{event}` does not run: {what}.")),
                    None => good.push(Hook {
                        event: event.clone(),
                        matcher: matcher.to_owned(),
                        once: handler.get("once").is_some_and(is_on),
                        handler: handler.clone(),
                    }),
                }
            }
        }
    }
    (good, bad)
}

/// Returns what keeps a handler from running.
fn missing(handler: &Value, event: &str) -> Option<String> {
    let Some(name) = handler.get("type").and_then(Value::as_str) else {
        return Some("it has no `type`".to_owned());
    };
    let Some(kind) = find_kind(name) else { return Some(format!("there is no type `{name}`")) };
    let is_absent = |key: &&str| handler.get(*key).is_none_or(Value::is_null);
    let required = kind.keys.iter().filter(|it| it.required).map(|it| it.name);
    if let Some(key) = required.into_iter().find(|it| is_absent(it)) {
        return Some(format!("a hook of type `{name}` needs `{key}`"));
    }
    let of_tools = find_event(event).is_some_and(|it| it.subject() == Some("tool_name"));
    (handler.get("if").is_some() && !of_tools)
        .then(|| "it has `if`, which only events of tools know".to_owned())
}

fn is_on(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_str() == Some("true"))
}

/// Whether a hook runs at an event. `tool` is the name of the tool that it is about, where the
/// caller names one; else the event's `payload` says what a matcher is compared with.
pub fn runs(hook: &Hook, event: &str, tool: Option<&str>, payload: &Value) -> bool {
    if hook.event != event {
        return false;
    }
    let Some(known) = find_event(event) else { return false };
    if known.matches == Matches::Nothing {
        return true;
    }
    let Ok(matcher) = read(&hook.matcher) else { return false };
    let key = known.subject().unwrap_or_default();
    let named = tool.filter(|_| key == "tool_name" || !payload.is_object());
    let subject = named.or_else(|| payload.get(key).and_then(Value::as_str));
    let subject = match (key, subject) {
        // A file is matched by its name alone.
        ("file_path", Some(path)) => path.rsplit('/').next(),
        (_, subject) => subject,
    };
    match matcher {
        Matcher::All => true,
        Matcher::Words(words) => subject.is_some_and(|it| words.contains(&it)),
        // One that gives up on this subject does not match it.
        Matcher::Pattern(pattern) => {
            subject.is_some_and(|it| pattern.is_match(it).unwrap_or_default())
        }
    }
}

/// A matcher as it is read.
enum Matcher<'a> {
    All,
    Words(Vec<&'a str>),
    Pattern(Box<Regex>),
}

fn read(matcher: &str) -> Result<Matcher<'_>, String> {
    if matcher.is_empty() || matcher == "*" {
        return Ok(Matcher::All);
    }
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '|' | '-');
    if matcher.chars().all(is_word) {
        return Ok(Matcher::Words(matcher.split('|').collect()));
    }
    expression(matcher).map(|it| Matcher::Pattern(Box::new(it)))
}

/// How often an expression may go back on one subject: names of tools are short, and one that
/// needs more is made to hurt.
const BACKTRACKS: usize = 100_000;

/// Reads a regular expression of the agent's. The error says what is wrong with it.
pub(crate) fn expression(pattern: &str) -> Result<Regex, String> {
    let read = RegexBuilder::new(pattern).backtrack_limit(BACKTRACKS).build();
    read.map_err(|error| said(&error, pattern))
}

/// Returns what is wrong with an expression, as the end of a sentence.
pub(crate) fn said(error: &Error, pattern: &str) -> String {
    match error {
        Error::ParseError(at, what) => {
            let nth = pattern.get(..*at).unwrap_or(pattern).chars().count() + 1;
            format!("at character {nth}, {}", fault(what))
        }
        Error::CompileError(what) => match &**what {
            CompileError::InnerError(inner) if inner.size_limit().is_some() => {
                "it is too large".to_owned()
            }
            CompileError::InnerError(inner) => match inner.syntax_error() {
                Some(what) => last_line(&what.to_string()),
                None => inner.to_string(),
            },
            what => begun_small(&what.to_string()),
        },
        other => begun_small(&other.to_string()),
    }
}

fn fault(what: &ParseError) -> String {
    match what {
        ParseError::UnclosedOpenParen => "a group is opened and not closed".to_owned(),
        ParseError::InvalidClass => "a set of characters is not well formed".to_owned(),
        ParseError::GeneralParseError(text) => begun_small(text),
        _ => begun_small(&what.to_string()),
    }
}

/// Returns what a syntax error says beneath the picture of its place.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn begun_small(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(event: &str, matcher: &str) -> Hook {
        let (event, matcher) = (event.to_owned(), matcher.to_owned());
        Hook { event, matcher, handler: json!({}), once: false }
    }

    #[track_caller]
    fn check(matcher: &str, tool: &str, expected: bool) {
        let hook = one("PreToolUse", matcher);
        assert_eq!(runs(&hook, "PreToolUse", Some(tool), &Value::Null), expected, "{matcher}");
        let payload = json!({"tool_name": tool});
        assert_eq!(runs(&hook, "PreToolUse", None, &payload), expected, "{matcher}");
    }

    #[test]
    fn matchers_are_read_as_the_agent_reads_them() {
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
    fn an_expression_made_to_hurt_gives_up_and_does_not_match() {
        check("^(?=(a+)+$)(a|aa)+$", &format!("{}!", "a".repeat(64)), false);
    }

    #[test]
    fn what_is_no_expression_says_why() {
        let why = |pattern: &str| expression(pattern).expect_err("it is none");
        for pattern in ["Bash(", "[z-", "a**b(", "(?<n", "\\"] {
            let why = why(pattern);
            assert!(!why.is_empty() && !why.contains('\n'), "{pattern}: {why}");
        }
        assert_eq!(why("Bash("), "at character 6, a group is opened and not closed");
        assert_eq!(why("(?:\\w{500}){900}"), "it is too large");
    }

    #[test]
    fn each_event_is_matched_by_its_own_member() {
        let runs_at = |event: &str, matcher: &str, payload: &Value| {
            runs(&one(event, matcher), event, None, payload)
        };
        assert!(runs_at("SessionStart", "resume", &json!({"source": "resume"})));
        assert!(!runs_at("SessionStart", "resume", &json!({"source": "startup"})));
        assert!(runs_at("PreCompact", "manual", &json!({"trigger": "manual"})));
        assert!(runs_at("FileChanged", ".envrc|.env", &json!({"file_path": "/w/.env"})));
        assert!(runs_at("Stop", "Bash", &json!({})), "it takes no matcher");
        assert!(!runs_at("Notification", "auth_success", &json!({})), "nothing to compare with");
        assert!(!runs(&one("Stop", ""), "SubagentStop", None, &Value::Null));
        assert!(!runs(&one("Nothing", ""), "Nothing", None, &Value::Null));
    }

    #[test]
    fn what_cannot_run_is_not_registered_and_says_why() {
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
        let (good, bad) = registered(&hooks);
        let shown: Vec<_> =
            good.iter().map(|it| format!("{} {} {}", it.event, it.matcher, it.once)).collect();
        assert_eq!(shown, ["PreToolUse Bash true", "PreToolUse Bash false", "Stop  false"]);
        assert_eq!(bad.len(), 6, "{bad:#?}");
        assert!(bad.iter().any(|it| it.contains("needs `command`")), "{bad:#?}");
        assert!(bad.iter().any(|it| it.contains("no event `Stopp`")), "{bad:#?}");
    }
}
