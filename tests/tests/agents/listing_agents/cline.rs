//! Cline, whose first request to its model has the names of the skills in a tool's description.

use std::process::Command;

use skills_testkit::{Model, Turn};

use super::{ListingAgent, finish, tool_description};

pub(crate) const CLINE: ListingAgent = ListingAgent {
    profile: "cline",
    program: "node_modules/@cline/cli-linux-x64/bin/cline",
    own: "/w/.cline/skills",
    home: &[".cline/skills", ".agents/skills"],
    project: &[".cline/skills", ".agents/skills"],
    has_descriptions: false,
    lists_hidden: true,
    lists_conditional: true,
    is_race: true,
    list: |_, command, _| {
        let model = Model::start(vec![Turn::say("Done.")]);
        let url = format!("{}/v1", model.url());
        let mut login = Command::new(command.get_program());
        login.env_clear().envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        login.current_dir(command.get_current_dir().unwrap());
        finish(login.args(["auth", "-p", "openai", "-k", "none", "-m", "stub", "-b", &url]));
        let output = finish(command.args(["--json", "-P", "openai", "-m", "stub", "say hello"]));
        let turns = model.turns();
        let first = turns.first().unwrap_or_else(|| panic!("no request: {output:?}"));
        let text = tool_description(first, "skills");
        let list = text.split_once("Available skills: ").map_or("", |it| it.1);
        let names = list.strip_suffix('.').unwrap_or(list).split(", ");
        let names = names.filter(|it| !it.is_empty());
        names.map(|it| (it.to_owned(), String::new(), String::new())).collect()
    },
};
