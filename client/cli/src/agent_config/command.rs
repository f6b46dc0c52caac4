//! Commands in configuration files of agents: whether they start skillsd, and with which program.

use serde_json::Value;

/// Keys of command lines in the hooks of agents.
const COMMANDS: [&str; 3] = ["command", "bash", "powershell"];

/// Returns the command lines in a hook that run `skillsd` with these arguments.
pub(crate) fn own_lines<'v>(hook: &'v Value, arguments: &str) -> Vec<&'v str> {
    let mut lines = Vec::new();
    push_lines(hook, &mut lines);
    lines.retain(|it| starts_skillsd(it, arguments));
    lines
}

fn push_lines<'v>(value: &'v Value, lines: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| push_lines(it, lines)),
        Value::Object(members) => {
            for (key, it) in members {
                match it.as_str().filter(|_| COMMANDS.contains(&&**key)) {
                    Some(line) => lines.push(line),
                    None => push_lines(it, lines),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a command line has the arguments after a program named `skillsd`. Flags and
/// their values may stand between.
fn starts_skillsd(line: &str, arguments: &str) -> bool {
    line.match_indices(arguments).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + arguments.len()..]);
        let is_word = before.ends_with(char::is_whitespace)
            && !after.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c));
        is_word && ends_with_skillsd(before)
    })
}

fn ends_with_skillsd(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().peekable();
    while let Some(word) = words.next() {
        if is_skillsd(word) {
            return true;
        }
        if !word.starts_with('-') && !words.peek().is_some_and(|it| it.starts_with('-')) {
            return false;
        }
    }
    false
}

/// Returns whether a word names the program, in quotes or after an operator too.
fn is_skillsd(word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let word = word.trim_end_matches(|c| !is_name(c));
    word.rsplit(|c| !is_name(c)).next() == Some("skillsd")
}

/// Returns the program and the arguments of an MCP server.
pub(crate) fn server_words(server: &Value) -> Vec<&str> {
    let server = server.get("transport").filter(|it| it.is_object()).unwrap_or(server);
    let mut words = Vec::new();
    for it in [&server["command"], &server["args"]] {
        words.extend(it.as_str());
        words.extend(it.as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    words
}

/// Returns whether an MCP server is that of skillsd.
pub(crate) fn is_own_server(server: &Value) -> bool {
    let words = server_words(server);
    let arguments = words.iter().skip_while(|it| !is_skillsd(it)).skip(1);
    arguments.copied().any(|it| it == "mcp")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn command_line_is_ours_if_its_program_is_named_skillsd() {
        for line in [
            "skillsd hook codex",
            "/opt/skillsd hook codex || true",
            "'/opt/my tools/skillsd' hook codex",
            "\"$HOME/bin/skillsd\" hook codex --profile codex",
            "skillsd --timeout 5 --json hook codex",
            "exec skillsd hook codex",
            "cd /x && A=b skillsd hook codex; true",
            "sh -c 'skillsd hook codex'",
        ] {
            assert!(starts_skillsd(line, "hook codex"), "{line}");
        }
        for line in [
            "~/bin/webhook codex",
            "other hook codex",
            "my-skillsd hook codex",
            "skillsd list; other hook codex",
            "skillsd hook codex-mine",
            "hook codex",
        ] {
            assert!(!starts_skillsd(line, "hook codex"), "{line}");
        }
    }

    #[test]
    fn text_that_is_no_command_is_not_ours() {
        let line = "skillsd hook codex";
        let hook = json!({"description": line, "hooks": [{"command": "fmt"}, {"bash": line}]});
        assert_eq!(own_lines(&hook, "hook codex"), [line]);
        assert!(own_lines(&json!({"description": line}), "hook codex").is_empty());
    }

    #[test]
    fn server_is_ours_if_skillsd_is_run_with_mcp() {
        for server in [
            json!({"command": "/opt/skillsd", "args": ["mcp", "--profile", "codex"]}),
            json!({"command": ["skillsd", "mcp"]}),
            json!({"transport": {"command": "skillsd", "args": ["mcp"]}}),
            json!({"command": "npx", "args": ["-y", "skillsd", "mcp"]}),
        ] {
            assert!(is_own_server(&server), "{server}");
        }
        for server in [
            json!({"command": "npx", "args": ["-y", "someones-skills-mcp"]}),
            json!({"command": "skillsd", "args": ["serve"]}),
            json!({"command": "other", "args": ["mcp"]}),
            json!({"url": "https://example.com/mcp"}),
        ] {
            assert!(!is_own_server(&server), "{server}");
        }
    }
}
