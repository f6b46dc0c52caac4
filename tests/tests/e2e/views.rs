//! Inputs of a view besides files: additional directories, freshness and the worktree.

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;

use crate::support::{Live, entries, listed};

fn names(result: &Value) -> Vec<String> {
    listed(result).into_iter().map(|skill| skill.name).collect()
}

#[test]
fn additional_dirs_are_part_of_the_view() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let other = live.home.work().join("other");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    write_skill(&other.join(".agents/skills/b"), "b", "d");
    write_skill(&other.join(".agents/skills/a"), "a", "of the other");
    let with = json!({"cwd": top, "additionalDirs": [other], "include": ["all"]});
    let result = live.wire.call("skills/list", &with);
    let states: Vec<_> = entries(&result)
        .iter()
        .map(|entry| (entry["name"].clone(), entry["scope"].clone(), entry["state"].clone()))
        .collect();
    let expected = [
        ("a", "project", "active"),
        ("a", "additional", "shadowed"),
        ("b", "additional", "active"),
    ];
    assert_eq!(
        states,
        expected.map(|(name, scope, state)| (json!(name), json!(scope), json!(state)))
    );
    // Without additional directories it is a separate view.
    assert_eq!(names(&live.wire.call("skills/list", &json!({"cwd": top}))), ["a"]);
    // Additional directories are watched like the worktree.
    write_skill(&other.join(".agents/skills/c"), "c", "d");
    let result = live.wire.call("skills/list", &json!({"cwd": top, "additionalDirs": [other]}));
    assert_eq!(names(&result), ["a", "b", "c"]);
}

#[test]
fn every_freshness_returns_the_same_list_when_unchanged() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    for freshness in ["cached", "synced", "verified", "cached"] {
        let params = json!({"cwd": top, "freshness": freshness});
        assert_eq!(names(&live.wire.call("skills/list", &params)), ["a"], "{freshness}");
    }
    write_skill(&top.join(".agents/skills/b"), "b", "d");
    let verified = json!({"cwd": top, "freshness": "verified"});
    assert_eq!(names(&live.wire.call("skills/list", &verified)), ["a", "b"]);
    // A cached answer includes everything that any caller has seen.
    let cached = json!({"cwd": top, "freshness": "cached"});
    assert_eq!(names(&live.wire.call("skills/list", &cached)), ["a", "b"]);
}

#[test]
fn sync_makes_writes_visible_to_cached_calls() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let cached = json!({"cwd": top, "freshness": "cached"});
    live.wire.call("skills/list", &cached);
    for round in 0..50 {
        write_skill(&top.join(format!(".agents/skills/s{round:02}")), &format!("s{round:02}"), "d");
        live.wire.call("server/sync", &json!({"cwd": top}));
        let names = names(&live.wire.call("skills/list", &cached));
        assert_eq!(names.len(), round + 1, "{names:?}");
    }
}

#[test]
fn worktree_is_opened_listed_and_closed() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    let inside = json!({"cwd": top.join(".agents")});
    let opened = live.wire.call("worktree/open", &inside);
    assert_eq!(
        (&opened["worktree"]["path"], &opened["worktree"]["pinned"]),
        (&json!(top), &json!(true))
    );
    let listed = live.wire.call("worktree/list", &json!({}));
    assert_eq!(listed["worktrees"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["worktrees"][0]["path"], json!(top));
    for was_open in [true, false] {
        let closed = live.wire.call("worktree/close", &inside);
        assert_eq!(closed["closed"], was_open, "{closed}");
    }
}

#[test]
fn views_of_two_profiles_are_independent() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    write_skill(&top.join(".claude/skills/dir"), "named", "d");
    let list = |live: &mut Live, profile: &str| {
        names(&live.wire.call("skills/list", &json!({"cwd": top, "profile": profile})))
    };
    for _ in 0..3 {
        assert_eq!(list(&mut live, "agentskills"), ["a", "named"]);
        assert_eq!(list(&mut live, "claude-code"), ["dir"]);
    }
}
