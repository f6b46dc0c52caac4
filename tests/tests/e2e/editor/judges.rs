//! The agents that findings are about: the editor's are those of `skillsd check`.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::{Home, wait_for};

use super::client::{Editor, full_capabilities};
use crate::configuration::configure;
use crate::support::{Live, run, run_json, skillsd};

/// A file that Codex drops and Claude Code reads, and skills in directories of opencode and Codex.
const TREE: &str = "//- /.claude/skills/a/SKILL.md\n---\nname: a\ndescription: Use when: asked\n---\nSee the `far-away` skill.\n\
     //- /.codex/skills/b/SKILL.md\n---\nname: b\ndescription: Use when: asked\n---\nb\n\
     //- /.opencode/skills/far-away/SKILL.md\n---\nname: far-away\ndescription: Use it when asked.\n---\nb\n";

/// Files that agents leave below HOME.
const AGENTS: [&str; 12] = [
    ".claude/settings.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".config/opencode/opencode.json",
    ".copilot/config.json",
    ".qwen/settings.json",
    ".vibe/config.toml",
    ".qoder/settings.json",
    ".pi/agent/settings.json",
    ".kimi-code/config.toml",
    ".factory/settings.json",
    ".cursor/argv.json",
];

fn add_agents(home: &Home, files: &[&str]) {
    for file in files {
        home.lay_out(&format!("//- /home/{file}\n{{}}\n"));
    }
}

/// Returns the severity, the rule and the message of each finding of `check` for a file.
fn checked(home: &Home, top: &Path, file: &Path) -> Vec<(String, String, String)> {
    findings_of(&run_json(home, top, &["check"]), file)
}

/// Returns the same from the JSON of `check`.
fn findings_of(result: &Value, file: &Path) -> Vec<(String, String, String)> {
    let files = result["files"].as_array().expect("a list");
    let file = files.iter().find(|it| it["path"] == json!(file));
    let findings = file.map_or(&[][..], |it| it["findings"].as_array().expect("a list"));
    let text = |it: &Value| it.as_str().expect("a text").to_owned();
    let said = |it: &Value| (text(&it["severity"]), text(&it["code"]), text(&it["message"]));
    findings.iter().map(said).collect()
}

/// Returns the same of an editor's diagnostics.
fn shown(editor: &Editor, file: &Path) -> Vec<(String, String, String)> {
    let severity = |it: &Value| match it["severity"].as_u64() {
        Some(1) => "error",
        Some(2) => "warning",
        Some(3) => "info",
        _ => "hint",
    };
    let said = |it: &Value| {
        let message = it["message"].as_str().expect("a text").lines().next().unwrap_or_default();
        let code = it["code"].as_str().expect("a text").to_owned();
        (severity(it).to_owned(), code, message.to_owned())
    };
    editor.diagnostics(file).iter().map(said).collect()
}

/// Waits until an editor shows the findings of `check` for each skill of [`TREE`].
#[track_caller]
fn compare(home: &Home, top: &Path, editor: &mut Editor) {
    for skill in [".claude/skills/a/SKILL.md", ".codex/skills/b/SKILL.md"] {
        let skill = top.join(skill);
        let expected = checked(home, top, &skill);
        editor.open(&skill);
        wait_for(&format!("{expected:?}"), || {
            // Any answer follows the notifications before it.
            let _ = editor.ask("textDocument/hover", &skill, (0, 0), json!({}));
            (shown(editor, &skill) == expected).then_some(())
        });
    }
}

#[test]
fn editor_and_check_judge_by_the_same_agents() {
    for present in [&[][..], &AGENTS[..1], &AGENTS[1..2], &AGENTS[..2], &AGENTS] {
        let home = Home::new();
        let top = home.worktree("w", TREE);
        add_agents(&home, present);
        for args in [&[][..], &["--no-daemon"]] {
            let mut editor = Editor::start(&home, args, &[&top], full_capabilities());
            compare(&home, &top, &mut editor);
        }
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn editor_and_check_judge_by_check_profiles_instead_of_present_agents() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    add_agents(&home, &AGENTS[..1]);
    configure(&home, "profile = \"codex\"\ncheck.profiles = [\"gemini-cli\", \"codex\"]\n");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    compare(&home, &top, &mut editor);
    configure(&home, "profile = \"codex\"\n");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    compare(&home, &top, &mut editor);
    run(&home, &top, &["stop"]);
}

#[test]
fn editor_on_the_socket_judges_by_agents_of_the_daemons_home() {
    let live = Live::start();
    let top = live.home.worktree("w", TREE);
    add_agents(&live.home, &AGENTS[1..2]);
    let socket = live.home.socket().with_file_name("v1-lsp.sock");
    let stream = UnixStream::connect(&socket).expect("it listens");
    let input = stream.try_clone().expect("it can be");
    let mut editor = Editor::over(Box::new(input), Box::new(stream));
    editor.initialize(&[&top], full_capabilities());
    compare(&live.home, &top, &mut editor);
}

#[test]
fn agent_that_runs_the_caller_is_the_judge_in_editor_and_check() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    add_agents(&home, &AGENTS);
    let a = top.join(".claude/skills/a/SKILL.md");
    let mut check = skillsd(&home, &["check", "--json"]);
    let output = check.current_dir(&top).env("CODEX_THREAD_ID", "1").output().expect("it runs");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["reason"], "detected: CODEX_THREAD_ID is set");
    let mut command = skillsd(&home, &["lsp"]);
    let mut editor = Editor::run(command.env("CODEX_THREAD_ID", "1"));
    editor.initialize(&[&top], full_capabilities());
    let expected = findings_of(&result, &a);
    assert_ne!(expected, checked(&home, &top, &a), "the other agents judge otherwise");
    editor.open(&a);
    wait_for(&format!("{expected:?}"), || {
        let _ = editor.ask("textDocument/hover", &a, (0, 0), json!({}));
        (shown(&editor, &a) == expected).then_some(())
    });
    run(&home, &top, &["stop"]);
}

