//! The agents that are present: without `--profile`, configuration or a running agent, commands
//! answer for the agents that are installed or that the worktree is set up for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::{Framing, Home, Wire};

use crate::configuration::configure;
use crate::support::{run, run_json, skillsd, stderr, stdout};

/// Skills where each agent and the open standard look.
const SKILLS: &str = "\
    //- /w/.agents/skills/release/SKILL.md\n---\nname: release\ndescription: Writes notes.\n---\n\
    //- /w/.claude/skills/review/SKILL.md\n---\nname: review\ndescription: Reviews.\n---\n";

/// The user's files of each agent, as it leaves them behind.
const CLAUDE_CODE: &str = "//- /home/.claude/settings.json\n{\"model\": \"opus\"}\n\
    //- /home/.claude/projects/-w/session.jsonl\n{}\n";
const CODEX: &str = "//- /home/.codex/config.toml\nmodel = \"gpt-5\"\n";
const GEMINI_CLI: &str = "//- /home/.gemini/settings.json\n{}\n";
const OPENCODE: &str = "//- /home/.config/opencode/opencode.json\n{}\n";
const PI: &str = "//- /home/.pi/agent/settings.json\n{}\n";
const KIMI_CODE: &str = "//- /home/.kimi-code/config.toml\ndefault_model = \"k\"\n";
const DROID: &str = "//- /home/.factory/settings.json\n{}\n";
const OPENHANDS: &str = "//- /home/.openhands/agent_settings.json\n{}\n";
const HERMES: &str = "//- /home/.hermes/skills/mine/SKILL.md\n---\nname: mine\ndescription: M.\n---\nBody.\n\
    //- /home/.hermes/config.yaml\n{}\n";
const OPENCLAW: &str = "//- /home/.openclaw/openclaw.json\n{}\n";

/// A home with the skills and these files, and its worktree.
fn home(files: &[&str]) -> (Home, PathBuf) {
    let home = Home::new();
    let top = home.worktree("w", "");
    home.lay_out(&[&[SKILLS], files].concat().concat());
    (home, top)
}

