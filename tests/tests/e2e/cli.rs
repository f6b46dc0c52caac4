//! The command line: exit codes, `--json` equal to the wire result, and the same answers without a
//! daemon.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::daemon::listener;
use skills_testkit::fixture::write_skill;
use skills_testkit::{Framing, Home, Screen, Wire};

use crate::configuration::configure;
use crate::support::{run, run_json, sample, skillsd, stderr, stdout};

const TREE: &str = "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: first\n---\nBody.\n\
     //- /.agents/skills/b/SKILL.md\n---\nname: b\ndescription: x: y\npaths: src/**\n---\n\
     //- /.claude/skills/a/SKILL.md\n---\nname: a\ndescription: second\n---\n\
     //- /.claude/skills/c/SKILL.md\n---\nname: c\n---\n";

/// Removes `clock`, which differs from call to call.
fn without_clock(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.remove("clock");
    }
    value
}

#[test]
fn json_output_equals_the_wire_result() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let cases = [
        (vec!["list"], "skills/list", json!({})),
        (vec!["list", "--all"], "skills/list", json!({"include": ["all"]})),
        (
            vec!["list", "--all", "--profile", "claude-code"],
            "skills/list",
            json!({"include": ["all"], "profile": "claude-code"}),
        ),
        (vec!["show", "a"], "skills/get", json!({"name": "a"})),
        (vec!["explain", "c"], "skills/explain", json!({"name": "c"})),
    ];
    for (args, method, mut params) in cases {
        let printed = run_json(&home, &top, &args);
        let mut wire = Wire::connect(&home.socket(), Framing::Lines).expect("the daemon runs now");
        params["cwd"] = json!(top);
        let answered = wire.call(method, &params);
        assert_eq!(without_clock(printed), without_clock(answered), "{args:?}");
    }
}

#[test]
fn json_output_is_the_same_without_a_daemon() {
    let with = Home::new();
    let top = with.worktree("w", TREE);
    write_skill(&with.path().join(".agents/skills/mine"), "mine", "d");
    for args in [
        vec!["list"],
        vec!["list", "--all"],
        vec!["list", "--all", "--profile", "claude-code"],
        vec!["show", "a"],
        vec!["explain", "c"],
        vec!["explain", "b", "--profile", "claude-code"],
    ] {
        let alone = run_json(&with, &top, &[args.as_slice(), &["--no-daemon"]].concat());
        assert_eq!(listener(&with.socket()), None, "`--no-daemon` starts none");
        let served = run_json(&with, &top, &args);
        assert_eq!(without_clock(alone), without_clock(served), "{args:?}");
        assert!(run(&with, &top, &["stop"]).status.success());
    }
}

#[test]
fn human_output_is_the_same_without_a_daemon() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    for args in [vec!["list", "--all"], vec!["explain", "c"], vec!["show", "a"]] {
        let served = run(&home, &top, &args);
        let alone = run(&home, &top, &[args.as_slice(), &["--no-daemon"]].concat());
        assert_eq!(stdout(&served), stdout(&alone), "{args:?}");
        assert!(!stdout(&served).contains('\u{1b}'), "no colour in a pipe: {}", stdout(&served));
    }
}

#[track_caller]
fn check_code(home: &Home, cwd: &Path, args: &[&str], code: i32) -> String {
    let output = run(home, cwd, args);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output) + &stderr(&output)
}

#[test]
fn exit_codes_match_the_documentation() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    check_code(&home, &top, &["list"], 0);
    check_code(&home, &top, &["show", "a"], 0);
    check_code(&home, &top, &["status"], 0);
    check_code(&home, &top, &["sync"], 0);
    check_code(&home, &top, &["stop"], 0);
    check_code(&home, &top, &["--help"], 0);
    check_code(&home, &top, &["no-such-command"], 2);
    check_code(&home, &top, &["list", "--no-such-flag"], 2);
    check_code(&home, &top, &["list", "--profile", "no-such"], 2);
    // A finding is reported with exit code 1, so that scripts can tell.
    check_code(&home, &top, &["explain", "a"], 0);
    check_code(&home, &top, &["explain", "c"], 1);
    write_skill(&top.join(".agents/skills/commit"), "commit", "d");
    let said = check_code(&home, &top, &["show", "comit"], 1);
    assert!(said.contains("`commit`"), "the neighbour is named: {said}");
}

