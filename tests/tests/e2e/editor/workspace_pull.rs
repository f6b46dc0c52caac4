//! Requests for the diagnostics of a workspace that are held open until something changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

const PULL: &str = "workspace/diagnostic";

/// Skills of the worktree, and changes to them.
const SKILLS: usize = 8;
const CHANGES: usize = 12;

/// The most time from a change to its report. A loaded machine needs a part of it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Changes a skill in one of the ways of editors and agents, so that it has one more finding.
/// Returns its file.
fn change(top: &Path, number: usize) -> PathBuf {
    let skills = top.join(".claude/skills");
    let file = skills.join(format!("skill-{}", number % SKILLS)).join("SKILL.md");
    let link = format!("\nSee [it](references/n{number}.md).\n");
    match number % 3 {
        0 => {
            let text = fs::read_to_string(&file).expect("it was written") + &link;
            fs::write(&file, text).expect("it can be written");
            file
        }
        1 => {
            let text = fs::read_to_string(&file).expect("it was written") + &link;
            let other = file.with_file_name("SKILL.md.tmp");
            fs::write(&other, text).expect("it can be written");
            fs::rename(&other, &file).expect("it can be replaced");
            file
        }
        _ => {
            let name = format!("new-{number}");
            write_skill(&skills.join(&name), &name, "Does.")
        }
    }
}

#[test]
fn each_change_is_reported_while_a_workspace_pull_is_held() {
    for args in [&["--no-daemon"][..], &[]] {
        let home = Home::new();
        let top = home.worktree("w", "");
        for index in 0..SKILLS {
            let name = format!("skill-{index}");
            write_skill(&top.join(".claude/skills").join(&name), &name, "Does.");
        }
        let mut able = full_capabilities();
        able["textDocument"] = json!({"diagnostic": {}});
        let mut editor = Editor::start(&home, args, &[&top], able);
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        let mut take = |report: &Value| {
            let items = report["items"].as_array().expect("a list");
            let mut changed = Vec::new();
            for item in items.iter().filter(|it| it["kind"] == "full") {
                let uri = item["uri"].as_str().expect("an address").to_owned();
                known.insert(uri.clone(), item["resultId"].clone());
                changed.push(uri);
            }
            let known = known.iter().map(|(uri, id)| json!({"uri": uri, "value": id}));
            (changed, json!({"previousResultIds": known.collect::<Value>()}))
        };
        let first = editor.request(PULL, json!({"previousResultIds": []})).expect("it answers");
        let (_, mut params) = take(&first);
        for number in 0..CHANGES {
            let mut pull = editor.begin(PULL, params.clone());
            // The change comes sooner or later after the request.
            std::thread::sleep(Duration::from_millis(20 * (number as u64 % 4)));
            let begun = Instant::now();
            let file = uri(&change(&top, number));
            loop {
                let report = editor.answer(pull).expect("it answers");
                let (changed, next) = take(&report);
                params = next;
                if changed.contains(&file) {
                    break;
                }
                pull = editor.begin(PULL, params.clone());
            }
            let taken = begun.elapsed();
            assert!(taken < TIMEOUT, "{file} with {args:?} after {taken:?}");
        }
        if args.is_empty() {
            run(&home, &top, &["stop"]);
        }
    }
}
