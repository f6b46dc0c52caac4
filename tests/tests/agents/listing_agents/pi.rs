//! pi, whose first request to its model lists the skills.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{ListingAgent, first_request, inner, inner_list, relative};
use crate::agent_trees::{Found, first_line};

/// The older pi asks for no approval.
pub(crate) const PI_0_74: ListingAgent =
    ListingAgent { profile: "pi@0.74", list: |command, top| list(command, top, &[]), ..PI };

pub(crate) const PI: ListingAgent = ListingAgent {
    profile: "pi",
    program: "node_modules/.bin/pi",
    own: ".pi/skills",
    home: &[".pi/agent/skills", ".agents/skills"],
    project: &[".pi/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: false,
    lists_conditional: true,
    is_race: false,
    list: |command, top| list(command, top, &["--approve"]),
};

fn list(command: &mut Command, top: &Path, approval: &[&str]) -> Found {
    let text = first_request(command, |command, url| {
        let models = json!({"providers": {"stub": {
            "baseUrl": format!("{url}/v1"), "apiKey": "none", "api": "openai-completions",
            "models": [{"id": "stub", "name": "stub", "contextWindow": 200_000, "maxTokens": 1000}],
        }}});
        let home = top.join("h/.pi/agent");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("models.json"), models.to_string()).unwrap();
        command.env("PI_OFFLINE", "1");
        command.args(["--provider", "stub", "--model", "stub", "--no-session"]);
        command.args(approval);
        command.args(["-p", "hi"]);
    });
    let (mut rest, mut found) = (inner_list(&text).0, Found::new());
    while let Some((name, after)) = inner(rest, "<name>", "</name>") {
        let (description, after) = inner(after, "<description>", "</description>").unwrap();
        let (path, after) = inner(after, "<location>", "</location>").unwrap();
        found.insert((name, first_line(&description), relative(&path, top)));
        rest = after;
    }
    found
}
