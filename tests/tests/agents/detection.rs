//! The agent that runs skillsd: a real agent's shell command lists the skills of that agent.

use std::fs;
use std::process::Stdio;

use serde_json::json;
use skills_testkit::{Home, Model, Turn};

use crate::agent_fixture::{Agent, AgentFixture, CLAUDE_ENVIRONMENT, claude_code, finish};

const SKILL: &str = "---\nname: a\ndescription: Does it.\n---\n";

/// A command that stores the first line of a list.
fn command() -> String {
    format!("'{}' list 2>&1 | head -1 >first", env!("CARGO_BIN_EXE_test-skillsd"))
}

#[track_caller]
fn lists_as(agent: Agent, tool: &str, key: &str, root: &str, expected: &str) {
    let call = Turn::call(tool, json!({key: command(), "description": "Lists"}));
    let tree = format!("//- /proj/{root}/a/SKILL.md\n{SKILL}");
    let Some(fixture) = AgentFixture::set(agent, &tree, vec![call, Turn::say("Done.")]) else {
        return;
    };
    let fixture = fixture.with_known_model();
    fixture.run("Do it.");
    assert_eq!(fs::read_to_string(fixture.cwd().join("first")).unwrap(), expected);
}

#[test]
fn opencode_is_recognised_by_its_variable() {
    let expected = "as opencode · 1 skill · detected: OPENCODE is set\n";
    lists_as(Agent::OpenCode, "bash", "command", ".opencode/skill", expected);
}

#[test]
fn codex_is_recognised_by_its_variable() {
    let expected = "as Codex · 1 skill · detected: CODEX_THREAD_ID is set\n";
    lists_as(Agent::Codex, "exec_command", "cmd", ".agents/skills", expected);
}

#[test]
fn gemini_cli_is_recognised_by_its_variable() {
    let expected = "as Gemini CLI · 1 skill · detected: GEMINI_CLI is set\n";
    lists_as(Agent::GeminiCli, "run_shell_command", "command", ".gemini/skills", expected);
}

#[test]
fn copilot_cli_is_recognised_by_its_variable() {
    let expected = "as Copilot CLI · 1 skill · detected: COPILOT_CLI is set\n";
    lists_as(Agent::CopilotCli, "bash", "command", ".github/skills", expected);
}

#[test]
fn kilo_is_recognised_by_its_variable() {
    let expected = "as Kilo · 1 skill · detected: KILO is set\n";
    lists_as(Agent::Kilo, "bash", "command", ".kilo/skills", expected);
}

#[test]
fn qwen_code_is_recognised_by_its_variable() {
    let expected = "as Qwen Code · 1 skill · detected: QWEN_CODE is set\n";
    lists_as(Agent::QwenCode, "run_shell_command", "command", ".qwen/skills", expected);
}

#[test]
fn claude_code_is_recognised_by_its_variable() {
    let Some(program) = claude_code() else { return };
    let home = Home::new();
    let top = home.worktree("proj", &format!("//- /.claude/skills/a/SKILL.md\n{SKILL}"));
    let call = Turn::call("Bash", json!({"command": command(), "description": "Lists"}));
    let model = Model::start(vec![call, Turn::say("Done.")]);
    let mut agent = home.command(program);
    agent.envs(CLAUDE_ENVIRONMENT).env("ANTHROPIC_BASE_URL", model.url());
    agent.args(["-p", "--allowedTools", "Bash", "--", "Do it."]);
    finish(agent.current_dir(&top).stdin(Stdio::null()));
    let first = fs::read_to_string(top.join("first")).unwrap();
    assert_eq!(first, "as Claude Code · 1 skill · detected: CLAUDECODE is set\n");
}
