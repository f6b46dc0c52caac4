//! Arguments of Claude Code's skills: the text that `/name arguments` becomes, compared with ours,
//! and the text that its tool returns, compared with the recording.
//!
//! One process of the agent loads all skills, each argument text in a skill of its own, because a
//! skill that is loaded again says so. `CLAUDE_SLASH` sets the number of argument texts;
//! `UPDATE_EXPECT=1` records all of the tool's.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use skills_testkit::Turn;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, OurDaemon, Tree, run, run_prompts};

/// The body of each skill.
const BODY: &str = r"0=<$0> 1=<$1> 2=<$2> 3=<$3> i=<$ARGUMENTS[1]> x=<$x> y=<$y> e=<\$0> f=<\\$0> all=<$ARGUMENTS>";

/// Argument texts, and the body that the agent's tool returned for each.
const RECORDED: &str = include_str!("../../golden/agents/claude-code/arguments.jsonl");

/// Number of argument texts of the tool by default; the slash commands take all of them.
const CALLS: usize = 30;

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

/// Returns the recorded argument texts, at most `CLAUDE_SLASH` or `default` of them.
fn recorded(default: usize) -> Vec<(String, String)> {
    let count = std::env::var("CLAUDE_SLASH").ok().and_then(|it| it.parse().ok());
    let field = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = RECORDED.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let pair = |it| (field(&it, "arguments"), field(&it, "body"));
    lines.take(count.unwrap_or(default)).map(pair).collect()
}

/// Returns a worktree with one skill for each of `count` argument texts.
fn tree(count: usize) -> Tree {
    let text = format!("---\ndescription: d\narguments: x y\n---\n{BODY}\n");
    let skill = |it| (format!("w/.claude/skills/{}/SKILL.md", name(it)), Entry::File(text.clone()));
    let git = ("w/.git/HEAD".to_owned(), Entry::File("ref: refs/heads/main\n".to_owned()));
    let home = ("h".to_owned(), Entry::Dir);
    Tree::plain((0..count).map(skill).chain([git, home]).collect())
}

#[test]
fn claude_code_tool_returns_the_recorded_text() {
    let Some(program) = claude_code() else { return };
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let recorded = recorded(if is_update { usize::MAX } else { CALLS });
    let tree = tree(recorded.len());
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    tree.lay_out(&top);
    let call = |(nth, (args, _)): (usize, &(String, String))| {
        Turn::call("Skill", json!({"skill": name(nth), "args": args}))
    };
    let calls = recorded.iter().enumerate().map(call);
    let script = calls.chain([Turn::say("Done.")]).collect();
    let run = run(&program, &tree, &top, "Load the skills.", script);
    let theirs = bodies(&run.turns.last().unwrap().body["messages"]);
    let body = |it| {
        let text = theirs.get(&name(it)).map_or("", |it| it.split_once("\n\n").unwrap().1);
        text.to_owned()
    };
    if is_update {
        let line = |(nth, (arguments, _)): (usize, &(String, String))| {
            format!("{}\n", json!({"arguments": arguments, "body": body(nth)}))
        };
        let text: String = recorded.iter().enumerate().map(line).collect();
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        fs::write(dir.join("golden/agents/claude-code/arguments.jsonl"), text).unwrap();
        return;
    }
    for (nth, (arguments, recorded)) in recorded.iter().enumerate() {
        assert_eq!(&body(nth), recorded, "{arguments:?}");
    }
}

#[test]
fn claude_code_slash_commands_give_the_same_text() {
    let Some(program) = claude_code() else { return };
    let arguments: Vec<_> = recorded(usize::MAX).into_iter().map(|it| it.0).collect();
    let tree = tree(arguments.len());
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