#[test]
fn permission_check_of_a_denied_skill_exits_with_1() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    fs::write(top.join(".skillsd.toml"), "[permission.skill]\na = \"deny\"\nb = \"ask\"\n")
        .expect("it can be written");
    check_code(&home, &top, &["permission", "check", "a"], 1);
    check_code(&home, &top, &["permission", "check", "a", "--json"], 1);
    check_code(&home, &top, &["permission", "check", "b"], 0);
    check_code(&home, &top, &["permission", "check", "none"], 1);
}

#[test]
fn failed_daemon_start_exits_with_3() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    // A regular file blocks the socket's directory, so no daemon can start.
    std::fs::write(home.runtime_dir().join("skillsd"), "").expect("a file can be written");
    let said = check_code(&home, &top, &["list"], 3);
    assert!(home.redact(&said).contains("$RUN/skillsd"), "{said}");
    check_code(&home, &top, &["list", "--no-daemon"], 0);
}

#[test]
fn closed_stdout_exits_with_0() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = crate::support::skillsd(&home, &["list", "--all"]);
    let status = command.current_dir(&top).stdout(writer).status().expect("it can be run");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn empty_list_names_the_searched_directories() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let output = run(&home, &top, &["list"]);
    assert!(output.status.success());
    let said = home.redact(&(stdout(&output) + &stderr(&output)));
    assert!(said.contains("$WORK/w/.agents/skills") || said.contains(".agents/skills"), "{said}");
}

#[test]
fn list_all_names_unusable_entries_with_reasons() {
    let home = Home::new();
    let odd = "//- /.agents/skills/gone link=nowhere\n//- /.agents/skills/round link=round\n\
               //- /.agents/skills/small/skill.md\n---\nname: small\ndescription: d\n---\n";
    let top = home.worktree("w", &format!("{TREE}{odd}"));
    let all = home.redact(&stdout(&run(&home, &top, &["list", "--all"])));
    for (name, reason) in [
        ("gone", "dangling symbolic link"),
        ("round", "loop of symbolic links"),
        ("small/skill.md", "in capitals"),
    ] {
        let is_told = |line: &str| line.contains(name) && line.contains(reason);
        assert!(all.lines().any(is_told), "{name}: {all}");
    }
    let plain = stdout(&run(&home, &top, &["list"]));
    assert!(!plain.contains("nowhere") && !plain.contains("capitals"), "{plain}");
}

#[test]
fn dir_argument_and_cwd_flag_select_the_worktree() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let elsewhere = home.work();
    let by_argument = run_json(&home, &elsewhere, &["list", "w"]);
    let by_flag = run_json(&home, &elsewhere, &["--cwd", "w", "list"]);
    let in_place = run_json(&home, &top, &["list"]);
    assert_eq!(by_argument["skills"], in_place["skills"]);
    assert_eq!(by_flag["skills"], in_place["skills"]);
    assert_eq!(in_place["skills"].as_array().map(Vec::len), Some(1));
    // A link selects the worktree of its target, as it does for an agent started there.
    std::fs::create_dir(top.join("deep")).expect("a directory can be made");
    std::os::unix::fs::symlink("w/deep", elsewhere.join("link")).expect("a link can be made");
    let by_link = run_json(&home, &elsewhere, &["list", "link"]);
    assert_eq!(by_link["skills"], in_place["skills"]);
}

#[test]
fn explain_shows_all_profiles() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let output = run(&home, &top, &["explain", "c", "--profile", "all"]);
    let text = stdout(&output);
    assert!(
        text.contains("agentskills") && text.contains("claude-code"),
        "{text}{}",
        stderr(&output)
    );
}

#[test]
fn list_of_several_profiles_is_a_matrix_with_and_without_a_daemon() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    for flag in [None, Some("--no-daemon")] {
        let list = ["list", "--profile", "all"].into_iter().chain(flag).collect::<Vec<_>>();
        let text = stdout(&run(&home, &top, &list));
        let columns = ["agentskills", "claude-code", "opencode", "codex", "gemini-cli"];
        assert!(columns.iter().all(|it| text.contains(it)), "{text}");
        assert!(!text.contains("@founding") && text.contains("✓ active"), "{text}");
        let results = run_json(&home, &top, &list);
        let one = run_json(&home, &top, &["list", "--profile", "codex"]);
        assert_eq!(results["codex"]["skills"], one["skills"]);
        assert_eq!(results.as_object().expect("an object").len(), 6);
        let two = ["explain", "c", "--profile", "codex,claude-code@founding"];
        let two: Vec<_> = two.into_iter().chain(flag).collect();
        assert_eq!(run_json(&home, &top, &two)["claude-code@founding"]["name"], "c");
    }
}

