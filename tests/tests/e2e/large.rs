//! Worktrees with more skills than one answer holds: results are paged and complete.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;
use skills_testkit::wire::Wire;

use crate::editor::client::{Editor, full_capabilities};
use crate::support::{Live, run, stderr};

/// A snapshot of this many skills for the default profiles has about 20 MB.
const MANY: usize = 10_000;

/// Maximum size of one message.
const LIMIT: usize = 8 * 1024 * 1024;

/// Timeout for a first index of all skills on a slow machine.
const TIMEOUT: Duration = Duration::from_mins(2);

fn lay_out_many_skills(home: &Home) -> PathBuf {
    let top = home
        .worktree("w", "//- /CLAUDE.md\nUse the `skill-00001` skill, or the `skil-09999` skill.\n");
    let root = top.join(".agents/skills");
    for index in 0..MANY {
        let name = format!("skill-{index:05}");
        write_skill(&root.join(&name), &name, "One of very many. Use when asked for it.");
    }
    // Last by path, and before one of the others in the order of most agents.
    write_skill(&top.join(".claude/skills/other"), "skill-09998", "Another one. Use when asked.");
    top
}

/// Joins the pages of a snapshot.
fn read_all_pages(wire: &mut Wire, params: &Value) -> (Value, usize) {
    let mut params = params.clone();
    let mut whole = wire.call("index/snapshot", &params);
    let mut n_pages = 1;
    while let Some(cursor) = whole["nextCursor"].as_str() {
        params["cursor"] = json!(cursor);
        let page = wire.call("index/snapshot", &params);
        n_pages += 1;
        assert_eq!((&page["clock"], &page["fresh"]), (&whole["clock"], &json!(true)));
        append_page(&mut whole["skills"], &page["skills"]);
        let profiles = page["profiles"].as_array().expect("a list");
        for (nth, profile) in profiles.iter().enumerate() {
            assert_eq!(profile["profile"], whole["profiles"][nth]["profile"]);
            append_page(&mut whole["profiles"][nth]["skills"], &profile["skills"]);
        }
        whole["nextCursor"] = page["nextCursor"].clone();
    }
    (whole, n_pages)
}

fn append_page(whole: &mut Value, page: &Value) {
    whole.as_array_mut().expect("a list").extend(page.as_array().expect("a list").iter().cloned());
}

fn files(snapshot: &Value) -> Vec<&str> {
    let skills = snapshot["skills"].as_array().expect("a list");
    skills.iter().map(|it| it["path"].as_str().expect("a path")).collect()
}

#[test]
fn snapshot_of_10000_skills_is_paged() {
    let mut live = Live::start();
    live.wire.set_timeout(TIMEOUT);
    let top = lay_out_many_skills(&live.home);
    let params = json!({"cwd": top});
    let (whole, n_pages) = read_all_pages(&mut live.wire, &params);
    assert!(n_pages > 1, "it fits one answer");
    assert!(files(&whole).len() > MANY);
    let profiles = whole["profiles"].as_array().expect("a list");
    let union = profiles.iter().find(|it| it["profile"] == "agentskills").expect("it counts");
    let places = union["skills"].as_array().expect("a list");
    let file = |it: &Value| files(&whole)[it["skill"].as_u64().expect("a number") as usize];
    let claims = places.iter().filter(|it| it["name"] == "skill-09998").map(|it| {
        let dir = file(it).rsplit('/').nth(1).expect("it has a directory");
        format!("{dir} {}", it["state"].as_str().expect("a word"))
    });
    assert_eq!(claims.collect::<Vec<_>>(), ["skill-09998 active", "other shadowed"]);
    let since = json!({"cwd": top, "since": whole["clock"]});
    let same = live.wire.call("index/snapshot", &since);
    assert_eq!((&same["fresh"], &same["skills"]), (&json!(false), &json!([])));

    // A change between two pages invalidates the cursor.
    let first = live.wire.call("index/snapshot", &params);
    write_skill(&top.join(".agents/skills/added"), "added", "Just added. Use when asked.");
    let more = json!({"cwd": top, "cursor": first["nextCursor"]});
    let refused = live.wire.try_call("index/snapshot", &more).expect_err("it has changed");
    assert_eq!(refused.code, -32602);
    assert_eq!(refused.data["hint"], "Start again without `cursor`.");
    let (anew, _) = read_all_pages(&mut live.wire, &params);
    assert_eq!(files(&anew).len(), files(&whole).len() + 1);
}

