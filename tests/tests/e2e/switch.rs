//! `skillsd enable` and `skillsd disable` with the settings of each agent.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use skills_testkit::Home;

use crate::support::{run, run_at_terminal, run_json, stderr, stdout, trust_at_terminal};

/// One skill for all agents, and their settings with comments and an order of their own.
const HOME: &str = r#"
//- /home/.claude/settings.json
{
    "model": "opus",
    "skillOverrides": { "other": "name-only" },
    "permissions": {"deny": []}
}
//- /home/.codex/config.toml
# Mine.
model = "x" # why

[[skills.config]]
name = "other"
enabled = false

[projects."/w"]
trust_level = "trusted"
//- /home/.gemini/settings.json
{
  // Dark.
  "theme": "x", "skills": {"disabled": ["other"]}
}
//- /home/.gemini/trustedFolders.json
{}
//- /home/.copilot/settings.json
{"disabledSkills": [
  "other" // why
]}
//- /home/.factory/settings.json
{"model": "x",
 "disabledSkills": ["other"]}
//- /home/.config/kilo/kilo.jsonc
{ "permission": {"skill": {"*": "allow"}} }
//- /home/.qoder/settings.json
{"skills": { /* mine */ "disabled": ["other"]}}
//- /home/.qwen/settings.json
{"skills": {"disabled": [ "other" ]}, "last": 1}
//- /home/.config/opencode/opencode.jsonc
{
  /* mine */ "model": "a/b", "permission": {"edit": "ask", "skill": {"*": "allow"}}, // last
}
"#;

const WORKTREE: &str = "//- /.git/HEAD
ref: refs/heads/main
";

/// Agents with the directory of their project's skills and the user's settings file.
const AGENTS: [(&str, &str, &str); 9] = [
    ("claude-code", ".claude/skills", ".claude/settings.json"),
    ("codex", ".codex/skills", ".codex/config.toml"),
    ("gemini-cli", ".gemini/skills", ".gemini/settings.json"),
    ("opencode", ".opencode/skills", ".config/opencode/opencode.jsonc"),
    ("copilot-cli", ".github/skills", ".copilot/settings.json"),
    ("droid", ".factory/skills", ".factory/settings.json"),
    ("kilo", ".kilo/skills", ".config/kilo/kilo.jsonc"),
    ("qoder", ".qoder/skills", ".qoder/settings.json"),
    ("qwen-code", ".qwen/skills", ".qwen/settings.json"),
];

struct SwitchFixture {
    home: Home,
    top: PathBuf,
}

impl SwitchFixture {
    fn new(files: &str) -> SwitchFixture {
        let home = Home::new();
        home.lay_out(files);
        let top = home.worktree("w", WORKTREE);
        for (_, dir, _) in AGENTS {
            for name in ["pdf", "commit"] {
                let dir = top.join(dir).join(name);
                fs::create_dir_all(&dir).unwrap();
                let text = format!("---\nname: {name}\ndescription: Does it.\n---\nDo it.\n");
                fs::write(dir.join("SKILL.md"), text).unwrap();
            }
        }
        let folders = home.path().join(".gemini/trustedFolders.json");
        fs::create_dir_all(folders.parent().unwrap()).unwrap();
        fs::write(folders, json!({top.to_str().unwrap(): "TRUST_FOLDER"}).to_string()).unwrap();
        SwitchFixture { home, top }
    }

    #[track_caller]
    fn run(&self, args: &[&str], code: i32) -> Output {
        let output = run(&self.home, &self.top, args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?} {}{}",
            stdout(&output),
            stderr(&output)
        );
        output
    }

    fn state(&self, profile: &str, name: &str) -> String {
        let list = run_json(&self.home, &self.top, &["list", "--all", "--profile", profile]);
        let skills = list["skills"].as_array().unwrap();
        // opencode also finds the skills of other agents.
        let is_it = |it: &&Value| it["name"] == name && it["state"] != "shadowed";
        let it = skills.iter().find(is_it).unwrap();
        it["state"].as_str().unwrap().to_owned()
    }

    /// Returns every file of the home and the worktree with its content and mode.
    fn all(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        gather(self.home.path(), &mut all);
        gather(&self.top, &mut all);
        // Every command may create state, caches and sockets.
        let ours = [self.home.state_dir(), self.home.cache_dir(), self.home.runtime_dir()];
        all.retain(|path, _| !ours.iter().any(|it| path.starts_with(it)));
        all
    }
}

