//! Our hooks in real agents: the daemon's session records the touches, and the model learns of the
//! skills.
//!
//! Each tool touches a file that activates one skill, so that a skill identifies a tool. The
//! payloads are compared with `tests/golden/agents/AGENT/hooks.jsonl`, which the end-to-end tests
//! feed to `skillsd hook` where no agent is installed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use skills_testkit::{Framing, Turn, Wire};

use crate::agent_fixture::{Agent, AgentFixture};
use crate::catalogs::check;

const TREE: &str = include_str!("../../golden/agents/touched.txt");

/// A turn, and the files or directory whose skills it activates.
type Step = (Turn, &'static str);

fn opencode(work: &str) -> Vec<Step> {
    let at = |path: &str| format!("{work}/{path}");
    vec![
        (Turn::call("read", json!({"filePath": at("docs/read.md")})), "docs/read.md"),
        (
            Turn::call(
                "edit",
                json!({"filePath": at("docs/edit.md"), "oldString": "Old", "newString": "New"}),
            ),
            "docs/edit.md",
        ),
        (
            Turn::call("write", json!({"filePath": at("docs/new.md"), "content": "x"})),
            "docs/new.md",
        ),
        (Turn::call("grep", json!({"pattern": "Old", "path": "searched"})), "searched"),
        (
            Turn::call(
                "bash",
                json!({"command": "cd docs && cat shell.md", "description": "Reads"}),
            ),
            "docs/shell.md",
        ),
        (
            Turn::call(
                "task",
                json!({"description": "Reads", "prompt": "Read.", "subagent_type": "general"}),
            ),
            "",
        ),
        // The sub-agent's turns.
        (Turn::call("read", json!({"filePath": at("docs/sub.md")})), "docs/sub.md"),
        (Turn::say("Read."), ""),
    ]
}

fn codex(_: &str) -> Vec<Step> {
    let patch = "*** Begin Patch\n*** Update File: docs/edit.md\n@@\n-Old\n+New\n\
                 *** Add File: docs/new.md\n+x\n*** End Patch";
    vec![
        (Turn::call("exec_command", json!({"cmd": "sed -n 1,5p docs/read.md"})), "docs/read.md"),
        (Turn::write("apply_patch", patch), "docs/edit.md docs/new.md"),
        (Turn::call("exec_command", json!({"cmd": "rg -n Old searched"})), "searched"),
        (Turn::call("exec_command", json!({"cmd": "cd docs && cat shell.md"})), "docs/shell.md"),
        // Codex treats this command as a patch, and sends the patch as the hook's command.
        (
            Turn::call(
                "exec_command",
                json!({"cmd": "apply_patch <<'E'\n*** Begin Patch\n*** Update File: docs/sub.md\n@@\n-Old\n+New\n*** End Patch\nE"}),
            ),
            "docs/sub.md",
        ),
    ]
}

fn gemini(_: &str) -> Vec<Step> {
    vec![
        (Turn::call("read_file", json!({"file_path": "docs/read.md"})), "docs/read.md"),
        (
            Turn::call(
                "replace",
                json!({"file_path": "docs/edit.md", "instruction": "Renew.", "old_string": "Old", "new_string": "New"}),
            ),
            "docs/edit.md",
        ),
        (
            Turn::call("write_file", json!({"file_path": "docs/new.md", "content": "x"})),
            "docs/new.md",
        ),
        (Turn::call("grep_search", json!({"pattern": "Old", "dir_path": "searched"})), "searched"),
        (
            Turn::call(
                "run_shell_command",
                json!({"command": "cd docs && cat shell.md", "description": "Reads"}),
            ),
            "docs/shell.md",
        ),
        (Turn::call("read_file", json!({"file_path": "docs/sub.md"})), "docs/sub.md"),
    ]
}

fn copilot(work: &str) -> Vec<Step> {
    let at = |path: &str| format!("{work}/{path}");
    vec![
        (Turn::call("view", json!({"path": at("docs/read.md")})), "docs/read.md"),
        (
            Turn::call(
                "edit",
                json!({"path": at("docs/edit.md"), "old_str": "Old", "new_str": "New"}),
            ),
            "docs/edit.md",
        ),
        (Turn::call("create", json!({"path": at("docs/new.md"), "file_text": "x"})), "docs/new.md"),
        (Turn::call("grep", json!({"pattern": "Old", "paths": "searched"})), "searched"),
        (
            Turn::call(
                "bash",
                json!({"command": "cd docs && cat shell.md", "description": "Reads"}),
            ),
            "docs/shell.md",
        ),
        (
            Turn::call(
                "task",
                json!({"name": "reader", "description": "Reads", "prompt": "Read.",
                    "agent_type": "task", "mode": "sync"}),
            ),
            "",
        ),
        // The sub-agent's turns.
        (Turn::call("view", json!({"path": at("docs/sub.md")})), "docs/sub.md"),
        (Turn::say("Read."), ""),
    ]
}

fn droid(work: &str) -> Vec<Step> {
    let at = |path: &str| format!("{work}/{path}");
    vec![
        (Turn::call("Read", json!({"file_path": at("docs/read.md")})), "docs/read.md"),
        (
            Turn::call(
                "Edit",
                json!({"file_path": at("docs/edit.md"), "old_str": "Old", "new_str": "New"}),
            ),
            "docs/edit.md",
        ),
        (
            Turn::call("Create", json!({"file_path": at("docs/new.md"), "content": "x"})),
            "docs/new.md",
        ),
        (Turn::call("Grep", json!({"pattern": "Old", "path": "searched"})), "searched"),
        (
            Turn::call(
                "Execute",
                json!({"command": "cd docs && cat shell.md", "summary": "Reads"}),
            ),
            "docs/shell.md",
        ),
        (Turn::call("Read", json!({"file_path": at("docs/sub.md")})), "docs/sub.md"),
    ]
}

fn cline(work: &str) -> Vec<Step> {
    let at = |path: &str| format!("{work}/{path}");
    let read = |path: &str| Turn::call("read_files", json!({"files": [{"path": at(path)}]}));
    let run = |command: &str| Turn::call("run_commands", json!({"commands": [command]}));
    vec![
        (read("docs/read.md"), "docs/read.md"),
        (
            Turn::call(
                "editor",
                json!({"path": at("docs/edit.md"), "old_text": "Old", "new_text": "New"}),
            ),
            "docs/edit.md",
        ),
        (Turn::call("editor", json!({"path": at("docs/new.md"), "new_text": "x"})), "docs/new.md"),
        // The search of Cline has no directory.
        (run("grep -rn Old searched"), "searched"),
        (run("cd docs && cat shell.md"), "docs/shell.md"),
        (read("docs/sub.md"), "docs/sub.md"),
    ]
}

/// Qwen Code edits only files that it has read, so that the failing edit is the step.
fn qwen(work: &str) -> Vec<Step> {
    let at = |path: &str| format!("{work}/{path}");
    vec![
        (Turn::call("read_file", json!({"file_path": at("docs/read.md")})), "docs/read.md"),
        (
            Turn::call(
                "edit",
                json!({"file_path": at("docs/edit.md"), "old_string": "Old", "new_string": "New"}),
            ),
            "docs/edit.md",
        ),
        (
            Turn::call("write_file", json!({"file_path": at("docs/new.md"), "content": "x"})),
            "docs/new.md",
        ),
        (Turn::call("grep_search", json!({"pattern": "Old", "path": "searched"})), "searched"),
        (
            Turn::call(
                "run_shell_command",
                json!({"command": "cd docs && cat shell.md", "description": "Reads",
                    "is_background": false}),
            ),
            "docs/shell.md",
        ),
        (Turn::call("read_file", json!({"file_path": at("docs/sub.md")})), "docs/sub.md"),
    ]
}

/// Runs `agent` through its steps and checks the daemon's session and the model's requests.
#[track_caller]
fn touches(agent: Agent, steps: fn(&str) -> Vec<Step>) {
    let Some(fixture) = AgentFixture::set(agent, TREE, Vec::new()) else { return };
    let fixture = fixture.with_known_model();
    let steps = steps(fixture.cwd().to_str().unwrap());
    let mut script: Vec<Turn> = steps.iter().map(|(turn, _)| turn.clone()).collect();
    script.push(Turn::say("Done."));
    fixture.model.follow(script);
    let recorder = HookRecorder::between(&fixture);
    fixture.register();
    fixture.run("Do it.");

    let session = recorder.session(&fixture);
    let mut expected: Vec<String> = Vec::new();
    let turns = fixture.model.turns();
    for (nth, (turn, files)) in steps.iter().enumerate() {
        for file in files.split_whitespace() {
            let words = match file {
                "searched" => format!("(in {}/searched/.claude/skills;", fixture.cwd().display()),
                file => format!("(for files like `{file}`;"),
            };
            let answered = &turns[nth + 1];
            assert!(
                answered.text().contains(&words),
                "after {turn:?} the request does not contain `{words}`"
            );
            assert!(!turns[nth].text().contains(&words), "already sent before {turn:?}: `{words}`");
            expected.push(file.to_owned());
        }
    }
    let activated = session["activated"].as_array().unwrap().iter();
    let mut found: Vec<String> = activated
        .map(|it| it["matched"]["path"].as_str().unwrap())
        .map(|path| path.strip_prefix(fixture.cwd().to_str().unwrap()).unwrap()[1..].to_owned())
        .collect();
    let discovered = session["discovered"].as_array().unwrap();
    assert_eq!(discovered.len(), 1, "{session:#}");
    assert!(discovered[0].as_str().unwrap().ends_with("proj/searched/.claude/skills"));
    found.push("searched".to_owned());
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{session:#}");

    recorder.end(&fixture);

    check(&fixture, "hooks.jsonl", &recorder.sanitised(&fixture));
}

/// A `skillsd` on the agent's PATH that stores each hook payload and runs the real program.
struct HookRecorder {
    dir: PathBuf,
}

impl HookRecorder {
    fn between(fixture: &AgentFixture) -> HookRecorder {
        let bin = fixture.home.path().join("bin");
        let dir = fixture.home.path().join("record");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&dir).unwrap();
        // The last event closes the session, so it is held back until the test has read the
        // session.
        let text = format!(
            "#!/bin/sh\n\
             payload=$(cat)\n\
             printf '%s\\n' \"$payload\" >>'{dir}/payloads'\n\
             case $payload in *'\"hook_event_name\":\"SessionEnd\"'*) exit;; esac\n\
             printf %s \"$payload\" | '{exe}' \"$@\" 2>>'{dir}/errors'\n",
            dir = dir.display(),
            exe = env!("CARGO_BIN_EXE_test-skillsd"),
        );
        let program = bin.join("skillsd");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        HookRecorder { dir }
    }

    fn payloads(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("payloads")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the daemon's session before its end.
    #[track_caller]
    fn session(&self, fixture: &AgentFixture) -> Value {
        let errors = fs::read_to_string(self.dir.join("errors")).unwrap_or_default();
        assert_eq!(errors, "", "a hook complained");
        let first = &self.payloads()[0];
        let cline = first["sessionContext"]["rootSessionId"].clone();
        let id = if cline.is_null() { first["session_id"].clone() } else { cline };
        let mut wire = Wire::connect(&fixture.home.socket(), Framing::Header).unwrap();
        wire.call("session/get", &json!({"session": id}))
    }

    /// Sends the session's end, if the agent reports it, and checks that the session is closed.
    #[track_caller]
    fn end(&self, fixture: &AgentFixture) {
        let payloads = self.payloads();
        let Some(last) = payloads.iter().find(|it| it["hook_event_name"] == "SessionEnd") else {
            return;
        };
        let mut hook = fixture.home.command(env!("CARGO_BIN_EXE_test-skillsd"));
        hook.args(["hook", fixture.agent.name()]).stdin(Stdio::piped());
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(last.to_string().as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
        let mut wire = Wire::connect(&fixture.home.socket(), Framing::Header).unwrap();
        assert_eq!(wire.call("session/list", &json!({}))["sessions"], json!([]));
    }

    /// Returns the payloads, one per line, with volatile fields replaced.
    fn sanitised(&self, fixture: &AgentFixture) -> String {
        let volatile = [
            "session_id",
            "transcript_path",
            "turn_id",
            "timestamp",
            "tool_use_id",
            "tool_response",
            "agent_id",
            "prompt_id",
            "tool_call_id",
            "tool_result",
            "duration_ms",
            "session_duration_ms",
            "message_id",
            "message_count",
            "error",
            "agent_transcript_path",
            "CLAUDE_ENV_FILE",
            "taskId",
            "userId",
            "workspaceInfo",
            "postToolUse",
        ];
        let session = self.payloads()[0]["session_id"].clone();
        let lines = in_order(self.payloads()).into_iter().map(|mut payload| {
            if let Some(id) = payload.pointer_mut("/sessionContext/rootSessionId") {
                *id = json!("(session_id)");
                // Cline has the tool in this member.
                let tool = payload["tool_result"].as_object_mut().unwrap();
                tool.retain(|name, _| matches!(&**name, "name" | "input"));
                payload["toolResult"] = payload["tool_result"].take();
            }
            for field in volatile {
                if let Some(value) = payload.get_mut(field) {
                    *value = json!(format!("({field})"));
                }
            }
            if let Some(tool) = payload.as_object_mut().and_then(|it| it.remove("toolResult")) {
                payload["tool_result"] = tool;
            }
            // A subagent of Copilot CLI has an id of its own as its session.
            if let Some(parent) = payload.get_mut("parent_agent_id").filter(|it| !it.is_null()) {
                let is_parent = *parent == session;
                *parent = json!("(session_id)");
                if is_parent && payload["hook_event_name"] != "SubagentStop" {
                    payload["session_id"] = json!("(agent_id)");
                }
            }
            format!("{}\n", fixture.home.redact(&payload.to_string()))
        });
        lines.collect()
    }
}

/// Moves a sub-agent's end behind its last event: opencode sends it concurrently with the outer
/// agent's tool result, in either order.
fn in_order(payloads: Vec<Value>) -> Vec<Value> {
    let is_end = |it: &Value| it["hook_event_name"] == "session.idle" && it["agent_id"].is_string();
    let (ends, mut others): (Vec<_>, Vec<_>) = payloads.into_iter().partition(is_end);
    for end in ends {
        let last = others.iter().rposition(|it| it["agent_id"] == end["agent_id"]);
        others.insert(last.map_or(others.len(), |it| it + 1), end);
    }
    others
}

#[test]
fn opencode_hooks_report_touches_and_skills() {
    touches(Agent::OpenCode, opencode);
}

#[test]
fn codex_hooks_report_touches_and_skills() {
    touches(Agent::Codex, codex);
}

#[test]
fn gemini_hooks_report_touches_and_skills() {
    touches(Agent::GeminiCli, gemini);
}

#[test]
fn cline_hooks_report_touches_and_skills() {
    touches(Agent::Cline, cline);
}

#[test]
fn copilot_hooks_report_touches_and_skills() {
    touches(Agent::CopilotCli, copilot);
}

#[test]
fn droid_hooks_report_touches_and_skills() {
    touches(Agent::Droid, droid);
}

#[test]
fn kilo_hooks_report_touches_and_skills() {
    touches(Agent::Kilo, opencode);
}

#[test]
fn qwen_hooks_report_touches_and_skills() {
    touches(Agent::QwenCode, qwen);
}

#[test]
fn agents_work_when_skillsd_is_missing() {
    for (agent, steps) in [
        (Agent::OpenCode, opencode as fn(&str) -> Vec<Step>),
        (Agent::Codex, codex),
        (Agent::GeminiCli, gemini),
        (Agent::Cline, cline),
        (Agent::CopilotCli, copilot),
        (Agent::Droid, droid),
        (Agent::Kilo, opencode),
        (Agent::QwenCode, qwen),
    ] {
        let Some(fixture) = AgentFixture::set(agent, TREE, Vec::new()) else { continue };
        let (turn, _) = steps(fixture.cwd().to_str().unwrap()).remove(0);
        fixture.model.follow(vec![turn, Turn::say("Done.")]);
        fixture.register();
        let bin = fixture.home.path().join("bin");
        assert!(!Path::new(&bin).exists());
        let output = fixture.run("Do it.");
        assert!(output.status.success(), "{output:?}");
        let answered = &fixture.model.turns()[1];
        let is_read = answered
            .text()
            .lines()
            .any(|line| line == "Old" || line == "1: Old" || line.contains("1 | Old"));
        assert!(is_read, "{agent:?} was kept from its work: {:?}", answered.text().lines().last());
    }
}
