//! Skills from other sources than an agent's directories: bundled skills, registries, MCP servers.

mod bundled;
mod mcp;
mod remote;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::{Home, wait_for};

use crate::configuration::configure;
use crate::support::Live;

const ONE_SKILL: &str =
    "//- /.agents/skills/own/SKILL.md\n---\nname: own\ndescription: Does own.\n---\nThe body.\n";

/// Starts a daemon with this configuration, and a worktree with one skill.
fn start_with(config: &str) -> (Live, PathBuf) {
    let home = Home::new();
    configure(&home, config);
    let top = home.worktree("w", ONE_SKILL);
    (Live::start_in(home), top)
}

/// Returns the default list once no registry is being fetched.
fn settled_list(live: &mut Live, top: &Path, profile: &str) -> Value {
    wait_for("the registries to be fetched", || {
        let list = live.wire.call("skills/list", &json!({"cwd": top, "profile": profile}));
        let mut health = list["health"].as_array().expect("a list").iter();
        let is_fetching = health.any(|it| it["code"] == "fetching");
        (!is_fetching).then_some(list)
    })
}

/// Returns the names of the default list.
fn names(live: &mut Live, top: &Path, profile: &str) -> Vec<String> {
    let list = settled_list(live, top, profile);
    let name = |it: &Value| it["name"].as_str().expect("it has a name").to_owned();
    list["skills"].as_array().expect("a list").iter().map(name).collect()
}

/// Returns the health entries as code and message.
fn health_entries(live: &mut Live, top: &Path) -> Vec<(String, String)> {
    let list = settled_list(live, top, "agentskills");
    let text = |it: &Value| it.as_str().expect("a text").to_owned();
    let health = list["health"].as_array().expect("a list").iter();
    health.map(|it| (text(&it["code"]), text(&it["message"]))).collect()
}

/// Waits until the default list has these names.
#[track_caller]
fn wait_for_names(live: &mut Live, top: &Path, expected: &[&str]) {
    let what = format!("the list to be {expected:?}");
    wait_for(&what, || (names(live, top, "agentskills") == expected).then_some(()));
}

/// Returns the only source of `server/status`.
fn only_source(live: &mut Live) -> Value {
    let status = live.wire.call("server/status", &json!({}));
    let sources = status["sources"].as_array().expect("a list");
    assert_eq!(sources.len(), 1, "{sources:?}");
    sources[0].clone()
}
