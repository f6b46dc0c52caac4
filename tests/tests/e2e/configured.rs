//! The configuration and the logs of the real daemon, as a user meets them.

use std::fs;
use std::path::Path;

use serde_json::json;
use skills_testkit::daemon::{gone, listener, status};
use skills_testkit::{Daemon, Framing, Home, wait_for};

use crate::support::{exe, run, run_json, stderr, stdout};

const ONE_SKILL: &str =
    "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: a secret plan\n---\nThe body.\n";

fn configure(home: &Home, text: &str) {
    let dir = home.config_dir().join("skillsd");
    fs::create_dir_all(&dir).expect("a directory can be made");
    fs::write(dir.join("config.toml"), text).expect("a file can be written");
}

fn logs(home: &Home) -> String {
    let dir = home.state_dir().join("skillsd");
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect()
}

#[test]
fn an_edit_counts_for_the_next_command_with_a_daemon_and_without() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let profile = |args: &[&str]| run_json(&home, &top, args)["profile"].clone();
    assert_eq!(profile(&["explain"]), "agentskills");
    configure(&home, "profile = \"claude-code\"\n");
    assert_eq!(profile(&["explain"]), "claude-code");
    assert_eq!(profile(&["explain", "--no-daemon"]), "claude-code");
    fs::write(top.join(".skillsd.toml"), "profile = \"agentskills\"\n").expect("written");
    assert_eq!(profile(&["explain"]), "agentskills");
    assert_eq!(profile(&["explain", "--no-daemon"]), "agentskills");
}

#[test]
fn a_broken_edit_is_told_by_every_command_and_stops_none() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "profile = \"claude-code\"\n");
    assert_eq!(run_json(&home, &top, &["explain"])["profile"], "claude-code");
    configure(&home, "profile = \"agentskills\"\n\n[deamon]\n");
    assert_eq!(run_json(&home, &top, &["explain"])["profile"], "claude-code");
    for args in [["list"], ["status"]] {
        let output = run(&home, &top, &args);
        assert!(output.status.success());
        let said = home.redact(&(stdout(&output) + &stderr(&output)));
        let expected = "line 3, column 2: there is no key `deamon`";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("~/.config/skillsd/config.toml"), "{said}");
    }
}

#[test]
fn the_log_names_methods_and_durations_and_no_content() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "log.level = \"debug\"\n");
    run_json(&home, &top, &["show", "a"]);
    assert!(run(&home, &top, &["stop"]).status.success());
    let text = wait_for("the log to be written", || {
        let text = logs(&home);
        text.contains("ended").then_some(text)
    });
    let answered =
        text.lines().find(|line| line.contains("skills/get") && line.contains("elapsed"));
    assert!(answered.is_some(), "{text}");
    for content in ["secret plan", "The body", "PATH=", "XDG_STATE_HOME"] {
        assert!(!text.contains(content), "{content}: {text}");
    }
    // The level is taken back without a restart.
    run_json(&home, &top, &["list"]);
    configure(&home, "log.level = \"off\"\n");
    run_json(&home, &top, &["list"]);
    let before = logs(&home).len();
    run_json(&home, &top, &["list"]);
    assert_eq!(logs(&home).len(), before);
}

#[test]
fn a_daemon_that_nobody_needs_ends_unless_a_worktree_is_kept() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "daemon.idle_exit = 1\n");
    run_json(&home, &top, &["list"]);
    let pid = listener(&home.socket()).expect("the command left a daemon behind");
    wait_for("the idle daemon to go", || gone(pid).then_some(()));
    assert!(!home.socket().exists(), "it takes its socket with it");

    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    wire.call("worktree/open", &json!({"cwd": top}));
    // A connection keeps it, and so does the worktree when the connection has gone.
    drop(wire);
    std::thread::park_timeout(std::time::Duration::from_secs(2));
    assert_eq!(listener(&home.socket()), Some(daemon.pid()));
    let mut wire = daemon.connect(Framing::Lines);
    wire.call("worktree/close", &json!({"cwd": top}));
    drop(wire);
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn a_daemon_in_the_foreground_stays() {
    let home = Home::new();
    let daemon = Daemon::start(&home, exe());
    assert_eq!(status(&home.socket())["config"]["state"], "absent");
    assert_eq!(listener(&home.socket()), Some(daemon.pid()));
}

#[track_caller]
fn ends_after(change: impl FnOnce(&Path)) {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let daemon = Daemon::start(&home, exe());
    change(&home.socket());
    // Whoever comes next is served at once, and the one that nobody finds any more ends.
    assert_eq!(run_json(&home, &top, &["list"])["skills"].as_array().map(Vec::len), Some(1));
    let next = listener(&home.socket()).expect("a daemon listens");
    assert_ne!(next, daemon.pid());
    assert_eq!(daemon.wait(), Some(0));
    assert_eq!(listener(&home.socket()), Some(next), "its end takes nothing from the next");
    let mut wire =
        skills_testkit::Wire::connect(&home.socket(), Framing::Lines).expect("it listens");
    let health = wire.call("skills/list", &json!({"cwd": top}))["health"].clone();
    assert_eq!(health, json!([]), "the next still hears of changes");
}

#[test]
fn a_daemon_whose_socket_or_directory_is_gone_ends() {
    ends_after(|socket| fs::remove_file(socket).expect("it is there"));
    ends_after(|socket| {
        fs::remove_dir_all(socket.parent().expect("it has one")).expect("it is there");
    });
}
