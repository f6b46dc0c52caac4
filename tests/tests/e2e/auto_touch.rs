//! Sessions that count writes as touches, and subscriptions that follow a session.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::wait::wait_for;
use skills_testkit::{Daemon, Framing, Home, Wire};

use crate::support::{entries, exe};

const CONDITIONAL: &str = "---\ndescription: Waits.\npaths: '*.css'\n---\n";

/// Lays out a worktree with a package that has its own skills, and a user skill. All skills but one
/// are conditional on a style sheet.
fn monorepo(home: &Home) -> PathBuf {
    let own = home.path().join(".claude/skills/own/SKILL.md");
    fs::create_dir_all(own.parent().expect("a directory")).expect("made");
    fs::write(own, CONDITIONAL).expect("written");
    home.worktree(
        "w",
        &format!(
            "//- /.git/HEAD\nref: refs/heads/main\n\
             //- /.claude/skills/here/SKILL.md\n{CONDITIONAL}\
             //- /packages/web/.claude/skills/there/SKILL.md\n---\ndescription: There.\n---\n"
        ),
    )
}

fn claude_params(top: &Path) -> Value {
    json!({"cwd": top, "profile": "claude-code", "session": "s"})
}

fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

/// Reads events until one of this kind comes.
#[track_caller]
fn next_event(wire: &mut Wire, kind: &str) -> Value {
    loop {
        let note = wire.note();
        if note["params"]["result"]["kind"] == kind {
            return note["params"]["result"].clone();
        }
    }
}

fn skill_names(list: &Value) -> Vec<Value> {
    entries(list).iter().map(|it| it["name"].clone()).collect()
}

fn activated_paths(wire: &mut Wire) -> Vec<String> {
    let got = wire.call("session/get", &json!({"session": "s"}));
    let all = got["activated"].as_array().expect("a list").iter();
    all.map(|it| it["path"].as_str().expect("a path").to_owned()).collect()
}

#[test]
fn auto_session_counts_writes_far_from_any_skill() {
    let home = Home::new();
    let top = monorepo(&home);
    let deep = home.path().join(".claude/skills/deep/SKILL.md");
    fs::create_dir_all(deep.parent().expect("a directory")).expect("made");
    fs::write(&deep, CONDITIONAL.replace("*.css", "src/**")).expect("written");
    fs::create_dir_all(top.join("src/deep/er")).expect("made");
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    let mut wire = daemon.connect(Framing::Header);
    let opened = wire.call("session/open", &with(claude_params(&top), "auto", json!(true)));
    assert!(!opened.to_string().contains("auto-watch"), "{opened}");
    let kinds = json!(["session/changed"]);
    following.call("events/subscribe", &with(claude_params(&top), "kinds", kinds));
    fs::write(top.join("src/deep/er/x"), "x").expect("written");
    next_event(&mut following, "session/changed");
    assert_eq!(activated_paths(&mut wire), [deep.to_str().expect("UTF-8")]);
}

