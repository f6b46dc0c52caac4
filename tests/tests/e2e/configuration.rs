//! Configuration files and logs of the real daemon.

use std::fs;

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing, Home, wait_for};

use crate::support::{exe, run, run_json, skillsd, stderr, stdout};

const ONE_SKILL: &str =
    "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: a secret plan\n---\nThe body.\n";

pub(crate) fn configure(home: &Home, text: &str) {
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
fn configuration_edit_applies_to_the_next_command() {
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

/// Makes edits of every kind, with so many calls between them that the daemon no longer checks the
/// files on every call.
#[test]
fn configuration_edit_applies_to_the_next_call_after_many_calls() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Header);
    let dir = home.config_dir().join("skillsd");
    let (file, moved) = (dir.join("config.toml"), dir.with_file_name("moved"));
    let repository = top.join(".skillsd.toml");
    let write = |text: &str| configure(&home, text);
    let steps: [(&dyn Fn(), &str, usize); 9] = [
        (&|| write("limits.connections = 9\n"), "good", 0),
        (&|| write("nonsense = 9\n"), "broken", 1),
        (
            &|| {
                fs::write(dir.join("new"), "limits.connections = 8\n").expect("written");
                fs::rename(dir.join("new"), &file).expect("renamed");
            },
            "good",
            0,
        ),
        (&|| fs::remove_file(&file).expect("removed"), "absent", 0),
        (&|| write("x = \n"), "broken", 1),
        (&|| fs::rename(&dir, &moved).expect("renamed"), "absent", 0),
        (&|| fs::write(&repository, "nonsense\n").expect("written"), "absent", 1),
        (&|| fs::rename(&moved, &dir).expect("renamed"), "broken", 2),
        (&|| fs::remove_file(&repository).expect("removed"), "broken", 1),
    ];
    for (nth, (edit, state, n_unwell)) in steps.iter().enumerate() {
        let params = json!({"cwd": top, "freshness": "cached"});
        for _ in 0..30 {
            wire.call("skills/list", &params);
        }
        edit();
        let listed = wire.call("skills/list", &params);
        let health = listed["health"].as_array().expect("a list").len();
        let status = wire.call("server/status", &json!({}));
        assert_eq!((&status["config"]["state"], health), (&json!(state), *n_unwell), "step {nth}");
    }
}

#[test]
fn user_profile_and_its_edits_apply_at_once() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let names = |args: &[&str]| -> Vec<String> {
        let result = run_json(&home, &top, args);
        let skills = result["skills"].as_array().expect("a list").clone();
        skills.iter().map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    };
    let list = ["list", "--profile", "mine"];
    let unknown = run(&home, &top, &list);
    assert!(stderr(&unknown).contains("there is no profile `mine`"), "{}", stderr(&unknown));
    configure(&home, "[profiles.mine]\nbase = \"agentskills\"\n");
    assert_eq!(names(&list), ["a"]);
    assert_eq!(names(&["list", "--profile", "mine", "--no-daemon"]), ["a"]);
    let text = "[profiles.mine]\nbase = \"agentskills\"\nwithout_roots = [\".agents/skills\"]\n";
    configure(&home, text);
    assert_eq!(names(&list), [""; 0]);
    let explained = run_json(&home, &top, &["explain", "--profile", "mine"]);
    let step = &explained["steps"][0];
    assert_eq!(
        (&step["rule"], &step["evidence"]),
        (&"profile/roots".into(), &"configuration".into())
    );
    configure(&home, "[profiles.agentskills]\nname_check = \"at-most-0\"\n");
    let all = run_json(&home, &top, &["list", "--all"]);
    assert_eq!(all["skills"][0]["state"], "invalid");
    configure(&home, "");
    assert_eq!(names(&["list"]), ["a"]);
}

#[test]
fn broken_configuration_is_reported_by_every_command() {
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
        let expected = "line 3, column 2: unknown key `deamon`";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("~/.config/skillsd/config.toml"), "{said}");
    }
}