fn gather(dir: &Path, all: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let found = path.symlink_metadata().unwrap();
        let content = if found.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        all.insert(path.clone(), (found.permissions().mode(), content));
        if found.is_dir() {
            gather(&path, all);
        }
    }
}

#[test]
fn disable_and_enable_change_the_list_and_restore_every_byte() {
    for files in [HOME, "//- /home/.profile\n"] {
        let fixture = SwitchFixture::new(files);
        for (profile, _, file) in AGENTS {
            let path = fixture.home.path().join(file);
            if path.exists() {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }
            let before = fixture.all();
            let switch = |verb: &str, name: &str| {
                stdout(&fixture.run(&[verb, name, "--profile", profile, "--yes"], 0))
            };
            assert_eq!(fixture.state(profile, "pdf"), "active", "{profile}");
            let shown = switch("disable", "pdf");
            assert!(shown.contains('+') && shown.contains("pdf"), "{shown}");
            let off = fixture.state(profile, "pdf");
            assert!(["ignored", "denied"].contains(&&*off), "{profile}: {off}");
            assert_eq!(fixture.state(profile, "commit"), "active");
            let once = fixture.all();
            assert!(switch("disable", "pdf").contains("already disabled"));
            assert_eq!(fixture.all(), once);
            switch("disable", "commit");

            // In the order of the changes, which is not that of a stack.
            switch("enable", "pdf");
            assert_eq!(fixture.state(profile, "pdf"), "active", "{profile}");
            assert_ne!(fixture.state(profile, "commit"), "active", "{profile}");
            switch("enable", "commit");
            assert_eq!(fixture.all(), before, "{profile}");
            assert!(switch("enable", "commit").contains("already enabled"));
            assert!(!fixture.home.state_dir().join("skillsd/switches.json").exists());
        }
    }
}

#[test]
fn enable_of_an_own_entry_is_undone_by_disable() {
    let files = r#"
//- /home/.claude/settings.json
{"skillOverrides": {"pdf": "user-invocable-only"}, "a": [1,2]}
//- /home/.codex/config.toml
skills = { config = [{ name = "pdf", enabled = false }] }
//- /home/.gemini/settings.json
{"skills":{"disabled":["PDF"]}}
//- /home/.config/opencode/opencode.json
{"permission": {"skill": {"p*": "deny"}}}
//- /home/.copilot/settings.json
{"disabledSkills":["pdf"]}
//- /home/.factory/settings.json
{"disabledSkills":[" Pdf "]}
//- /home/.config/kilo/kilo.json
{"permission": {"skill": {"p*": "deny"}}}
//- /home/.qoder/settings.json
{"skills":{"disabled":["PDF"]}}
//- /home/.qwen/settings.json
{"skills":{"disabled":["PDF"]}}
"#;
    let fixture = SwitchFixture::new(files);
    let before = fixture.all();
    for (profile, _, _) in AGENTS {
        assert_ne!(fixture.state(profile, "pdf"), "active", "{profile}");
        fixture.run(&["enable", "pdf", "--profile", profile, "--yes"], 0);
        assert_eq!(fixture.state(profile, "pdf"), "active", "{profile}");
        fixture.run(&["disable", "pdf", "--profile", profile, "--yes"], 0);
        assert_eq!(fixture.all(), before, "{profile}");
    }
}

