//! Skill directories that are swapped while their files are read.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use skills_testkit::fixture::lay_out;

use super::{SECRET, Victim};

/// Error codes allowed during a swap.
const CODES: [i64; 4] = [-32001, -32003, -32004, -32006];

const OWN: &str = "//- /.claude/skills/s/SKILL.md\n---\nname: s\ndescription: Is swapped.\n---\nown body\n\
    //- /.claude/skills/s/data.txt\nown data\n";

/// Number of calls; the long run sets `SKILLSD_TEST_ROUNDS=100000`.
fn rounds() -> usize {
    let number = std::env::var("SKILLSD_TEST_ROUNDS").ok();
    number.map_or(2_000, |it| it.parse().expect("SKILLSD_TEST_ROUNDS is a number"))
}

/// Stops the swapping thread, even if an assertion fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Swaps two paths repeatedly while `body` runs.
fn while_swapping(one: &Path, two: &Path, body: impl FnOnce()) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).expect("exchanged");
                thread::yield_now();
            }
        });
        let _end = StopOnDrop(&is_done);
        body();
    });
}

/// Reads the files of skill `s` with every method while its directory is swapped with `other`.
/// Returns the number of answers with its own files.
#[track_caller]
fn read_while_swapped(victim: &mut Victim, other: &Path) -> usize {
    let top = victim.top.clone();
    let dir = top.join(".claude/skills/s");
    let mut n_own = 0;
    let wire = &mut victim.live.wire;
    while_swapping(&dir, other, || {
        for round in 0..rounds() {
            let freshness = ["cached", "synced", "verified"][round / 4 % 3];
            let (method, mut params) = match round % 4 {
                0 => ("skills/read", json!({"relative": "data.txt"})),
                1 => ("skills/read", json!({"relative": "SKILL.md"})),
                2 => ("skills/resources", json!({})),
                _ => ("skills/load", json!({})),
            };
            params["cwd"] = json!(top);
            params["profile"] = json!("agentskills");
            params["freshness"] = json!(freshness);
            params["name"] = json!("s");
            match wire.try_call(method, &params) {
                Ok(answer) => {
                    let text = answer.to_string();
                    assert!(!text.contains(SECRET), "{method} {freshness}: {answer}");
                    assert!(!text.contains("secret.txt"), "{method} {freshness}: {answer}");
                    n_own += usize::from(holds_own(method, &answer));
                }
                Err(error) => {
                    assert!(CODES.contains(&error.code), "{method} {freshness}: {error:?}");
                    assert!(error.data["hint"].is_string(), "{error:?}");
                }
            }
        }
    });
    n_own
}

fn holds_own(method: &str, answer: &Value) -> bool {
    match method {
        "skills/read" => answer["content"].as_str().is_some_and(|it| it.contains("own ")),
        "skills/resources" => answer.to_string().contains("data.txt"),
        _ => answer["output"].as_str().is_some_and(|it| it.contains("own body")),
    }
}

fn lay_out_foreign_skill(at: &Path) -> PathBuf {
    let text = format!(
        "//- /SKILL.md\n---\nname: stranger\ndescription: Is another.\n---\n{SECRET}\n\
         //- /data.txt\n{SECRET}\n//- /secret.txt\n{SECRET}\n"
    );
    lay_out(at, &text);
    at.to_path_buf()
}

#[test]
fn directory_swapped_for_a_link_returns_own_files_or_an_error() {
    let mut victim = Victim::new(OWN);
    lay_out_foreign_skill(&victim.live.home.path().join("other"));
    victim.link("aside", "other");
    let aside = victim.top.join("aside");
    let n_own = read_while_swapped(&mut victim, &aside);
    assert!(n_own > 0, "nothing was ever answered");
}

#[test]
fn directory_swapped_for_another_returns_own_files_or_an_error() {
    let mut victim = Victim::new(OWN);
    let aside = lay_out_foreign_skill(&victim.top.join("aside"));
    let n_own = read_while_swapped(&mut victim, &aside);
    assert!(n_own > 0, "nothing was ever answered");
}

#[test]
fn trusted_directory_swapped_for_a_link_returns_own_files_or_an_error() {
    let mut victim = Victim::new(OWN);
    victim.trust();
    lay_out_foreign_skill(&victim.live.home.path().join("other"));
    victim.link("aside", "other");
    let aside = victim.top.join("aside");
    let n_own = read_while_swapped(&mut victim, &aside);
    assert!(n_own > 0, "nothing was ever answered");
}

#[test]
fn nested_worktree_swapped_for_a_link_during_a_check_returns_no_other_files() {
    let text = "//- /sub/docs/SKILL.md\n---\nname: docs\ndescription: Is swapped.\n---\nown body\n";
    let mut victim = Victim::new(text);
    std::fs::create_dir(victim.top.join("sub/.git")).expect("made");
    let other = victim.live.home.path().join("other");
    let secret =
        format!("//- /docs/SKILL.md\n---\nname: {SECRET}\n{SECRET}: 1\ndescription: Tells.\n---\n");
    lay_out(&other, &secret);
    std::fs::create_dir(other.join(".git")).expect("made");
    victim.link("aside", "other");
    let (top, sub) = (victim.top.clone(), victim.top.join("sub"));
    let wire = &mut victim.live.wire;
    let mut n_checked = 0;
    while_swapping(&sub, &top.join("aside"), || {
        for _ in 0..rounds() {
            let params = json!({"cwd": top, "profile": "claude-code", "freshness": "cached",
                "paths": [sub.join("docs/SKILL.md")]});
            let answer = format!("{:?}", wire.try_call("skills/check", &params));
            assert!(!answer.contains(SECRET), "{answer}");
            n_checked += usize::from(answer.starts_with("Ok"));
        }
    });
    assert!(n_checked > 0, "nothing was ever checked");
}
