//! `skillsd hook AGENT` on recorded payloads: which touches it reports, what it tells the model,
//! and that it never blocks the agent.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use skills_testkit::{Framing, Home, Wire};

use crate::support::{exe, stderr, stdout};

const AGENTS: [&str; 9] = [
    "claude-code", "codex", "gemini-cli", "opencode", "cline", "copilot-cli", "droid", "kilo",
    "qwen-code",
];
const TREE: &str = include_str!("../../golden/agents/touched.txt");

/// Shell commands, each with the skill that its files activate, or `None` if it only mentions a
/// file.
const COMMANDS: &[(&str, Option<&str>)] = &[
    ("cat docs/shell.md", Some("on-shell")),
    ("cat < docs/shell.md", Some("on-shell")),
    ("sed -n '1,5p' docs/shell.md", Some("on-shell")),
    ("rg -n Old docs/shell.md", Some("on-shell")),
    ("git show HEAD:docs/shell.md", Some("on-shell")),
    ("git diff HEAD -- docs/shell.md", Some("on-shell")),
    ("head -n 3 docs/shell.md", Some("on-shell")),
    ("tail -n+2 \"docs/shell.md\"", Some("on-shell")),
    ("find docs/shell.md -exec cat {} +", Some("on-shell")),
    ("find searched -name '*.md' -exec head -n 1 {} \\;", Some("on-search")),
    ("cat docs/shell.md | grep Old | wc -l", Some("on-shell")),
    ("true && (cd docs; awk '{print $1}' shell.md)", Some("on-shell")),
    ("cat > docs/shell.md <<'END'\nNew\nEND", Some("on-shell")),
    ("bash -c 'wc -l docs/shell.md'", Some("on-shell")),
    ("while read line; do echo $line; done < docs/shell.md", Some("on-shell")),
    ("rg Old searched | head", Some("on-search")),
    ("echo docs/shell.md", None),
    ("git commit -m 'docs/shell.md'", None),
];

/// Lays out the tree of the recordings and returns its worktree.
fn lay_out_tree(home: &Home) -> PathBuf {
    let top = home.worktree("proj", "");
    home.lay_out(TREE);
    let folders = json!({top.to_str().unwrap(): "TRUST_FOLDER"});
    fs::create_dir_all(home.path().join(".gemini")).unwrap();
    fs::write(home.path().join(".gemini/trustedFolders.json"), folders.to_string()).unwrap();
    home.git(&top, &["add", "--all"]);
    home.git(&top, &["commit", "--quiet", "-m", "All"]);
    top
}

/// Returns an agent's recorded hook payloads, with paths moved into `home`.
fn recorded_payloads(agent: &str, home: &Home) -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/agents").join(agent);
    let text = fs::read_to_string(dir.join("hooks.jsonl")).unwrap();
    let text = text.replace("$WORK", home.work().to_str().unwrap());
    text.lines().map(str::to_owned).collect()
}

fn hook(home: &Home, agent: &str, input: &str) -> Output {
    let mut command = home.command(exe());
    command.args(["hook", agent]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The hook may exit without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs a hook that must succeed, and returns its text for the model, which may be empty.
#[track_caller]
pub(crate) fn hook_output(home: &Home, agent: &str, input: &str) -> String {
    let output = hook(home, agent, input);
    assert!(output.status.success(), "{agent}: {input}: {}", output.status);
    assert_eq!(stderr(&output), "", "{agent}: {input}");
    let text = stdout(&output);
    if text.is_empty() {
        return text;
    }
    let answer: Value = serde_json::from_str(&text).unwrap();
    let event: Value = serde_json::from_str(input).unwrap();
    let context = if matches!(agent, "opencode" | "kilo" | "copilot-cli") {
        &answer["additionalContext"]
    } else if agent == "cline" {
        &answer["context"]
    } else {
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], event["hook_event_name"]);
        &output["additionalContext"]
    };
    context.as_str().unwrap().to_owned()
}

fn session(home: &Home) -> Value {
    let mut wire = Wire::connect(&home.socket(), Framing::Header).unwrap();
    wire.call("session/get", &json!({"session": "(session_id)"}))
}

