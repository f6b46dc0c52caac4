//! Skill listings and loads that real agents send to their model, compared with
//! `tests/golden/agents`.
//!
//! Our own rendering is compared with these recordings where no agent is installed. Here the agents
//! themselves run and must still produce them; `UPDATE_EXPECT=1` records again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Turn;
use skills_testkit::model::ModelRequest;

use crate::agent_fixture::{Agent, AgentFixture};

const TREE: &str = include_str!("../../golden/agents/tree.txt");
const NO_SKILLS: &str = "//- /proj/README.md\n# A project\n";

/// Compares `text`, with paths redacted, with a recording.
#[track_caller]
pub(crate) fn check(fixture: &AgentFixture, name: &str, text: &str) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/agents");
    let path = dir.join(fixture.agent.name()).join(name);
    let text = fixture.home.redact(text);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert!(recorded == text, "{}:\n{text}\nrecorded:\n{recorded}", path.display());
}

/// Returns the text from `start` to `end`, both included, or an empty text.
pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let Some(from) = text.find(start).map(|at| &text[at..]) else { return "" };
    let length = from.find(end).map_or(0, |at| at + end.len());
    &from[..length]
}

/// Returns the definition of a tool in a model request.
fn tool(asked: &ModelRequest, name: &str) -> String {
    fn search<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
        match value {
            Value::Object(fields)
                if value["name"] == name && fields.contains_key("description") =>
            {
                Some(value)
            }
            Value::Object(fields) => fields.values().find_map(|value| search(value, name)),
            Value::Array(values) => values.iter().find_map(|value| search(value, name)),
            _ => None,
        }
    }
    let tool = search(&asked.body["tools"], name).expect("the tool is offered");
    format!("{tool:#}\n")
}