fn first_line(home: &Home, top: &Path, args: &[&str]) -> String {
    let out = stdout(&run(home, top, args));
    out.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn one_present_agent_is_the_default_of_every_command() {
    let (home, top) = home(&[CLAUDE_CODE]);
    let why = "detected: `~/.claude` exists";
    let first = |args: &[&str]| first_line(&home, &top, args);
    assert_eq!(first(&["list"]), format!("as Claude Code · 1 skill · {why}"));
    assert_eq!(first(&["list", "--no-daemon"]), first(&["list"]));
    assert_eq!(first(&["search", "review"]), format!("as Claude Code · 1 match · {why}"));
    assert_eq!(first(&["explain", "review"]), format!("as Claude Code · {why}"));
    assert_eq!(first(&["explain"]), format!("as Claude Code · {why}"));
    assert_eq!(first(&["check"]), format!("as Claude Code · {why}"));
    let catalog = run(&home, &top, &["catalog"]);
    assert_eq!(stdout(&catalog), "- review: Reviews.\n");
    assert!(stderr(&catalog).starts_with(&format!("note: as Claude Code · {why}\n")));
}

#[test]
fn each_agent_is_detected_by_its_own_files() {
    for (files, expected) in [
        (CODEX, "as Codex · 1 skill · detected: `~/.codex` exists"),
        (GEMINI_CLI, "as Gemini CLI · 1 skill · detected: `~/.gemini` exists"),
        (OPENCODE, "as opencode · 2 skills · detected: `~/.config/opencode` exists"),
        (PI, "as pi · 1 skill · detected: `~/.pi/agent` exists"),
        (KIMI_CODE, "as Kimi Code · 1 skill · detected: `~/.kimi-code` exists"),
        (DROID, "as Factory Droid · 1 skill · detected: `~/.factory` exists"),
        (OPENHANDS, "as OpenHands · 1 skill · detected: `~/.openhands` exists"),
        (HERMES, "as Hermes Agent · 1 skill · detected: `~/.hermes` exists"),
        (OPENCLAW, "as OpenClaw · 1 skill · detected: `~/.openclaw` exists"),
    ] {
        let (home, top) = home(&[files]);
        // Gemini CLI lists a worktree's skills only if the directory is trusted.
        // Factory Droid drops skills without a body, and OpenClaw reads no worktree.
        if [GEMINI_CLI, DROID, OPENCLAW].contains(&files) {
            home.lay_out(
                "//- /home/.agents/skills/mine/SKILL.md\n---\nname: mine\ndescription: M.\n---\nBody.\n",
            );
        }
        assert_eq!(first_line(&home, &top, &["list"]), expected);
    }
}

#[test]
fn directories_with_skills_alone_are_no_sign_of_an_agent() {
    let (home, top) = home(&["//- /home/.claude/skills/mine/SKILL.md\n---\nname: mine\n---\n\
        //- /home/.codex/skills/x/SKILL.md\n---\nname: x\n---\n"]);
    assert_eq!(
        first_line(&home, &top, &["list"]),
        "as Agent Skills standard · 2 skills · by default"
    );
}

#[test]
fn several_present_agents_get_a_column_each() {
    let (home, top) = home(&[CLAUDE_CODE, CODEX]);
    let list = stdout(&run(&home, &top, &["list"]));
    let why = "detected: `~/.claude` exists, `~/.codex` exists";
    let expected = format!(
        "as Claude Code and Codex · 2 skills · {why}\n\n\
         \x20        ┌─── claude-code  1 skill\n\
         \x20        │ ┌─ codex  1 skill\n\
         review   ✓ ·  .claude/skills/review/SKILL.md\n\
         release  · ✓  .agents/skills/release/SKILL.md\n\n\
         ✓ active  · not found\n\
         Explain one of them: `skillsd explain NAME`\n"
    );
    assert_eq!(home.redact(&list), expected);
    let explained = stdout(&run(&home, &top, &["explain", "release"]));
    assert!(explained.starts_with(&format!("as Claude Code and Codex · {why}\n\n✗ claude-code")));
    assert!(explained.contains("\n✓ codex"), "{explained}");
    // A command that needs one agent takes the first and says so.
    let first = "the first of 2 detected: Claude Code, Codex";
    let one = |args: &[&str]| first_line(&home, &top, args);
    assert_eq!(one(&["search", "review"]), format!("as Claude Code · 1 match · {first}"));
    assert_eq!(one(&["explain"]), format!("as Claude Code · {first}"));
    for args in [
        &["show", "review"][..],
        &["load", "review"],
        &["touch", "a.rs", "--session", "new"],
        &["permission", "check", "review"],
        &["session", "open"],
        &["disable", "review", "--dry-run"],
        &["enable", "review"],
    ] {
        let told = |more: &[&str]| stderr(&run(&home, &top, &[args, more].concat()));
        let note = format!("note: as Claude Code · {first}\n");
        assert!(told(&[]).contains(&note), "{args:?}: {}", told(&[]));
        for more in [&["--profile", "claude-code"][..], &["--json"]] {
            assert!(!told(more).contains("the first of"), "{args:?}: {}", told(more));
        }
    }
    assert_eq!(one(&["check"]), format!("as Claude Code and Codex · {why}"));
    // JSON keeps its form: the list of one agent.
    let json = run_json(&home, &top, &["list"]);
    assert_eq!(json["skills"][0]["name"], "review");
}

#[test]
fn first_line_names_three_of_many_present_agents() {
    let (home, top) = home(&[CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, PI, DROID]);
    let line = home.redact(&first_line(&home, &top, &["check"]));
    assert_eq!(
        line,
        "as Claude Code, opencode, Codex and 3 more · detected: `~/.claude` exists, \
         `~/.config/opencode` exists, `~/.codex` exists, 3 more"
    );
    let list = stdout(&run(&home, &top, &["list"]));
    for profile in ["claude-code", "opencode", "codex", "gemini-cli", "pi", "droid"] {
        assert!(list.contains(&format!("─ {profile}  ")), "{list}");
    }
}

#[test]
fn report_shows_present_agents_first() {
    let (home, top) = home(&[CODEX, PI]);
    let page = stdout(&run(&home, &top, &["report", "--output", "-"]));
    let skills = page.split("<h2 id=\"skills\">").nth(1).expect("the section");
    let at = |profile: &str| skills.find(&format!(">{profile}</th>")).expect("a column");
    assert!(at("codex") < at("pi") && at("pi") < at("agentskills"), "{skills}");
}

#[test]
fn agent_of_the_worktree_comes_before_another_installed_one() {
    let files = [
        CLAUDE_CODE,
        GEMINI_CLI,
        "//- /w/.gemini/settings.json\n{}\n",
        "//- /w/opencode.json\n{}\n",
    ];
    let (home, top) = home(&files);
    let below = top.join("src");
    fs::create_dir(&below).expect("a directory can be made");
    let one = first_line(&home, &below, &["explain"]);
    assert_eq!(one, "as Gemini CLI · the first of 3 detected: Gemini CLI, Claude Code, opencode");
}

#[test]
fn program_in_path_is_a_sign_of_an_agent() {
    let (home, top) = home(&[]);
    let bin = home.path().join("bin");
    fs::create_dir(&bin).expect("a directory can be made");
    fs::write(bin.join("codex"), "#!/bin/sh\n").expect("written");
    let list = || {
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let output = skillsd(&home, &["list"]).current_dir(&top).env("PATH", path).output();
        stdout(&output.expect("it runs")).lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(list(), "as Agent Skills standard · 2 skills · by default");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(bin.join("codex"), mode).expect("our own file takes a mode");
    assert_eq!(list(), "as Codex · 1 skill · detected: `codex` is in PATH");
}

#[test]
fn more_explicit_places_come_before_present_agents() {
    let (home, top) = home(&[CLAUDE_CODE, CODEX]);
    let first = |args: &[&str]| first_line(&home, &top, args);
    assert_eq!(first(&["list", "--profile", "codex"]), "as Codex · 1 skill");
    assert_eq!(first(&["check", "--profile", "codex"]), "as Codex");
    configure(&home, "profile = \"opencode\"\n");
    assert_eq!(first(&["list"]), "as opencode · 2 skills · `profile` in `config.toml`");
    // `check` has a key of its own.
    assert!(first(&["check"]).starts_with("as Claude Code and Codex · detected: "));
    configure(&home, "check.profiles = [\"gemini-cli\"]\n");
    assert_eq!(first(&["check"]), "as Gemini CLI · `check.profiles`");
    assert_eq!(first(&["check", "--profile", "codex"]), "as Codex");
}

#[test]
fn caller_without_path_gets_the_open_standard() {
    let (home, top) = home(&[CLAUDE_CODE, CODEX]);
    run(&home, &top, &["list"]);
    let mut wire = Wire::connect(&home.socket(), Framing::Lines).expect("the daemon runs now");
    let mut detect = |environment: Value| {
        wire.call("profiles/detect", &json!({"cwd": top, "environment": environment}))
    };
    let without = detect(json!({"HOME": home.path()}));
    assert_eq!(without["profile"], "agentskills");
    assert!(without.get("present").is_none(), "{without}");
    let with = detect(json!({"HOME": home.path(), "PATH": "/usr/bin"}));
    assert_eq!(with["profile"], "claude-code");
    let sign = format!("`{}` exists", home.path().join(".codex").display());
    let codex =
        json!({"profile": "codex", "agent": "Codex", "confidence": "running", "sign": sign});
    assert_eq!(with["present"][1], codex);
}

#[test]
fn documented_agent_counts_only_if_installed_and_comes_last() {
    let cursor = "//- /w/.cursor/rules/a.mdc\nText.\n";
    let others = "//- /home/.config/amp/config.yml\ntheme: dark\n//- /home/bin/goose\n#!/bin/sh\n";
    let (home, top) = home(&[CLAUDE_CODE, cursor, others]);
    let bin = home.path().join("bin");
    fs::set_permissions(bin.join("goose"), fs::Permissions::from_mode(0o755)).unwrap();
    run(&home, &top, &["list"]);
    let mut wire = Wire::connect(&home.socket(), Framing::Lines).expect("the daemon runs now");
    let mut present = || {
        let environment = json!({"HOME": home.path(), "PATH": bin});
        let found = wire.call("profiles/detect", &json!({"cwd": top, "environment": environment}));
        let present = found["present"].as_array().expect("a list").iter();
        present.map(|it| it["profile"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(present(), ["claude-code"]);
    home.lay_out("//- /home/.cursor/argv.json\n{}\n");
    assert_eq!(present(), ["claude-code", "cursor"]);
}
