//! Claude Code's slash commands: the text that `/name arguments` becomes, compared with ours.
//!
//! One process of the agent answers all prompts, each for a skill of its own, because a skill that
//! is loaded again says so. `CLAUDE_SLASH` sets the number of prompts.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use skills_testkit::Turn;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, OurDaemon, Tree, run_prompts};

/// The body of each skill.
const BODY: &str = r"0=<$0> 1=<$1> 2=<$2> 3=<$3> i=<$ARGUMENTS[1]> x=<$x> y=<$y> e=<\$0> f=<\\$0> all=<$ARGUMENTS>";

/// The argument texts that are recorded for the agent's tool.
const RECORDED: &str = include_str!("../../golden/agents/claude-code/arguments.jsonl");

/// Number of prompts by default; all of them take about a minute.
const PROMPTS: usize = 160;

fn name(number: usize) -> String {
    format!("s{number:03}")
}

/// Returns the texts of skills in a conversation, by skill.
fn bodies(messages: &Value) -> BTreeMap<String, String> {
    let parts = messages.as_array().unwrap().iter().filter_map(|it| it["content"].as_array());
    let texts = parts.flatten().filter_map(|it| it["text"].as_str());
    let body = |text: &str| {
        let (head, _) = text.strip_prefix("Base directory for this skill: ")?.split_once("\n\n")?;
        Some((head.rsplit_once('/')?.1.to_owned(), text.to_owned()))
    };
    texts.filter_map(body).collect()
}

#[test]
fn claude_code_slash_commands_give_the_same_text() {
    let Some(program) = claude_code() else { return };
    let count = std::env::var("CLAUDE_SLASH").ok().and_then(|it| it.parse().ok());
    let lines = RECORDED.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let arguments = lines.map(|it| it["arguments"].as_str().unwrap().to_owned());
    // All kinds of arguments, also if only some are used.
    let mut arguments: Vec<_> = arguments.collect();
    arguments.truncate(count.unwrap_or(PROMPTS));
    let text = format!("---\ndescription: d\narguments: x y\n---\n{BODY}\n");
    let skill = |it| (format!("w/.claude/skills/{}/SKILL.md", name(it)), Entry::File(text.clone()));
    let git = ("w/.git/HEAD".to_owned(), Entry::File("ref: refs/heads/main\n".to_owned()));
    let home = ("h".to_owned(), Entry::Dir);
    let tree = Tree::plain((0..arguments.len()).map(skill).chain([git, home]).collect());
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    tree.lay_out(&top);
    let prompts: Vec<_> = arguments
        .iter()
        .enumerate()
        .map(|(nth, arguments)| format!("/{} {arguments}", name(nth)))
        .collect();
    let script = vec![Turn::say("Done."); prompts.len()];
    let run = run_prompts(&program, &tree, &top, &prompts, script);
    let theirs = bodies(&run.turns.last().unwrap().body["messages"]);
    let mut daemon = OurDaemon::start();
    let mut faults = Vec::new();
    for (nth, arguments) in arguments.iter().enumerate() {
        let params = json!({"name": format!("/{}", name(nth)), "args": arguments, "by": "user"});
        let loaded = daemon.call("skills/load", &tree, &top, params);
        let ours = loaded["output"].as_str();
        let theirs = theirs.get(&name(nth)).map(String::as_str);
        if ours.is_none() || ours != theirs {
            faults.push(format!("{arguments:?}\n  agent: {theirs:?}\n  we:    {ours:?} {loaded}"));
        }
    }
    let (n_faults, count) = (faults.len(), arguments.len());
    println!("{} of {count} slash commands are equal", count - n_faults);
    assert!(faults.is_empty(), "{n_faults} of {count} differ\n{}", faults.join("\n"));
}