/// Sorts the `<file>` lines, which opencode lists in any order.
pub(crate) fn with_sorted_files(text: &str) -> String {
    let is_file = |line: &&str| line.starts_with("<file>");
    let mut files: Vec<&str> = text.split('\n').filter(is_file).collect();
    files.sort_unstable();
    let mut files = files.into_iter();
    let lines = text
        .split('\n')
        .map(|line| if is_file(&line) { files.next().unwrap_or(line) } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn opencode_listing_and_loads_match_recordings() {
    let load = |name: &str| Turn::call("skill", json!({"name": name}));
    let script = vec![
        load("deploy"),
        load("éclair"),
        load("empty-body"),
        load("missing"),
        Turn::say("Done."),
    ];
    let Some(fixture) = AgentFixture::set(Agent::OpenCode, TREE, script) else { return };
    fixture.run("Deploy it.");
    let turns = fixture.model.turns();
    let system = turns[0].body["messages"][0]["content"].as_str().unwrap();
    let catalog = between(system, "Skills provide specialized instructions", "</available_skills>");
    check(&fixture, "catalog.txt", catalog);
    check(&fixture, "tool.json", &tool(&turns[0], "skill"));
    let names = ["load.txt", "load-not-ascii.txt", "load-empty-body.txt", "load-unknown.txt"];
    for (name, turn) in names.iter().zip(&turns[1..]) {
        let answers = turn.body["messages"].as_array().unwrap();
        let answer = answers.last().unwrap()["content"].as_str().unwrap();
        check(&fixture, name, &with_sorted_files(answer));
    }
}

#[test]
fn opencode_command_output_matches_recording() {
    let Some(fixture) = AgentFixture::set(Agent::OpenCode, TREE, vec![Turn::say("Done.")]) else {
        return;
    };
    fixture.run_command("deploy", "one two");
    let turns = fixture.model.turns();
    let messages = turns[0].body["messages"].as_array().unwrap();
    let message = messages.iter().find(|message| message["role"] == "user").unwrap();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    };
    check(&fixture, "command.txt", &text);
}

#[test]
fn opencode_listing_without_skills_matches_recording() {
    let script = vec![Turn::say("Done.")];
    let Some(fixture) = AgentFixture::set(Agent::OpenCode, NO_SKILLS, script) else { return };
    fixture.run("Deploy it.");
    let turns = fixture.model.turns();
    let system = turns[0].body["messages"][0]["content"].as_str().unwrap();
    let start = "Skills provide specialized instructions";
    let catalog = system.find(start).map_or("", |at| &system[at..]);
    let catalog = catalog.split("\n\n").next().unwrap_or_default();
    check(&fixture, "catalog-empty.txt", catalog);
}

#[test]
fn codex_listing_and_mention_match_recordings() {
    let Some(fixture) = AgentFixture::set(Agent::Codex, TREE, vec![Turn::say("Done.")]) else {
        return;
    };
    fixture.run("Please $deploy it.");
    let text = fixture.model.turns()[0].text();
    let catalog = between(&text, "<skills_instructions>", "</skills_instructions>");
    check(&fixture, "catalog.txt", catalog);
    check(&fixture, "mention.txt", between(&text, "<skill>", "</skill>"));
}

#[test]
fn codex_listing_without_skills_matches_recording() {
    let Some(fixture) = AgentFixture::set(Agent::Codex, NO_SKILLS, vec![Turn::say("Done.")]) else {
        return;
    };
    fixture.run("Deploy it.");
    let text = fixture.model.turns()[0].text();
    let catalog = between(&text, "<skills_instructions>", "</skills_instructions>");
    check(&fixture, "catalog-empty.txt", catalog);
}

#[test]
fn gemini_listing_and_loads_match_recordings() {
    let load = |name: &str| Turn::call("activate_skill", json!({"name": name}));
    let script = vec![
        load("deploy"),
        load("éclair"),
        load("empty-body"),
        load("missing"),
        Turn::say("Done."),
    ];
    let Some(fixture) = AgentFixture::set(Agent::GeminiCli, TREE, script) else { return };
    fixture.run("Deploy it.");
    let turns = fixture.model.turns();
    let text = turns[0].text();
    let catalog = between(&text, "# Available Agent Skills", "</available_skills>");
    check(&fixture, "catalog.txt", &in_recorded_order(&fixture, catalog));
    check(&fixture, "tool.json", &tool(&turns[0], "activate_skill"));
    let names = ["load.txt", "load-not-ascii.txt", "load-empty-body.txt", "load-unknown.txt"];
    for (name, turn) in names.iter().zip(&turns[1..]) {
        let contents = turn.body["contents"].as_array().unwrap();
        let parts = contents.last().unwrap()["parts"].as_array().unwrap();
        let response = &parts[0]["functionResponse"]["response"];
        let answer = response["output"].as_str().or_else(|| response["error"].as_str());
        check(&fixture, name, answer.unwrap());
    }
}

/// Returns the recorded list if it has the same skills: Gemini CLI reads files in a race, so two of
/// one directory change places now and then.
fn in_recorded_order(fixture: &AgentFixture, catalog: &str) -> String {
    let skills = |text: &str| {
        let mut skills: Vec<_> = text.split("  <skill>\n").map(str::to_owned).collect();
        skills.sort();
        skills
    };
    let file = "golden/agents/gemini-cli/catalog.txt";
    let recorded = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let listed = fixture.home.redact(catalog);
    recorded.ok().filter(|it| skills(it) == skills(&listed)).unwrap_or(listed)
}

#[test]
fn gemini_listing_without_skills_matches_recording() {
    let script = vec![Turn::say("Done.")];
    let Some(fixture) = AgentFixture::set(Agent::GeminiCli, NO_SKILLS, script) else { return };
    fixture.run("Deploy it.");
    let text = fixture.model.turns()[0].text();
    let catalog = between(&text, "# Available Agent Skills", "</available_skills>");
    check(&fixture, "catalog-empty.txt", catalog);
}