#[test]
fn log_names_methods_and_durations_but_no_content() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "log.level = \"debug\"\n");
    run_json(&home, &top, &["show", "a"]);
    assert!(run(&home, &top, &["stop"]).status.success());
    let text = wait_for("the log to be written", || {
        let text = logs(&home);
        text.contains("ended").then_some(text)
    });
    assert!(text.contains("listening"), "{text}");
    let answered =
        text.lines().find(|line| line.contains("skills/get") && line.contains("elapsed"));
    assert!(answered.is_some(), "{text}");
    for content in ["secret plan", "The body", "PATH=", "XDG_STATE_HOME"] {
        assert!(!text.contains(content), "{content}: {text}");
    }
    // The log level can be lowered without a restart.
    run_json(&home, &top, &["list"]);
    configure(&home, "log.level = \"off\"\n");
    run_json(&home, &top, &["list"]);
    let before = logs(&home).len();
    run_json(&home, &top, &["list"]);
    assert_eq!(logs(&home).len(), before);
}

#[test]
fn repository_may_select_a_user_profile() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    std::fs::write(top.join(".skillsd.toml"), "profile = \"house\"\n").expect("it is written");
    let profile = || run_json(&home, &top, &["explain"])["profile"].clone();
    let faults = || run_json(&home, &top, &["list"])["health"].to_string();
    assert_eq!(profile(), "agentskills");
    assert!(faults().contains("`profile` cannot be `house`"), "{}", faults());
    // The repository's file is unchanged; the set of known profiles is not.
    configure(&home, "[profiles.house]\nbase = \"codex\"\n");
    assert_eq!(profile(), "house");
    assert_eq!(faults(), "[]");
    configure(&home, "");
    assert_eq!(profile(), "agentskills");
    assert!(faults().contains("`profile` cannot be `house`"), "{}", faults());
}

#[test]
fn variables_of_a_users_profile_reach_the_daemon_from_each_command() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let roots = "[{ base = \"$HOUSE_DIR\", relative = \"skills\" }, \
                 { base = \"home\", relative = \"own\", switched_off_by = \"NO_OWN\" }]";
    configure(&home, &format!("[profiles.house]\nbase = \"agentskills\"\nroots = {roots}\n"));
    for (dir, name) in [("first/skills", "one"), ("second/skills", "two"), ("own", "mine")] {
        skills_testkit::fixture::write_skill(&home.path().join(dir).join(name), name, "d");
    }
    let listed = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = skillsd(&home, &[&["list", "--json"], args].concat());
        for (name, value) in variables {
            command.env(name, value);
        }
        let output = command.current_dir(&top).output().expect("it runs");
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|cause| panic!("{cause}: {}", stderr(&output)));
        let skills = answer["skills"].as_array().expect("a list").iter();
        skills.map(|it| it["name"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let [first, second] = ["first", "second"].map(|it| home.path().join(it));
    let [first, second] = [&first, &second].map(|it| it.to_str().expect("plain"));
    let house = ["--profile", "house"];
    // The first command starts the daemon, whose own variable the others must not get.
    assert_eq!(listed(&house, &[("HOUSE_DIR", first)]), ["one", "mine"]);
    assert_eq!(listed(&house, &[("HOUSE_DIR", second)]), ["two", "mine"]);
    assert_eq!(listed(&house, &[]), ["mine"]);
    assert_eq!(listed(&house, &[("HOUSE_DIR", second), ("NO_OWN", "1")]), ["two"]);
    fs::write(top.join(".skillsd.toml"), "profile = \"house\"\n").expect("written");
    assert_eq!(listed(&[], &[("HOUSE_DIR", second), ("NO_OWN", "true")]), ["two"]);
    assert_eq!(listed(&["--no-daemon"], &[("HOUSE_DIR", second)]), ["two", "mine"]);
}