#[test]
fn unknown_name_is_answered_with_the_nearest_one_once() {
    let home = Home::new();
    let top = home.worktree("w", "");
    for dir in [".agents", ".claude", ".opencode", ".gemini", ".codex", ".kiro"] {
        write_skill(&top.join(dir).join("skills/git-helper"), "git-helper", "d");
    }
    // These search no worktree.
    for dir in [".openclaw", ".hermes"] {
        write_skill(&home.path().join(dir).join("skills/git-helper"), "git-helper", "d");
    }
    for profile in skills_protocol::PROFILES {
        for (command, name) in [
            ("load", "git-helpr"),
            ("load", "git"),
            ("show", "git-helpr"),
            ("show", "helper"),
            ("explain", "git-helpr"),
        ] {
            let output = run(&home, &top, &[command, name, "--profile", profile]);
            let said = stdout(&output) + &stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{said}");
            let n_asked = said.matches("Did you mean").count();
            assert_eq!(n_asked, 1, "{profile} {command} {name}: {said}");
            assert!(said.contains("git-helper`?") || said.contains("git-helper\"?"), "{said}");
        }
    }
}

#[test]
fn hints_keep_the_options_that_select_the_target() {
    let (home, top) = (Home::new(), sample());
    let said = |args: &[&str], code| {
        let output = run(&home, &top, args);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        stderr(&output)
    };
    let shown = said(&["show", "zzzz", "--profile", "codex", "--no-daemon"], 1);
    assert!(shown.contains("`skillsd explain --profile codex zzzz`"), "{shown}");
    let shown = said(&["trust", "sub", "--no-daemon"], 5);
    assert!(shown.contains("`skillsd trust sub --no-daemon`"), "{shown}");
}

#[test]
fn added_directory_without_effect_is_told_once() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let other = home.worktree("other", "");
    let other = other.to_str().expect("plain");
    for (profile, expected) in [("codex", 1), ("opencode", 1), ("claude-code", 0)] {
        let output = run(&home, &top, &["list", "--profile", profile, "--add-dir", other]);
        let said = stderr(&output);
        assert_eq!(said.matches("has no added directories").count(), expected, "{said}");
        let listed = run_json(&home, &top, &["list", "--profile", profile, "--add-dir", other]);
        let codes = listed["health"].as_array().expect("a list").iter().map(|it| &it["code"]);
        assert_eq!(codes.filter(|it| **it == "add-dir").count(), expected, "{listed}");
    }
}

/// Returns the first line of a list with these variables, without the number of skills.
fn first_line(home: &Home, top: &Path, args: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = skillsd(home, &[&["list"], args].concat());
    let output =
        command.current_dir(top).envs(variables.iter().copied()).output().expect("it runs");
    let out = stdout(&output);
    let parts = out.lines().next().unwrap_or_default().split(" · ");
    parts
        .filter(|it| !it.ends_with(" skill") && !it.ends_with(" skills"))
        .collect::<Vec<_>>()
        .join(" · ")
}

#[test]
fn profile_is_taken_from_the_most_explicit_place() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let first =
        |args: &[&str], variables: &[(&str, &str)]| first_line(&home, &top, args, variables);
    let agent = ("CLAUDECODE", "1");
    let variable = ("SKILLSD_PROFILE", "codex");
    assert_eq!(first(&[], &[]), "as Agent Skills standard · by default");
    assert_eq!(first(&[], &[agent]), "as Claude Code · detected: CLAUDECODE is set");
    assert_eq!(first(&["--no-daemon"], &[agent]), first(&[], &[agent]));
    assert_eq!(first(&[], &[("CLAUDECODE", "")]), first(&[], &[]));
    fs::write(top.join(".skillsd.toml"), "profile = \"opencode\"\n").expect("written");
    assert_eq!(first(&[], &[]), "as opencode · `profile` in `.skillsd.toml`");
    // A repository does not replace the rules of the agent that runs the command.
    assert_eq!(first(&[], &[agent]), "as Claude Code · detected: CLAUDECODE is set");
    configure(&home, "profile = \"codex\"\n");
    assert_eq!(first(&[], &[]), "as opencode · `profile` in `.skillsd.toml`");
    assert_eq!(first(&[], &[agent]), "as Codex · `profile` in `config.toml`");
    assert_eq!(first(&[], &[agent, variable]), "as Codex");
    let founding = first(&["--profile", "claude-code@founding"], &[agent, variable]);
    assert_eq!(founding, "as Claude Code (claude-code@founding) (documented, not measured)");
    let cursor = first(&["--profile", "cursor"], &[agent, variable]);
    assert_eq!(cursor, "as Cursor (documented, not measured)");
}

