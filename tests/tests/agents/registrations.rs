//! Manual MCP registration: runs the commands and configuration of docs/agents.md in the agents
//! themselves.

use std::fs;
use std::path::Path;

use crate::agent_fixture::{Agent, AgentFixture};

const TREE: &str =
    "//- /proj/.agents/skills/a/SKILL.md\n---\nname: a\ndescription: Use it when asked.\n---\nb\n";

/// Returns the only line of the page that starts with `beginning`.
#[track_caller]
fn line(beginning: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/agents.md");
    let text = fs::read_to_string(page).unwrap();
    let mut lines = text.lines().filter(|it| it.starts_with(beginning));
    let line = lines.next().unwrap_or_else(|| panic!("docs/agents.md has no `{beginning}`"));
    assert_eq!(lines.next(), None);
    line.to_owned()
}

/// Runs the page's command for an agent, and returns the agent's list of servers.
#[track_caller]
fn listed_after(agent: Agent, program: &str) -> Option<String> {
    let fixture = AgentFixture::set(agent, TREE, Vec::new())?;
    let command = line(&format!("{program} mcp add "));
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    fixture.manage(&words);
    Some(fixture.manage(&["mcp", "list"]))
}

#[test]
fn opencode_connects_with_the_documented_configuration() {
    let Some(fixture) = AgentFixture::set(Agent::OpenCode, TREE, Vec::new()) else { return };
    fs::write(fixture.cwd().join("opencode.json"), line("{\"mcp\": ")).unwrap();
    let said = fixture.manage(&["mcp", "list"]);
    assert!(said.contains("✓ skills") && said.contains("connected"), "{said}");
}

#[test]
fn gemini_connects_after_the_documented_command() {
    let Some(said) = listed_after(Agent::GeminiCli, "gemini") else { return };
    assert!(
        said.contains("✓ skills: skillsd mcp --profile gemini-cli (stdio) - Connected"),
        "{said}"
    );
}

#[test]
fn codex_lists_the_server_after_the_documented_command() {
    let Some(said) = listed_after(Agent::Codex, "codex") else { return };
    let row = said.lines().find(|it| it.starts_with("skills ")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words[..3], ["skills", "skillsd", "mcp"], "{said}");
    assert!(words.contains(&"enabled"), "{said}");
}
