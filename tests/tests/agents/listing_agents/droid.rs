//! Factory Droid, whose first request to its model lists the skills without their paths.

use std::fs;

use serde_json::{Value, json};

use super::{ListingAgent, first_request};
use crate::agent_trees::{Found, first_line};

pub(crate) const DROID: ListingAgent = ListingAgent {
    profile: "droid",
    program: "node_modules/.bin/droid",
    own: ".factory/skills",
    home: &[".factory/skills", ".agents/skills", ".agent/skills"],
    project: &[".factory/skills", ".agents/skills", ".agent/skills"],
    has_descriptions: true,
    lists_hidden: false,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        let text = first_request(command, |command, url| {
            let home = top.join("h/.factory");
            fs::create_dir_all(&home).unwrap();
            fs::write(home.join("settings.json"), settings(url).to_string()).unwrap();
            command.args(["exec", "-m", "custom:stub-0", "hi"]);
        });
        let head = "Available skills (invoke by exact name";
        let list = text.split_once(head).map_or("", |it| it.1);
        let (list, _) = list.split_once("</system-reminder>").unwrap_or((list, ""));
        let mut found = Found::new();
        for line in list.lines().skip(1).filter(|it| !it.is_empty()) {
            // A skill over the budget has only its name.
            let (name, description) = line.split_once(": ").unwrap_or((line, "…"));
            if !BUILT_IN.contains(&name) {
                let none = if description == "No description provided" { "" } else { description };
                found.insert((name.to_owned(), first_line(none), String::new()));
            }
        }
        found
    },
};

/// Returns settings with a model at `url`.
pub(crate) fn settings(url: &str) -> Value {
    let model = json!({"model": "stub", "displayName": "stub", "apiKey": "none",
        "baseUrl": format!("{url}/v1"), "provider": "generic-chat-completion-api"});
    json!({"customModels": [model], "enableDroidShield": false})
}

/// Skills of the program itself.
pub(crate) const BUILT_IN: [&str; 20] = [
    "agent-browser",
    "browse-wiki",
    "deep-security-review",
    "detect-overlapping-workstreams",
    "excel",
    "incident",
    "install-code-review",
    "install-qa",
    "install-triage",
    "install-wiki",
    "pdf-document",
    "powerpoint",
    "review",
    "security-review",
    "session-navigation",
    "simplify",
    "tuistory",
    "wiki",
    "wiki-video-gen",
    "word-document",
];
