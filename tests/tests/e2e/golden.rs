//! Compares the daemon's rendering byte for byte with what running agents gave their models.
//!
//! The recordings (`tests/golden/agents`) were made from the agents on the same tree.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use crate::support::Live;

const TREE: &str = include_str!("../../golden/agents/tree.txt");

/// A daemon on the tree that the agents were recorded with.
struct GoldenFixture {
    live: Live,
    project: PathBuf,
}

impl GoldenFixture {
    fn new() -> Self {
        let home = Home::new();
        let project = home.worktree("proj", "");
        home.lay_out(TREE);
        Self { live: Live::start_in(home), project }
    }

    fn call(&mut self, method: &str, profile: &str, mut params: Value) -> Value {
        params["cwd"] = json!(self.project);
        params["profile"] = json!(profile);
        // Gemini CLI was recorded in a folder that it trusts.
        let home = self.live.home.path();
        params["environment"] = json!({"HOME": home, "GEMINI_CLI_TRUST_WORKSPACE": "true"});
        match self.live.wire.try_call(method, &params) {
            Ok(result) => result,
            Err(error) => json!({"error": error.message}),
        }
    }

    /// Compares one text field of an answer with the agent's recording.
    #[track_caller]
    fn check(&mut self, method: &str, profile: &str, params: Value, part: &str, file: &str) {
        let answer = self.call(method, profile, params);
        let text = answer[part].as_str().unwrap_or_else(|| panic!("no `{part}`: {answer}"));
        let text = self.live.home.redact(text);
        assert_eq!(text, read_recording(profile, file), "{profile}/{file}");
    }
}

fn read_recording(profile: &str, file: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/agents");
    let path = dir.join(profile).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

#[test]
fn opencode_output_matches_recordings_byte_for_byte() {
    let mut fixture = GoldenFixture::new();
    let mut check = |method: &str, params: Value, part: &str, file: &str| {
        fixture.check(method, "opencode", params, part, file);
    };
    check("catalog/render", json!({}), "text", "catalog.txt");
    check("skills/load", json!({"name": "deploy"}), "output", "load.txt");
    check("skills/load", json!({"name": "éclair"}), "output", "load-not-ascii.txt");
    check("skills/load", json!({"name": "empty-body"}), "output", "load-empty-body.txt");
    let slash = json!({"name": "deploy", "args": "one two", "by": "user"});
    check("skills/load", slash, "output", "command.txt");
    let unknown = fixture.call("skills/load", "opencode", json!({"name": "missing"}));
    assert_eq!(unknown["error"], read_recording("opencode", "load-unknown.txt"));

    // Our schema lists the skill names; the agent's tool does not.
    let mut tool = fixture.call("catalog/tool", "opencode", json!({}))["tool"].take();
    let agents: Value =
        serde_json::from_str(&read_recording("opencode", "tool.json")).expect("JSON");
    let name = tool["inputSchema"]["properties"]["name"].as_object_mut().expect("an object");
    assert_eq!(name.remove("enum").and_then(|it| it.as_array().map(Vec::len)), Some(11));
    assert_eq!(tool["inputSchema"], agents["parameters"]);
    assert_eq!((&tool["name"], &tool["description"]), (&agents["name"], &agents["description"]));
}

#[test]
fn claude_code_tool_matches_the_recording_byte_for_byte() {
    let mut live = Live::start();
    let skill = "//- /.claude/skills/a/SKILL.md\n---\ndescription: d\n---\nDo it.\n";
    let params = json!({"cwd": live.home.worktree("w", skill), "profile": "claude-code"});
    let mut tool = live.wire.call("catalog/tool", &params)["tool"].take();
    let agents: Value =
        serde_json::from_str(&read_recording("claude-code", "tool.json")).expect("JSON");
    // Our schema lists the skill names; the agent's tool does not.
    let name = tool["inputSchema"]["properties"]["skill"].as_object_mut().expect("an object");
    assert_eq!(name.remove("enum"), Some(json!(["a"])));
    assert_eq!(tool["inputSchema"], agents["input_schema"]);
    assert_eq!((&tool["name"], &tool["description"]), (&agents["name"], &agents["description"]));
}

#[test]
fn codex_output_matches_recordings_byte_for_byte() {
    let mut fixture = GoldenFixture::new();
    fixture.check("catalog/render", "codex", json!({}), "text", "catalog.txt");
    fixture.check("skills/load", "codex", json!({"name": "deploy"}), "output", "mention.txt");
}

#[test]
fn gemini_cli_output_matches_recordings_byte_for_byte() {
    let mut fixture = GoldenFixture::new();
    let mut check = |method: &str, params: Value, part: &str, file: &str| {
        fixture.check(method, "gemini-cli", params, part, file);
    };
    check("catalog/render", json!({}), "text", "catalog.txt");
    check("skills/load", json!({"name": "deploy"}), "output", "load.txt");
    check("skills/load", json!({"name": "éclair"}), "output", "load-not-ascii.txt");
    check("skills/load", json!({"name": "empty-body"}), "output", "load-empty-body.txt");
    let tool = fixture.call("catalog/tool", "gemini-cli", json!({}))["tool"].take();
    let agents: Value =
        serde_json::from_str(&read_recording("gemini-cli", "tool.json")).expect("JSON");
    assert_eq!(tool["inputSchema"], agents["parametersJsonSchema"]);
    assert_eq!((&tool["name"], &tool["description"]), (&agents["name"], &agents["description"]));
}

#[test]
fn empty_listing_matches_recordings() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for profile in ["opencode", "codex", "gemini-cli"] {
        let params = json!({"cwd": top, "profile": profile, "emptyText": true});
        let text = live.wire.call("catalog/render", &params)["text"].take();
        assert_eq!(text, read_recording(profile, "catalog-empty.txt"), "{profile}");
        let params = json!({"cwd": top, "profile": profile});
        assert_eq!(live.wire.call("catalog/render", &params)["text"], "", "{profile}");
        assert_eq!(live.wire.call("catalog/tool", &params)["tool"], Value::Null, "{profile}");
    }
}
