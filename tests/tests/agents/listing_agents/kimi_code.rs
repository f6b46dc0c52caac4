//! Kimi Code, whose first request to its model lists the skills.

use std::fs;

use super::{ListingAgent, first_request, relative};
use crate::agent_trees::{Found, first_line};

pub(crate) const KIMI_CODE: ListingAgent = ListingAgent {
    profile: "kimi-code",
    program: "node_modules/.bin/kimi",
    own: "/w/.kimi-code/skills",
    home: &[".kimi-code/skills", ".agents/skills"],
    project: &[".kimi-code/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: false,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        let text = first_request(command, |command, url| {
            let home = top.join("h/.kimi-code");
            fs::create_dir_all(&home).unwrap();
            fs::write(home.join("config.toml"), settings(url)).unwrap();
            command.args(["-p", "hi"]);
        });
        let mut found = Found::new();
        let mut last = None;
        for line in text.lines() {
            let line = line.trim();
            if let Some(entry) = line.strip_prefix("- ") {
                last = entry.split_once(": ");
            } else if let Some(path) = line.strip_prefix("Path: ")
                && let Some((name, description)) = last.take()
            {
                let path = relative(path.trim_matches('`'), top);
                found.insert((name.to_owned(), first_line(description), path));
            }
        }
        found
    },
};

/// Returns settings with a model at `url`.
pub(super) fn settings(url: &str) -> String {
    format!(
        r#"default_model = "stub"
telemetry = false

[providers.stub]
type = "openai"
base_url = "{url}/v1"
api_key = "none"

[models.stub]
provider = "stub"
model = "stub"
max_context_size = 200000
capabilities = ["tool_use"]
"#
    )
}
