//! Lists updated by differences (`since`): they equal the whole list after any sequence of changes.
//!
//! Several followers each keep a list, with different parameters and page sizes, and sometimes ask
//! for the changes since their clock. Whatever the age of the clock, and also after the journal has
//! dropped it, the daemon was replaced or the view was dropped, the result equals a fresh list in
//! the same order, and a difference contains no unchanged entry. The order of events depends on a
//! seed (`SKILLSD_TEST_SEED`, `SKILLSD_TEST_ROUNDS`).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::fixture::{skill_text, write_skill};
use skills_testkit::{Daemon, Framing, Wire};

use crate::support::{Dice, Live, entries, env_number, exe};

/// A list kept up to date by differences.
struct Follower {
    params: Value,
    clock: Option<String>,
    list: Vec<Value>,
    n_differences: usize,
}

impl Follower {
    fn new(cwd: &Path, more: &Value) -> Self {
        let mut params = json!({ "cwd": cwd });
        let more = more.as_object().expect("parameters are an object");
        params.as_object_mut().expect("as above").extend(more.clone());
        Self { params, clock: None, list: Vec::new(), n_differences: 0 }
    }

    /// Asks for the changes, page by page, and applies them once they are complete. Returns whether
    /// the answer was the whole list.
    #[track_caller]
    fn follow(&mut self, wire: &mut Wire) -> bool {
        let mut params = self.params.clone();
        params["since"] = json!(self.clock);
        let mut pages = vec![wire.call("skills/list", &params)];
        while let Some(cursor) = pages.last().and_then(|it| it["nextCursor"].as_str()) {
            params["cursor"] = json!(cursor);
            pages.push(wire.call("skills/list", &params));
        }
        let all = |key: &str| -> Vec<Value> {
            let values = pages.iter().filter_map(|it| it[key].as_array());
            values.flatten().cloned().collect()
        };
        let (skills, removed, positions) = (all("skills"), all("removed"), all("positions"));
        self.clock = pages[0]["clock"].as_str().map(str::to_owned);
        assert!(pages.iter().all(|it| it["clock"] == pages[0]["clock"]), "{pages:#?}");
        if pages[0]["fresh"] == true {
            assert!(removed.is_empty() && positions.is_empty(), "{pages:#?}");
            self.list = skills;
            return true;
        }
        self.n_differences += 1;
        assert_eq!(skills.len(), positions.len(), "{pages:#?}");
        for gone in &removed {
            // Only known entries are reported as removed.
            let known = |it: &Value| it["path"] == gone["path"] && it["name"] == gone["name"];
            assert!(self.list.iter().any(known), "{gone} was not in the list");
        }
        for told in &skills {
            assert!(!self.list.contains(told), "{told} is no news");
        }
        let told = |it: &Value| removed.iter().chain(&skills).any(|new| new["path"] == it["path"]);
        self.list.retain(|it| !told(it));
        for (skill, position) in skills.into_iter().zip(&positions) {
            let position = position.as_u64().expect("a position is a number");
            self.list.insert(usize::try_from(position).expect("it is small"), skill);
        }
        false
    }

    #[track_caller]
    fn check(&mut self, wire: &mut Wire, history: &[String]) -> bool {
        let fresh = self.follow(wire);
        let mut params = self.params.clone();
        params.as_object_mut().expect("an object").remove("limit");
        let whole = entries(&wire.call("skills/list", &params));
        let last = history.len().saturating_sub(8);
        assert_eq!(self.list, whole, "{} after {:#?}", self.params, &history[last..]);
        fresh
    }
}

fn followers(top: &Path) -> Vec<Follower> {
    [
        json!({}),
        json!({"include": ["all"]}),
        json!({"include": ["all"], "limit": 2}),
        json!({"include": ["conditional", "shadowed"]}),
        json!({"limit": 3}),
        json!({"profile": "claude-code"}),
        json!({"profile": "claude-code", "include": ["all"], "limit": 1}),
    ]
    .iter()
    .map(|more| Follower::new(top, more))
    .collect()
}

/// Makes one change in the worktree and returns its description.
fn change(top: &Path, dice: &mut Dice, round: usize) -> String {
    let roots = [".agents/skills", ".claude/skills", ".opencode/skill"];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut dir = || -> PathBuf { top.join(roots[dice.below(3)]).join(names[dice.below(8)]) };
    let (dir, other) = (dir(), dir());
    let name = names[dice.below(8)];
    let extra = ["", "paths: src/**\n", "disable-model-invocation: true\n", "description: [x\n"];
    let text =
        format!("---\nname: {name}\ndescription: of round {round}\n{}---\n", extra[dice.below(4)]);
    match dice.below(8) {
        0..=2 => {
            write_skill(&dir, name, "new");
            fs::write(dir.join("SKILL.md"), text).expect("written");
            format!("wrote {}", dir.display())
        }
        3 => {
            // Unchanged, or changed back.
            write_skill(&dir, "same", "always the same");
            format!("wrote the same to {}", dir.display())
        }
        4 => {
            // Fails if the directory does not exist.
            let _ = fs::remove_dir_all(&dir);
            format!("removed {}", dir.display())
        }
        5 => {
            let done = fs::rename(&dir, &other).is_ok();
            format!("renamed {} to {}: {done}", dir.display(), other.display())
        }
        6 => {
            let done = fs::write(dir.join("SKILL.md"), skill_text(name, "body")).is_ok();
            format!("rewrote {}: {done}", dir.display())
        }
        _ => "nothing".to_owned(),
    }
}