#[test]
fn agent_that_appears_is_noticed_when_a_file_is_saved() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    add_agents(&home, &AGENTS[..1]);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let b = top.join(".codex/skills/b/SKILL.md");
    compare(&home, &top, &mut editor);
    let before = shown(&editor, &b);
    add_agents(&home, &AGENTS[1..2]);
    let text = fs::read_to_string(&b).expect("it is there");
    editor.save(&b, &text);
    wait_for("another verdict", || {
        let _ = editor.ask("textDocument/hover", &b, (0, 0), json!({}));
        (shown(&editor, &b) != before).then_some(())
    });
    assert_eq!(shown(&editor, &b), checked(&home, &top, &b));
    run(&home, &top, &["stop"]);
}

#[test]
fn changes_for_each_of_twelve_present_agents_are_followed() {
    let home = Home::new();
    let skill = "---\nname: k\ndescription: Reads PDF files. Use when asked.\n---\nb\n";
    let top = home.worktree("w", &format!("//- /.agents/skills/k/SKILL.md\n{skill}"));
    add_agents(&home, &AGENTS);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let k = top.join(".agents/skills/k/SKILL.md");
    editor.open(&k);
    editor.wait_for(&k, &["index/shadowed"], &[]);
    for dir in [".qwen", ".qoder", ".kimi-code", ".factory"] {
        let other = top.join(dir).join("skills/k");
        fs::create_dir_all(&other).expect("it can be made");
        fs::write(other.join("SKILL.md"), skill).expect("it can be written");
        // No client reports the change.
        editor.wait_for(&k, &["index/shadowed"], &["index/shadowed -> k"]);
        fs::remove_dir_all(&other).expect("it can be removed");
        editor.wait_for(&k, &["index/shadowed"], &[]);
    }
    run(&home, &top, &["stop"]);
}

#[test]
fn skill_of_an_agent_that_is_not_present_can_be_renamed() {
    rename_skill_of_opencode(&Home::new());
}

#[test]
fn skill_of_an_agent_beside_configured_ones_can_be_renamed() {
    let home = Home::new();
    configure(&home, "[check]\nprofiles = [\"claude-code\"]\n");
    rename_skill_of_opencode(&home);
}

/// Renames a skill that only opencode finds, where only Claude Code is present, by a mention of it.
#[track_caller]
fn rename_skill_of_opencode(home: &Home) {
    let top = home.worktree("w", TREE);
    add_agents(home, &AGENTS[..1]);
    let mut editor = Editor::start(home, &[], &[&top], full_capabilities());
    let a = top.join(".claude/skills/a/SKILL.md");
    editor.open(&a);
    let place = Editor::place(&a, "far-away");
    let edit = editor.ask("textDocument/rename", &a, place, json!({"newName": "near-by"}));
    let edit = edit.expect("it can be renamed").to_string();
    assert!(edit.contains(".claude/skills/a/SKILL.md"), "{edit}");
    assert!(edit.contains(".opencode/skills/far-away/SKILL.md"), "{edit}");
    run(home, &top, &["stop"]);
}

#[test]
fn skill_of_an_agent_that_is_not_present_has_no_similar_name() {
    let home = Home::new();
    let skill =
        |name: &str| format!("---\nname: {name}\ndescription: Use it when asked.\n---\nb\n");
    home.lay_out(&format!("//- /home/.claude/skills/Deploy/SKILL.md\n{}", skill("Deploy")));
    let top =
        home.worktree("w", &format!("//- /.agents/skills/deploy/SKILL.md\n{}", skill("deploy")));
    let deploy = top.join(".agents/skills/deploy/SKILL.md");
    let is_similar = || {
        let said = checked(&home, &top, &deploy);
        said.iter().any(|(_, _, message)| message.contains("similar name"))
    };
    add_agents(&home, &AGENTS[1..2]);
    assert!(!is_similar(), "Codex does not find the other one");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    editor.open(&deploy);
    let _ = editor.ask("textDocument/hover", &deploy, (0, 0), json!({}));
    assert_eq!(shown(&editor, &deploy), checked(&home, &top, &deploy));
    configure(&home, "[check]\nprofiles = [\"claude-code\", \"codex\"]\n");
    assert!(is_similar(), "Claude Code finds both");
    run(&home, &top, &["stop"]);
}
