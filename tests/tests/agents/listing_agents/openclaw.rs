//! OpenClaw, which has a command that lists the skills of its workspace and its user.

use serde_json::Value;

use super::{ListingAgent, finish};
use crate::agent_trees::first_line;

pub(crate) const OPENCLAW: ListingAgent = ListingAgent {
    profile: "openclaw",
    program: "node_modules/.bin/openclaw",
    own: "/h/.openclaw/workspace/skills",
    home: &[
        ".openclaw/workspace/skills",
        ".openclaw/workspace/.agents/skills",
        ".openclaw/skills",
        ".agents/skills",
    ],
    project: &[".agents/skills", "skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, _| {
        let output = finish(command.args(["skills", "list", "--json"]));
        let listed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let skills = listed["skills"].as_array().unwrap().iter();
        // Others are its own and those of its plugins.
        let is_file = |it: &&Value| SOURCES.iter().any(|source| it["source"] == *source);
        let skills = skills.filter(is_file);
        let skill =
            |it: &Value| (text(&it["name"]), first_line(&text(&it["description"])), String::new());
        skills.map(skill).collect()
    },
};

/// Sources of skills that are directories of the user.
const SOURCES: [&str; 4] =
    ["openclaw-workspace", "agents-skills-project", "agents-skills-personal", "openclaw-managed"];