#[test]
fn list_kept_by_differences_equals_the_whole_list() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let mut dice = Dice::new(env_number("SKILLSD_TEST_SEED").unwrap_or(0x51ce));
    let mut followers = followers(&top);
    let mut history = Vec::new();
    let mut n_fresh = 0;
    for round in 0..env_number("SKILLSD_TEST_ROUNDS").unwrap_or(300) {
        for _ in 0..dice.below(4) {
            history.push(change(&top, &mut dice, round));
            // Some states are never seen by any view; some are seen by another view of the
            // worktree.
            if dice.below(2) == 0 {
                live.wire.call("server/sync", &json!({ "cwd": top }));
            }
        }
        // Followers ask at different intervals, so that clocks of all ages occur.
        let n_followers = followers.len();
        let which = dice.below(n_followers).min(dice.below(n_followers));
        n_fresh += usize::from(followers[which].check(&mut live.wire, &history));
    }
    let n_differences: usize = followers.iter().map(|it| it.n_differences).sum();
    // Only the first answer of each follower, and few others, may be whole lists.
    assert!(n_differences > n_fresh * 5, "{n_differences} differences, {n_fresh} whole lists");
}

#[test]
fn unknown_clock_returns_the_whole_list() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    let mut follower = Follower::new(&top, &json!({"include": ["all"]}));
    let mut other = Follower::new(&top, &json!({}));
    let history = Vec::new();
    assert!(follower.check(&mut live.wire, &history) && other.check(&mut live.wire, &history));
    // More changes than the journal keeps.
    for round in 0..300 {
        write_skill(&top.join(".agents/skills/a"), "a", &format!("d{round}"));
        live.wire.call("server/sync", &json!({ "cwd": top }));
    }
    assert!(follower.check(&mut live.wire, &history), "the journal is bounded");
    assert!(!follower.check(&mut live.wire, &history), "and goes on");
    // A single change of more skills than the journal keeps is still sent as a difference from the
    // previous state.
    for index in 0..1100 {
        write_skill(&top.join(format!("aside/s{index}")), &format!("s{index}"), "d");
    }
    // One rename, so that the result does not depend on the daemon's speed.
    fs::rename(top.join("aside"), top.join(".agents/skills/many")).expect("moved");
    assert!(!follower.check(&mut live.wire, &history));
    write_skill(&top.join(".agents/skills/a"), "a", "at last");
    assert!(!follower.check(&mut live.wire, &history));
    // A clock is only valid for the parameters it was returned for.
    std::mem::swap(&mut follower.clock, &mut other.clock);
    assert!(follower.check(&mut live.wire, &history) && other.check(&mut live.wire, &history));
    // The view was dropped.
    live.wire.call("worktree/open", &json!({ "cwd": top }));
    live.wire.call("worktree/close", &json!({ "cwd": top }));
    assert!(follower.check(&mut live.wire, &history), "the view was dropped");
    assert!(!follower.check(&mut live.wire, &history));
    // Another daemon process.
    live.daemon.kill();
    live.daemon = Daemon::start(&live.home, exe());
    live.wire = live.daemon.connect(Framing::Header);
    assert!(follower.check(&mut live.wire, &history), "the daemon was replaced");
    assert!(!follower.check(&mut live.wire, &history));
    // Invalid clocks.
    for clock in ["", "x", ":::", "1:2:3:4", "a/b/c", "18446744073709551615"] {
        follower.clock = Some(clock.to_owned());
        assert!(follower.check(&mut live.wire, &history), "{clock}");
    }
}

#[test]
fn cursor_of_a_changed_list_is_refused() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for name in ["a", "b", "c"] {
        write_skill(&top.join(".agents/skills").join(name), name, "d");
    }
    let first = live.wire.call("skills/list", &json!({"cwd": top, "limit": 1}));
    let params = json!({"cwd": top, "limit": 1, "cursor": first["nextCursor"]});
    assert_eq!(entries(&live.wire.call("skills/list", &params)).len(), 1);
    write_skill(&top.join(".agents/skills/a"), "a", "other");
    let refused = live.wire.try_call("skills/list", &params).expect_err("it has changed");
    assert!(refused.message.contains("has changed"), "{refused}");
}