#[test]
fn unknown_profile_is_answered_with_the_nearest_one_and_its_variable() {
    let home = Home::new();
    let top = home.worktree("w", "");
    configure(&home, "[profiles.house]\nbase = \"codex\"\n");
    let shown = check_code(&home, &top, &["list", "--profile", "hous"], 2);
    assert!(shown.contains("Did you mean `house`?") && !shown.contains("SKILLSD_PROFILE"));
    let mut command = skillsd(&home, &["list"]);
    let output = command.current_dir(&top).env("SKILLSD_PROFILE", "codx").output();
    let shown = stderr(&output.expect("our program can be run"));
    assert!(shown.contains("Did you mean `codex`?"), "{shown}");
    assert!(shown.contains("The variable SKILLSD_PROFILE selects it"), "{shown}");
}

#[test]
fn agent_that_started_the_daemon_is_not_the_agent_of_other_clients() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let agent = [("CLAUDECODE", "1")];
    assert!(first_line(&home, &top, &[], &agent).starts_with("as Claude Code"));
    let mut wire = Wire::connect(&home.socket(), Framing::Lines).expect("the daemon runs now");
    let mut detect = |environment: Value| {
        let mut params = json!({"cwd": top});
        if !environment.is_null() {
            params["environment"] = environment;
        }
        wire.call("profiles/detect", &params)["profile"].clone()
    };
    assert_eq!(detect(Value::Null), "agentskills");
    assert_eq!(detect(json!({"HOME": home.path()})), "agentskills");
    assert_eq!(detect(json!({"HOME": home.path(), "GEMINI_CLI": "1"})), "gemini-cli");
}

#[test]
fn unknown_command_suggests_the_one_that_is_meant() {
    let home = Home::new();
    for (word, command) in [
        ("serach", "search"),
        ("lint", "check"),
        ("ls", "list"),
        ("why", "explain"),
        ("find", "search"),
        ("remove", "uninstall"),
        ("restart", "stop"),
        ("log", "logs"),
    ] {
        let output = run(&home, home.path(), &[word]);
        assert_eq!(output.status.code(), Some(2), "{word}");
        let text = stderr(&output);
        assert!(text.contains(&format!("a similar subcommand exists: '{command}'")), "{text}");
    }
}

#[test]
fn permission_check_of_an_unknown_skill_is_an_error() {
    let home = Home::new();
    let top = home.worktree("w", "");
    write_skill(&top.join(".agents/skills/deploy"), "deploy", "d");
    let output = run(&home, &top, &["permission", "check", "deplyo"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("no skill `deplyo`"), "{}", stderr(&output));
    assert_eq!(run(&home, &top, &["permission", "check", "deploy"]).status.code(), Some(0));
}

#[test]
fn servers_started_on_a_terminal_explain_themselves() {
    let home = Home::new();
    for (server, explanation) in
        [("mcp", "this is an MCP server"), ("lsp", "this is a language server")]
    {
        let mut screen = Screen::start(skillsd(&home, &[server]).current_dir(home.path()), 20, 160);
        screen.wait_for(explanation);
        // Ctrl-D.
        screen.type_in("\u{4}");
        screen.wait();
    }
    run(&home, home.path(), &["stop"]);
}

#[test]
fn user_roots_without_a_home_are_shown_below_the_tilde() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let mut command = skillsd(&home, &["list", "--no-daemon", "--profile", "codex"]);
    let output = command.current_dir(&top).env_remove("HOME").output().expect("it runs");
    let text = stdout(&output);
    assert!(text.contains("~/.codex/skills") && !text.contains("/~"), "{text}");
}