#[test]
fn auto_session_counts_writes_as_touches() {
    let home = Home::new();
    let top = monorepo(&home);
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    let mut wire = daemon.connect(Framing::Header);
    wire.call("session/open", &with(claude_params(&top), "auto", json!(true)));
    let kinds = json!(["session/changed", "skills/changed"]);
    following.call("events/subscribe", &with(claude_params(&top), "kinds", kinds));
    fs::write(top.join("a.css"), "a {}").expect("written");
    let changed = next_event(&mut following, "session/changed");
    assert_eq!(changed["session"], "s", "{changed}");
    // Any process may have written the file, so skills of the worktree stay inactive until it is
    // trusted.
    let own = home.path().join(".claude/skills/own/SKILL.md");
    assert_eq!(activated_paths(&mut wire), [own.to_str().expect("UTF-8")]);
    let got = wire.call("session/get", &json!({"session": "s"}));
    assert_eq!(got["activated"][0]["matched"]["path"], json!(top.join("a.css")), "{got}");
    let health = got["health"].as_array().expect("a list");
    let untrusted = health.iter().find(|it| it["code"] == "auto-untrusted");
    assert_eq!(untrusted.expect("an entry")["path"], json!(top), "{got}");
    wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let trusted = wire.call("session/get", &json!({"session": "s"}));
    assert!(!trusted.to_string().contains("auto-untrusted"), "{trusted}");
    wire.grant("trust/set", &json!({"dir": top, "trusted": false}));
    // A touch reported by the agent activates them.
    let touch = with(claude_params(&top), "paths", json!([top.join("a.css")]));
    let touched = wire.call("session/touch", &touch);
    assert_eq!(touched["activated"][0]["name"], "here", "{touched}");
    daemon.kill();
    // The next daemon restores the session and watches its worktree without a call that names it.
    fs::write(home.path().join(".claude/skills/own/SKILL.md"), CONDITIONAL).expect("written");
    let late = home.path().join(".claude/skills/late/SKILL.md");
    fs::create_dir_all(late.parent().expect("a directory")).expect("made");
    fs::write(&late, CONDITIONAL.replace("css", "html")).expect("written");
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    following.call("events/subscribe", &json!({"kinds": ["session/changed"]}));
    let watched = |wire: &mut Wire| {
        let status = wire.call("server/status", &json!({}));
        status["worktrees"].as_array().is_some_and(|it| it.len() == 1).then_some(())
    };
    let mut wire = daemon.connect(Framing::Header);
    wait_for("the worktree of the session", || watched(&mut wire));
    // The worktree may be open shortly before it is watched.
    let mut n_written = 0;
    wait_for("the touch", || {
        n_written += 1;
        fs::write(top.join(format!("a{n_written}.html")), "").expect("written");
        // `session/list` does not use the session, so this call cannot be what restores it.
        let list = wire.call("session/list", &json!({}));
        (list["sessions"][0]["activated"] == 3).then_some(())
    });
    let changed = next_event(&mut following, "session/changed");
    assert_eq!(changed["session"], "s", "{changed}");
    assert!(activated_paths(&mut wire).contains(&late.to_str().expect("UTF-8").to_owned()));
}

#[test]
fn subscription_follows_its_session_to_another_worktree() {
    let home = Home::new();
    let top = monorepo(&home);
    let other =
        home.worktree("x", "//- /.claude/skills/else/SKILL.md\n---\ndescription: Else.\n---\n");
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    let mut staying = daemon.connect(Framing::Header);
    let mut wire = daemon.connect(Framing::Header);
    wire.call("session/open", &claude_params(&top));
    let kinds = json!(["skills/changed", "session/changed"]);
    following.call("events/subscribe", &json!({"session": "s", "kinds": kinds}));
    // A subscription with an explicit `cwd` keeps it.
    staying
        .call("events/subscribe", &with(claude_params(&top), "kinds", json!(["skills/changed"])));
    wire.call("session/open", &claude_params(&other));
    let moved = next_event(&mut following, "skills/changed");
    assert_eq!(moved["cwd"], json!(other), "{moved}");
    let cached = json!({"session": "s", "freshness": "cached"});
    let list = wire.call("skills/list", &cached);
    assert_eq!(
        (skill_names(&list), &list["clock"]),
        (vec![json!("else")], &moved["clock"]),
        "{list}"
    );
    // Changes in the new worktree are reported from now on, and changes in the old one are not.
    let new = "---\ndescription: New.\n---\n";
    for dir in [&top, &other] {
        fs::create_dir_all(dir.join(".claude/skills/new")).expect("made");
        fs::write(dir.join(".claude/skills/new/SKILL.md"), new).expect("written");
    }
    let changed = next_event(&mut following, "skills/changed");
    assert_eq!(changed["cwd"], json!(other), "{changed}");
    let changed = next_event(&mut staying, "skills/changed");
    assert_eq!(changed["cwd"], json!(top), "{changed}");
    // Closing the session is reported too.
    wire.call("session/close", &json!({"session": "s"}));
    let ended = next_event(&mut following, "session/changed");
    assert_eq!(ended["session"], "s", "{ended}");
}

#[test]
fn loading_a_skill_notifies_session_subscribers() {
    let home = Home::new();
    let top = monorepo(&home);
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    let mut wire = daemon.connect(Framing::Header);
    wire.call("session/open", &claude_params(&top));
    wire.call("session/touch", &with(claude_params(&top), "paths", json!([top.join("a.css")])));
    let kinds = json!(["session/changed"]);
    following.call("events/subscribe", &json!({"session": "s", "kinds": kinds}));
    let load = with(with(claude_params(&top), "name", json!("here")), "agent", json!("helper"));
    wire.call("skills/load", &load);
    next_event(&mut following, "session/changed");
    let agent = json!({"session": "s", "agent": "helper"});
    let invoked = wire.call("session/invoked", &agent);
    assert_eq!(invoked["skills"][0]["name"], "here", "{invoked}");
    wire.call("session/agentEnd", &agent);
    next_event(&mut following, "session/changed");
    assert_eq!(wire.call("session/invoked", &agent)["skills"], json!([]));
}