#[test]
fn snapshot_pages_honour_the_limit() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for name in ["a", "b", "c", "d"] {
        write_skill(&top.join(".agents/skills").join(name), name, "d");
    }
    let params = json!({"cwd": top, "profiles": ["agentskills", "codex"]});
    let (whole, n_pages) = read_all_pages(&mut live.wire, &params);
    assert_eq!(n_pages, 1);
    assert_eq!(whole["nextCursor"], Value::Null);
    let mut few = params.clone();
    for limit in [1, 3, 5] {
        few["limit"] = json!(limit);
        let (parts, n_pages) = read_all_pages(&mut live.wire, &few);
        assert!(n_pages > 1);
        for key in ["clock", "worktree", "skills", "profiles", "levels"] {
            assert_eq!(parts[key], whole[key], "{key} in pages of {limit}");
        }
    }
    few["limit"] = json!(0);
    let refused = live.wire.try_call("index/snapshot", &few).expect_err("nothing is asked for");
    assert_eq!(refused.message, "`limit` is 0");
}

/// Number of files with more findings than are shown, and how often each refers to a skill.
const WORDY: usize = 72;
const TIMES: usize = 500;

/// Lays out files whose findings, and whose references, do not fit one answer.
fn lay_out_many_findings(home: &Home) -> PathBuf {
    let top = home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "The first one. Use when asked for it.");
    // A finding contains the broken path, so a long path makes it long.
    let dirs = format!("{}/", "x".repeat(200)).repeat(5);
    let links: Vec<String> = (0..110).map(|it| format!("[l]({dirs}{it}.md)\n")).collect();
    let body = "See `/a`.\n".repeat(TIMES) + &links.concat();
    for index in 0..WORDY {
        let name = format!("wordy-{index:02}");
        let dir = top.join(".agents/skills").join(&name);
        fs::create_dir_all(&dir).expect("made");
        let head = format!("---\nname: {name}\ndescription: Many words. Use when asked.\n---\n");
        fs::write(dir.join("SKILL.md"), head + &body).expect("written");
    }
    top
}

#[test]
fn findings_and_references_are_paged() {
    let mut live = Live::start();
    live.wire.set_timeout(TIMEOUT);
    let top = lay_out_many_findings(&live.home);
    // The command receives everything as one answer.
    let check = run(&live.home, &top, &["check", "--json"]);
    assert!(check.stdout.len() > LIMIT, "{} bytes fit one answer", check.stdout.len());
    let whole: Value = serde_json::from_slice(&check.stdout).expect("one answer");
    assert_eq!(whole["nextCursor"], Value::Null);
    let files = whole["files"].as_array().expect("a list");
    let counts = files.iter().map(|it| it["findings"].as_array().expect("a list").len());
    assert_eq!(counts.sum::<usize>(), WORDY * 101, "a hundred of each, and how many more");

    let mut params = json!({"cwd": top, "limit": u32::MAX});
    let mut page = live.wire.call("skills/references", &params);
    let (mut n_pages, mut found) = (1, page["references"].clone());
    while page["truncated"] == true {
        params["cursor"] = page["nextCursor"].clone();
        page = live.wire.call("skills/references", &params);
        n_pages += 1;
        append_page(&mut found, &page["references"]);
    }
    assert!(n_pages > 1, "it fits one answer");
    assert_eq!(found.as_array().expect("a list").len(), WORDY * TIMES);
    assert_eq!(page["nextCursor"], Value::Null);
}

#[test]
fn editor_diagnoses_across_10000_skills() {
    let home = Home::new();
    let top = lay_out_many_skills(&home);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    editor.set_timeout(TIMEOUT);
    let (doc, other) = (top.join("CLAUDE.md"), top.join(".claude/skills/other/SKILL.md"));
    editor.open(&doc);
    editor.open(&other);
    editor.wait_for(&doc, &["ref/"], &["ref/unknown"]);
    editor.wait_for(&other, &["index/shad"], &["index/shadowed -> skill-09998"]);
    let stopped = run(&home, &top, &["stop"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));
}