#[test]
fn enable_keeps_an_agent_asking_and_reaches_a_skill_that_is_denied_with_all() {
    let fixture = SwitchFixture::new("//- /home/.profile\n");
    trust_at_terminal(&fixture.home, &fixture.top, &[]);
    for profile in ["opencode", "kilo"] {
        for (permission, expected) in [
            (json!({"skill": {"*": "ask", "pdf": "deny"}}), Value::Null),
            (json!({"skill": "deny"}), json!("allow")),
            (json!({"*": "deny"}), json!("allow")),
            (json!("deny"), json!("allow")),
        ] {
            let file = fixture.top.join(format!("{profile}.json"));
            fs::write(&file, json!({"permission": permission}).to_string()).unwrap();
            assert_eq!(fixture.state(profile, "pdf"), "denied", "{profile} {permission}");
            let args = ["enable", "pdf", "--profile", profile, "--scope", "project", "--yes"];
            fixture.run(&args, 0);
            assert_eq!(fixture.state(profile, "pdf"), "active", "{permission}");
            let text = fs::read_to_string(&file).unwrap();
            let written: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(written["permission"]["skill"]["pdf"], expected, "{text}");
            // Kilo also reads the file of opencode.
            fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn refused_enable_does_not_advise_the_same_command() {
    let fixture = SwitchFixture::new(HOME);
    trust_at_terminal(&fixture.home, &fixture.top, &[]);
    // The user's file has the key `skill`, so it is before `*` in the merged settings.
    let file = fixture.top.join("opencode.json");
    fs::write(&file, r#"{"permission": {"*": "deny"}}"#).unwrap();
    let before = fixture.all();
    let args = ["enable", "pdf", "--profile", "opencode", "--scope", "project", "--yes"];
    let refused = stderr(&fixture.run(&args, 5));
    assert!(refused.contains("the file was restored"), "{refused}");
    assert!(!refused.contains("skillsd enable"), "{refused}");
    assert_eq!(fixture.all(), before);
}

#[test]
fn project_scope_changes_the_file_of_the_worktree() {
    let fixture = SwitchFixture::new(HOME);
    let before = fixture.all();
    for (profile, scope, file) in [
        ("claude-code", "project", ".claude/settings.json"),
        ("claude-code", "local", ".claude/settings.local.json"),
        ("gemini-cli", "project", ".gemini/settings.json"),
        ("opencode", "project", "opencode.json"),
        ("droid", "project", ".factory/settings.json"),
        ("kilo", "project", "kilo.json"),
        ("qoder", "project", ".qoder/settings.json"),
        ("qoder", "local", ".qoder/settings.local.json"),
        ("qwen-code", "project", ".qwen/settings.json"),
    ] {
        let args = |verb| [verb, "pdf", "--profile", profile, "--scope", scope, "--yes"];
        fixture.run(&args("disable"), 0);
        assert!(fixture.top.join(file).exists(), "{file}");
        assert_ne!(fixture.state(profile, "pdf"), "active");
        // The user's file is weaker, or adds to this one.
        if !["opencode", "kilo"].contains(&profile) {
            let refused = fixture.run(&["enable", "pdf", "--profile", profile, "--yes"], 5);
            assert!(stderr(&refused).contains(file), "{}", stderr(&refused));
        }
        fixture.run(&args("enable"), 0);
        assert_eq!(fixture.all(), before, "{profile} {scope}");
    }
    for (profile, title) in [("codex", "Codex"), ("copilot-cli", "Copilot CLI")] {
        let args = ["disable", "pdf", "--profile", profile, "--scope", "project"];
        let refused = fixture.run(&args, 2);
        assert!(stderr(&refused).contains(title), "{}", stderr(&refused));
    }
}

#[test]
fn stronger_setting_is_named_and_nothing_is_written() {
    let fixture = SwitchFixture::new(HOME);
    let local = fixture.top.join(".claude/settings.local.json");
    fs::write(&local, "{\"skillOverrides\": {\"pdf\": \"name-only\"}}\n").unwrap();
    fs::write(
        fixture.top.join("opencode.json"),
        "{\"permission\": {\"skill\": {\"pd*\": \"allow\"}}}\n",
    )
    .unwrap();
    fixture.run(&["trust", "--help"], 0);
    let before = fixture.all();
    let refused = fixture.run(&["disable", "pdf", "--profile", "claude-code", "--yes"], 5);
    assert!(stderr(&refused).contains("settings.local.json` decides"), "{}", stderr(&refused));
    assert_eq!(fixture.all(), before);
    // A plugin of an agent, and a profile without such a setting.
    let refused = fixture.run(&["disable", "pdf", "--profile", "agentskills", "--yes"], 2);
    assert!(stderr(&refused).contains("no setting"), "{}", stderr(&refused));
    let refused = fixture.run(&["disable", "gone", "--profile", "codex", "--yes"], 1);
    assert!(stderr(&refused).contains("gone"), "{}", stderr(&refused));
    // Without a person or `--yes`.
    let refused = fixture.run(&["disable", "pdf", "--profile", "codex"], 2);
    let hint = "`skillsd disable pdf --profile codex --yes`";
    assert!(stderr(&refused).contains(hint), "{}", stderr(&refused));
    fixture.run(&["disable", "pdf", "--profile", "codex", "--dry-run"], 0);
    let (code, shown) = run_at_terminal(
        &fixture.home,
        &fixture.top,
        &["disable", "pdf", "--profile", "codex"],
        "n",
    );
    assert_eq!(code, Some(0));
    assert!(shown.contains("Nothing was changed"), "{shown}");
    assert_eq!(fixture.all(), before);
}

#[test]
fn broken_file_is_never_overwritten() {
    let fixture = SwitchFixture::new(HOME);
    for (profile, _, file) in AGENTS {
        fs::write(fixture.home.path().join(file), "{ broken = [\n").unwrap();
        let before = fixture.all();
        let refused = fixture.run(&["disable", "pdf", "--profile", profile, "--yes"], 1);
        assert!(stderr(&refused).contains("nothing was changed"), "{}", stderr(&refused));
        assert_eq!(fixture.all(), before);
    }
    // Claude Code reads strict JSON, and ignores a file with an unknown value.
    for (text, why) in [
        ("{} // mine\n", "settings.json:1` is not JSON: comments are not allowed"),
        ("{\"skillOverrides\": {\"x\": \"never\"}}\n", "`skillOverrides"),
    ] {
        let settings = fixture.home.path().join(".claude/settings.json");
        fs::write(&settings, text).unwrap();
        let refused = fixture.run(&["disable", "pdf", "--profile", "claude-code", "--yes"], 1);
        assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
        assert_eq!(fs::read_to_string(settings).unwrap(), text);
    }
}

#[test]
fn link_out_of_the_worktree_is_not_written_through() {
    let fixture = SwitchFixture::new("//- /home/dotfiles/claude.json\n{}\n//- /home/x.json\n{}\n");
    let home = fixture.home.path();
    // The user's own link into the home is followed and stays.
    fs::create_dir_all(home.join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", home.join(".claude/settings.json")).unwrap();
    let args = ["disable", "pdf", "--profile", "claude-code", "--yes"];
    fixture.run(&args, 0);
    assert!(home.join(".claude/settings.json").is_symlink());
    assert!(fs::read_to_string(home.join("dotfiles/claude.json")).unwrap().contains("pdf"));
    fixture.run(&["enable", "pdf", "--profile", "claude-code", "--yes"], 0);
    assert_eq!(fs::read_to_string(home.join("dotfiles/claude.json")).unwrap(), "{}\n");

    symlink(home.join("x.json"), fixture.top.join(".claude/settings.json")).unwrap();
    let refused = fixture.run(&[&args[..], &["--scope", "project"]].concat(), 5);
    assert!(stderr(&refused).contains("outside of"), "{}", stderr(&refused));
    assert_eq!(fs::read_to_string(home.join("x.json")).unwrap(), "{}\n");
}

#[test]
fn settings_that_are_no_regular_file_do_not_hang_a_switch() {
    let home = Home::new();
    let top = home.worktree(
        "w",
        "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: d\n---\nx\n",
    );
    for device in ["/dev/zero", "/dev/tty"] {
        let settings = top.join(".claude/settings.json");
        let _ = fs::remove_file(&settings);
        std::os::unix::fs::symlink(device, &settings).unwrap();
        let args = ["disable", "pdf", "--profile", "claude-code", "--yes"];
        let output = run(&home, &top, &args);
        assert!(matches!(output.status.code(), Some(0..=5)), "{device}: {}", stderr(&output));
        run(&home, &top, &["enable", "pdf", "--profile", "claude-code", "--yes"]);
    }
}

#[test]
fn undo_of_one_skill_keeps_the_override_of_another_in_the_same_file() {
    let user = "//- /home/.claude/settings.json\n{\"skillOverrides\": {\"pdf\": \"off\"}}\n";
    let fixture = SwitchFixture::new(user);
    // Settings of a worktree switch nothing on before it is trusted.
    trust_at_terminal(&fixture.home, &fixture.top, &[]);
    let local = ["--profile", "claude-code", "--scope", "local", "--yes"];
    let switch = |verb: &str, name: &str| fixture.run(&[&[verb, name], &local[..]].concat(), 0);
    switch("disable", "commit");
    switch("enable", "pdf");
    assert_eq!(fixture.state("claude-code", "pdf"), "active");
    switch("enable", "commit");
    assert_eq!(fixture.state("claude-code", "pdf"), "active");
    assert_eq!(fixture.state("claude-code", "commit"), "active");
}