fn is_end(line: &str) -> bool {
    line.contains(r#""hook_event_name":"SessionEnd""#)
}

#[test]
fn tool_touches_activate_skills_and_report_them_once() {
    for agent in AGENTS {
        let home = Home::new();
        let top = lay_out_tree(&home);
        let lines = recorded_payloads(agent, &home);
        let mut n_told = 0;
        for line in lines.iter().filter(|line| !is_end(line)) {
            let text = hook_output(&home, agent, line);
            for name in ["read", "edit", "new", "shell", "sub"] {
                let is_named = line.contains(&format!("{name}.md"));
                let words = format!("(for files like `docs/{name}.md`;");
                assert_eq!(text.contains(&words), is_named, "{agent}: {line}\n{text}");
                n_told += usize::from(is_named);
            }
            if line.contains("searched") {
                assert!(text.contains("- on-search: Lies where is searched."), "{agent}: {text}");
            }
        }
        assert_eq!(n_told, 5, "{agent}");
        for line in lines.iter().filter(|line| !is_end(line)) {
            assert_eq!(
                hook_output(&home, agent, line),
                "",
                "{agent} gets the same output twice: {line}"
            );
        }
        let session = session(&home);
        assert_eq!(session["activated"].as_array().unwrap().len(), 5, "{agent}: {session:#}");
        assert_eq!(session["discovered"], json!([top.join("searched/.claude/skills")]));
        assert_eq!(session["profile"], agent);

        for line in lines.iter().filter(|line| is_end(line)) {
            assert_eq!(hook_output(&home, agent, line), "");
            let mut wire = Wire::connect(&home.socket(), Framing::Header).unwrap();
            assert_eq!(wire.call("session/list", &json!({}))["sessions"], json!([]));
        }
    }
}

#[test]
fn files_read_by_shell_commands_activate_skills() {
    for agent in AGENTS {
        let home = Home::new();
        lay_out_tree(&home);
        let lines = recorded_payloads(agent, &home);
        // The recorded payload of a shell command, with the command replaced.
        let line = lines.iter().find(|it| it.contains("shell.md")).unwrap();
        for (nth, (command, skill)) in COMMANDS.iter().enumerate() {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if agent == "cline" {
                event["sessionContext"]["rootSessionId"] = json!(format!("s{nth}"));
                event["tool_result"]["input"]["commands"] = json!([command]);
            } else {
                event["session_id"] = json!(format!("s{nth}"));
                *event["tool_input"].get_mut("command").unwrap() = json!(command);
            }
            let text = hook_output(&home, agent, &event.to_string());
            for name in ["on-shell", "on-search"] {
                let is_told = text.contains(&format!("- {name}:"));
                assert_eq!(is_told, *skill == Some(name), "{agent}: {command}: {text}");
            }
        }
    }
}

#[test]
fn applicable_skills_are_reported_again_after_compaction() {
    let home = Home::new();
    let top = lay_out_tree(&home);
    for line in recorded_payloads("claude-code", &home).iter().filter(|line| !is_end(line)) {
        hook_output(&home, "claude-code", line);
    }
    let again = json!({"session_id": "(session_id)", "cwd": top, "source": "compact",
        "hook_event_name": "SessionStart"});
    let text = hook_output(&home, "claude-code", &again.to_string());
    assert!(text.contains("/proj/.claude/skills/on-read/SKILL.md (for files like"), "{text}");
    // This event takes no output, and a new session has nothing to repeat.
    let before = json!({"session_id": "new", "cwd": top, "trigger": "auto",
        "hook_event_name": "PostCompact"});
    assert_eq!(hook_output(&home, "codex", &before.to_string()), "");
}

#[test]
fn hook_session_keeps_its_first_directory() {
    let home = Home::new();
    let top = lay_out_tree(&home);
    let event = |command: &str| {
        json!({"session_id": "s", "cwd": top.join("searched"), "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_input": {"command": command}})
    };
    let start = json!({"session_id": "s", "cwd": top, "hook_event_name": "SessionStart",
        "source": "startup"});
    assert_eq!(hook_output(&home, "claude-code", &start.to_string()), "");
    // The agent has changed its directory since; its commands run there.
    let text = hook_output(&home, "claude-code", &event("cat a.md ../docs/read.md").to_string());
    assert!(text.contains("- on-search:") && text.contains("- on-read:"), "{text}");
}

/// Asserts that a failing hook does not block the agent: exit code 0, no output for the model, and
/// a message on standard error.
#[track_caller]
fn assert_hook_is_harmless(home: &Home, agent: &str, input: &str, complaint: &str) {
    let output = hook(home, agent, input);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "{input}");
    assert!(stderr(&output).contains(complaint), "{input}: {}", stderr(&output));
}

#[test]
fn failing_hook_never_blocks_the_agent() {
    let home = Home::new();
    let top = lay_out_tree(&home);
    assert_hook_is_harmless(&home, "claude-code", "", "is not hook input of claude-code");
    assert_hook_is_harmless(&home, "codex", "{\"session_id\":", "is not hook input of codex");
    assert_hook_is_harmless(&home, "codex", "[1, 2]", "is not hook input of codex");
    assert_hook_is_harmless(
        &home,
        "agent-x",
        "{}",
        "Use one of: claude-code, codex, gemini-cli, opencode, copilot-cli, droid, cline, kilo, qwen-code.",
    );
    // An unhandled event causes no message.
    assert_hook_is_harmless(&home, "codex", r#"{"hook_event_name":"Stop"}"#, "");
    let read = json!({"session_id": "s", "cwd": top, "hook_event_name": "PostToolUse",
        "tool_name": "Read", "tool_input": {"file_path": "docs/read.md"}});
    let with = |key: &str, value: Value| {
        let mut event = read.clone();
        event[key] = value;
        event.to_string()
    };
    assert_hook_is_harmless(
        &home,
        "claude-code",
        &with("session_id", Value::Null),
        "has no `session_id`",
    );
    assert_hook_is_harmless(&home, "claude-code", &with("cwd", Value::Null), "has no `cwd`");
    assert_hook_is_harmless(
        &home,
        "claude-code",
        &with("cwd", json!("/not/there")),
        "is not a usable directory",
    );
    for input in [json!(null), json!([]), json!({"file_path": 3}), json!({"file_path": "a\u{0}b"})]
    {
        assert_hook_is_harmless(&home, "claude-code", &with("tool_input", input), "");
    }
    assert!(!home.socket().exists(), "none of these calls the daemon");
}

#[test]
fn hook_does_not_wait_for_a_silent_daemon() {
    let home = Home::new();
    let top = lay_out_tree(&home);
    let dir = home.runtime_dir().join("skillsd");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    // Accepts connections through the backlog and never answers.
    let _listening = UnixListener::bind(home.socket()).unwrap();
    let read = json!({"session_id": "s", "cwd": top, "hook_event_name": "PostToolUse",
        "tool_name": "Read", "tool_input": {"file_path": "docs/read.md"}});
    assert_hook_is_harmless(&home, "claude-code", &read.to_string(), "");
}
