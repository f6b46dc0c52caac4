//! Continue, whose first request to its model lists the skills in a tool's description.

use std::fs;

use skills_testkit::{Model, Turn};

use super::{ListingAgent, finish, tool_description};
use crate::agent_trees::first_line;

pub(crate) const CONTINUE: ListingAgent = ListingAgent {
    profile: "continue",
    program: "node_modules/.bin/cn",
    own: ".continue/skills",
    home: &[".continue/skills", ".agents/skills"],
    project: &[".continue/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        let model = Model::start(vec![Turn::say("Done.")]);
        let home = top.join("h/.continue");
        fs::create_dir_all(&home).unwrap();
        let config = home.join("config.yaml");
        fs::write(&config, settings(&model.url())).unwrap();
        command.env("CONTINUE_TELEMETRY_ENABLED", "0").arg("--config").arg(config);
        let output = finish(command.args(["-p", "hi"]));
        let turns = model.turns();
        let first = turns.first().unwrap_or_else(|| panic!("no request: {output:?}"));
        let text = tool_description(first, "Skills");
        let entries = text.split("\nname: ").skip(1);
        let entries = entries.filter_map(|it| it.split_once("\ndescription: "));
        let skill = |(name, rest): (&str, &str)| {
            (
                name.to_owned(),
                first_line(rest.split('\n').next().unwrap_or_default()),
                String::new(),
            )
        };
        entries.map(skill).collect()
    },
};

/// Returns settings with a model at `url`.
pub(super) fn settings(url: &str) -> String {
    format!(
        r#"name: stub
version: 1.0.0
schema: v1
models:
  - name: stub
    provider: openai
    model: gpt-4o
    apiBase: {url}/v1
    apiKey: none
    roles: [chat]
    capabilities: [tool_use]
"#
    )
}