#[test]
fn subscription_follows_the_view_of_its_session() {
    let home = Home::new();
    let top = monorepo(&home);
    let daemon = Daemon::start(&home, exe());
    let mut following = daemon.connect(Framing::Header);
    let mut wire = daemon.connect(Framing::Header);
    wire.call("session/open", &claude_params(&top));
    let subscribed = following
        .call("events/subscribe", &with(claude_params(&top), "kinds", json!(["skills/changed"])));
    let before = subscribed["clock"].clone();
    let file = top.join("packages/web/src/a.css");
    wire.call("session/touch", &with(claude_params(&top), "paths", json!([file])));
    let changed = next_event(&mut following, "skills/changed");
    // The announced view is available at once; a clock of another view is unknown to it.
    let cached = with(claude_params(&top), "freshness", json!("cached"));
    let list = wire.call("skills/list", &with(cached.clone(), "since", before));
    assert_eq!((&list["fresh"], &list["clock"]), (&json!(true), &changed["clock"]), "{list}");
    assert_eq!(skill_names(&list), ["own", "here", "there"]);
    // The subscription now follows this view, so changes in the discovered directory are reported.
    let there = top.join("packages/web/.claude/skills/there/SKILL.md");
    fs::write(&there, "---\ndescription: Changed.\n---\n").expect("written");
    let changed = next_event(&mut following, "skills/changed");
    let list = wire.call("skills/list", &with(cached, "since", list["clock"].clone()));
    assert_eq!((&list["fresh"], &list["clock"]), (&json!(false), &changed["clock"]), "{list}");
    assert_eq!(entries(&list)[0]["description"], "Changed.", "{list}");
}

#[test]
fn listing_with_only_new_names_each_skill_once_per_agent() {
    let home = Home::new();
    let top = monorepo(&home);
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Header);
    let mut render = |agent: Option<&str>| {
        let mut params = with(claude_params(&top), "onlyNew", json!(true));
        if let Some(agent) = agent {
            params["agent"] = json!(agent);
        }
        let it = wire.call("catalog/render", &params);
        (it["count"].as_u64(), it["skillCount"].as_u64(), it["isInitial"].as_bool())
    };
    assert_eq!(render(None), (Some(0), Some(0), Some(true)));
    let mut other = daemon.connect(Framing::Header);
    let file = top.join("packages/web/a.css");
    other.call("session/touch", &with(claude_params(&top), "paths", json!([file])));
    assert_eq!(render(None), (Some(3), Some(3), Some(true)));
    assert_eq!(render(None), (Some(0), Some(3), Some(false)));
    // A second agent in the session has not been given the listing yet.
    assert_eq!(render(Some("helper")), (Some(3), Some(3), Some(true)));
    fs::create_dir_all(top.join(".claude/skills/new")).expect("made");
    fs::write(top.join(".claude/skills/new/SKILL.md"), "---\ndescription: New.\n---\n")
        .expect("written");
    drop(other);
    daemon.kill();
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Header);
    let params = with(claude_params(&top), "onlyNew", json!(true));
    let told = wire.call("catalog/render", &params);
    assert_eq!((&told["count"], &told["skillCount"]), (&json!(1), &json!(4)), "{told}");
    assert!(told["text"].as_str().is_some_and(|it| it.contains("- new: New.")), "{told}");
}

#[test]
fn over_budget_listing_drops_the_description_of_the_less_used_skill() {
    let home = Home::new();
    let long = |name: &str| {
        let description = format!("{name} ").repeat(60);
        format!(
            "//- /.claude/skills/{name}/SKILL.md\n---\ndescription: {description}\n---\nBody.\n"
        )
    };
    let top = home.worktree("w", &format!("{}{}", long("first"), long("second")));
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Header);
    let budget = with(claude_params(&top), "budgetChars", json!(600));
    let whole = |wire: &mut Wire, name: &str| {
        let catalog = wire.call("catalog/render", &budget);
        let text = catalog["text"].as_str().expect("a text").to_owned();
        text.contains(format!("{name} ").repeat(50).trim())
    };
    let uses = with(claude_params(&top), "name", json!("second"));
    wire.call("session/open", &claude_params(&top));
    let unused = (whole(&mut wire, "first"), whole(&mut wire, "second"));
    wire.call("skills/load", &uses);
    let used = (whole(&mut wire, "first"), whole(&mut wire, "second"));
    assert_eq!((unused, used), ((true, false), (false, true)));
}
