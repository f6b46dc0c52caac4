//! Agents' own configuration files: an edit shows in the next list, and `explain` names the line
//! that decided.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_agents::profile::{self, RootBase, SettingsSource};
use skills_testkit::fixture::{lay_out, write_marketplace, write_skill};

use crate::support::{Live, entries, listed, run, run_json, stdout};

/// A running daemon with one worktree, queried with one profile.
struct ProfileFixture {
    live: Live,
    top: PathBuf,
    profile: &'static str,
}

impl ProfileFixture {
    fn new(profile: &'static str, tree: &str) -> Self {
        let live = Live::start();
        let top = live.home.worktree("w", tree);
        Self { live, top, profile }
    }

    fn list(&mut self, include: &[&str]) -> Value {
        let params = json!({"cwd": self.top, "profile": self.profile, "include": include});
        self.live.wire.call("skills/list", &params)
    }

    fn names(&mut self) -> Vec<String> {
        listed(&self.list(&[])).into_iter().map(|skill| skill.name).collect()
    }

    /// Returns the health messages about the agent's configuration files.
    fn problems(&mut self) -> Vec<String> {
        let result = self.list(&[]);
        let health = result["health"].as_array().expect("health is a list");
        let ours = health.iter().filter(|it| it["code"] == "agent-settings");
        ours.map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn explain(&self, what: &str) -> Value {
        run_json(&self.live.home, &self.top, &["--profile", self.profile, "explain", what])
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it is made");
    fs::write(path, text).expect("it is written");
}

#[test]
fn edit_of_opencode_json_shows_in_the_next_list() {
    let mut fixture = ProfileFixture::new("opencode", "");
    let config = fixture.top.join("opencode.json");
    write_skill(&fixture.top.join("more/a"), "a", "d");
    write_skill(&fixture.top.join("other/b"), "b", "d");
    assert!(fixture.names().is_empty());
    write(&config, r#"{"skills": {"paths": ["more"]}}"#);
    assert_eq!(fixture.names(), ["a"]);
    write(
        &config,
        "{\n  // the other one\n  \"skills\": {\"paths\": [\"other\", \"gone\"],},\n}\n",
    );
    assert_eq!(fixture.names(), ["b"]);
    let problems = fixture.problems();
    assert!(
        problems[0].contains("opencode.json:3:33") && problems[0].contains("gone"),
        "{problems:?}"
    );
    // A configured path that does not exist yet is watched.
    write_skill(&fixture.top.join("gone/c"), "c", "d");
    assert_eq!(fixture.names(), ["b", "c"]);
    assert!(fixture.problems().is_empty());
    write(&config, "{\n  \"skills\": {\"paths\": [\"more\" \"other\"]}\n}\n");
    assert!(fixture.names().is_empty());
    let problems = fixture.problems();
    assert!(
        problems[0].contains("opencode.json:2:30") && problems[0].contains("not JSON"),
        "{problems:?}"
    );
    // Editors write a new file and rename it over the old one.
    let beside = fixture.top.join("opencode.json.tmp");
    write(&beside, r#"{"skills": {"paths": ["./more", "./other"]}}"#);
    fs::rename(&beside, &config).expect("it is moved");
    assert_eq!(fixture.names(), ["a", "b"]);
    // A file with higher precedence is added, then removed with its directory.
    write(&fixture.top.join(".opencode/opencode.json"), r#"{"skills": {"paths": []}}"#);
    assert!(fixture.names().is_empty());
    fs::remove_dir_all(fixture.top.join(".opencode")).expect("it is removed");
    assert_eq!(fixture.names(), ["a", "b"]);
    fs::remove_file(&config).expect("it is removed");
    assert!(fixture.names().is_empty());
}

#[test]
fn explain_names_the_line_that_denies_the_skill_tool() {
    let fixture = ProfileFixture::new(
        "opencode",
        "//- /opencode.json\n{\n  \"permission\": {\"skill\": {\"a\": \"allow\",\n    \"*\": \"deny\"}}\n}\n",
    );
    write_skill(&fixture.top.join(".opencode/skills/a"), "a", "d");
    let explained = fixture.explain("a");
    let summary = explained["verdict"]["summary"].as_str().expect("a sentence");
    assert!(
        summary.contains("opencode.json:3:5") && summary.contains("disables the skill tool"),
        "{summary}"
    );
    let steps = explained["steps"].as_array().expect("steps");
    let decided: Vec<_> = steps
        .iter()
        .filter(|it| it["kind"] == "settings" && it["outcome"] == "noted")
        .map(|it| {
            (
                it["line"].as_u64(),
                it["file"].as_str().unwrap_or_default().ends_with("opencode.json"),
            )
        })
        .collect();
    assert_eq!(decided, [(Some(2), true), (Some(3), true), (Some(3), true)]);
    let text = run(&fixture.live.home, &fixture.top, &["--profile", "opencode", "explain", "a"]);
    assert!(stdout(&text).contains("opencode.json:3:5"), "{}", stdout(&text));
}

#[test]
fn plugin_skills_follow_the_plugin_files() {
    let mut fixture = ProfileFixture::new("claude-code", "");
    let home = fixture.live.home.path().to_owned();
    let plugin = home.join(".claude/plugins/cache/market/tools/1.0");
    write_skill(&plugin.join("skills/a"), "a", "d");
    assert!(fixture.names().is_empty());
    let installed = json!({"version": 2, "plugins": {"tools@market": [{"scope": "user", "installPath": plugin}]}});
    write(&home.join(".claude/plugins/installed_plugins.json"), &installed.to_string());
    write_marketplace(&home.join(".claude/plugins"), "market", "tools");
    assert!(fixture.names().is_empty(), "it is not on");
    let settings = fixture.top.join(".claude/settings.json");
    write(&settings, r#"{"enabledPlugins": {"tools@market": true}}"#);
    assert!(fixture.names().is_empty(), "the worktree is not trusted");
    fixture.live.wire.grant("trust/set", &json!({"dir": fixture.top, "trusted": true}));
    assert_eq!(fixture.names(), ["tools:a"]);
    let result = fixture.list(&[]);
    let entry = &entries(&result)[0];
    assert_eq!(
        (&entry["scope"], &entry["namespace"], &entry["trusted"]),
        (&json!("plugin"), &json!("tools"), &json!(true))
    );
    write(&plugin.join("commands/git/push.md"), "---\ndescription: d\n---\nPush it.\n");
    assert_eq!(fixture.names(), ["tools:git:push", "tools:a"]);
    write(&plugin.join(".claude-plugin/plugin.json"), r#"{"name": "kit"}"#);
    assert_eq!(fixture.names(), ["kit:git:push", "kit:a"]);
    write(&settings, r#"{"enabledPlugins": {"tools@market": false}}"#);
    assert!(fixture.names().is_empty());
    let local = fixture.top.join(".claude/settings.local.json");
    write(&local, r#"{"enabledPlugins": {"tools@market": true}}"#);
    assert_eq!(fixture.names().len(), 2);
    fs::remove_file(home.join(".claude/plugins/installed_plugins.json")).expect("it is removed");
    // The plugin is still in the cache.
    assert_eq!(fixture.names().len(), 2);
    fs::remove_dir_all(home.join(".claude/plugins")).expect("it is removed");
    assert!(fixture.names().is_empty());
}

#[test]
fn commands_are_listed_as_skills_and_follow_their_files() {
    let mut fixture = ProfileFixture::new("claude-code", "");
    let commands = fixture.top.join(".claude/commands");
    write(&commands.join("front/make.md"), "---\ndescription: Makes\n---\nMake $1.\n");
    assert_eq!(fixture.names(), ["front:make"]);
    let result = fixture.list(&[]);
    let entry = &entries(&result)[0];
    assert_eq!(
        (&entry["scope"], &entry["namespace"], &entry["trusted"]),
        (&json!("command"), &json!("front"), &json!(false))
    );
    write(&commands.join("go.md"), "Go.\n");
    assert_eq!(fixture.names(), ["front:make", "go"]);
    write_skill(&fixture.top.join(".claude/skills/go"), "go", "d");
    assert_eq!(fixture.names(), ["go", "front:make"]);
    fs::rename(commands.join("front"), commands.join("back")).expect("it is moved");
    assert_eq!(fixture.names(), ["go", "back:make"]);
    fs::remove_dir_all(&commands).expect("it is removed");
    assert_eq!(fixture.names(), ["go"]);
}

#[test]
fn codex_config_and_openai_yaml_switch_skills_off_and_on() {
    let mut codex = ProfileFixture::new("codex", "");
    let home = codex.live.home.path().to_owned();
    write_skill(&codex.top.join(".codex/skills/a"), "a", "d");
    write_skill(&codex.top.join(".codex/skills/b"), "b", "d");
    assert_eq!(codex.names(), ["a", "b"]);
    write(&home.join(".codex/config.toml"), "[[skills.config]]\nname = \"a\"\nenabled = false\n");
    assert_eq!(codex.names(), ["b"]);
    write(
        &codex.top.join(".codex/skills/b/agents/openai.yaml"),
        "policy:\n  allow_implicit_invocation: false\n",
    );
    assert!(codex.names().is_empty());
    let states: Vec<_> =
        entries(&codex.list(&["all"])).iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, [json!("ignored"), json!("hidden")]);
    fs::remove_file(codex.top.join(".codex/skills/b/agents/openai.yaml")).expect("it is removed");
    assert_eq!(codex.names(), ["b"]);
    write(&home.join(".codex/config.toml"), "[[skills.config]]\nname = \"a\"\nenabled = true\n");
    assert_eq!(codex.names(), ["a", "b"]);
}

#[test]
fn gemini_cli_applies_trusted_folders_and_disabled_names() {
    let mut fixture = ProfileFixture::new("gemini-cli", "");
    let home = fixture.live.home.path().to_owned();
    lay_out(&home, "//- /.gemini/settings.json\n{\"skills\": {\"disabled\": [\"OFF\"]}}\n");
    write_skill(&home.join(".gemini/skills/off"), "off", "d");
    write_skill(&home.join(".gemini/skills/on"), "on", "d");
    write_skill(&fixture.top.join(".gemini/skills/own"), "own", "d");
    assert_eq!(fixture.names(), ["on"]);
    let folders = home.join(".gemini/trustedFolders.json");
    write(
        &folders,
        &json!({fixture.top.to_str().expect("it is UTF-8"): "TRUST_FOLDER"}).to_string(),
    );
    assert_eq!(fixture.names(), ["on", "own"]);
    write(
        &folders,
        &json!({fixture.top.to_str().expect("it is UTF-8"): "DO_NOT_TRUST"}).to_string(),
    );
    assert_eq!(fixture.names(), ["on"]);
}

#[test]
fn unreadable_agent_configuration_is_reported_and_skills_stay_listed() {
    let mut fixture = ProfileFixture::new("opencode", "//- /opencode.json fifo\n");
    write_skill(&fixture.top.join(".opencode/skills/a"), "a", "d");
    assert_eq!(fixture.names(), ["a"]);
    assert!(fixture.problems()[0].contains("named pipe"));
    fs::remove_file(fixture.top.join("opencode.json")).expect("it is removed");
    lay_out(&fixture.top, "//- /opencode.json size=3000000\n{}\n");
    assert!(fixture.problems()[0].contains("too large"));
    fs::remove_file(fixture.top.join("opencode.json")).expect("it is removed");
    write(&fixture.top.join("opencode.json"), &"[".repeat(200_000));
    assert!(fixture.problems()[0].contains("not JSON"));
    assert_eq!(fixture.names(), ["a"]);
}

#[test]
fn name_only_override_removes_the_description_from_the_listing() {
    let mut fixture = ProfileFixture::new("claude-code", "");
    write_skill(&fixture.top.join(".claude/skills/a"), "a", "all of it");
    write_skill(&fixture.top.join(".claude/skills/b"), "b", "not this");
    let mut catalog = || {
        let params = json!({"cwd": fixture.top, "profile": fixture.profile});
        fixture.live.wire.call("catalog/render", &params)["text"].to_string()
    };
    assert!(catalog().contains("- b: not this"), "{}", catalog());
    write(&fixture.top.join(".claude/settings.json"), r#"{"skillOverrides": {"b": "name-only"}}"#);
    let text = catalog();
    assert!(text.contains("- a: all of it") && text.contains("- b"), "{text}");
    assert!(!text.contains("not this"), "{text}");
}

#[test]
fn extension_skills_follow_manifest_and_enablement_files() {
    let mut fixture = ProfileFixture::new("gemini-cli", "");
    let extensions = fixture.live.home.path().join(".gemini/extensions");
    write_skill(&extensions.join("tools/skills/a"), "a", "d");
    assert!(fixture.names().is_empty());
    let manifest = extensions.join("tools/gemini-extension.json");
    write(&manifest, r#"{"name": "tools", "version": "1"}"#);
    assert_eq!(fixture.names(), ["a"]);
    let enablement = extensions.join("extension-enablement.json");
    write(&enablement, r#"{"tools": {"overrides": ["!/*"]}}"#);
    assert!(fixture.names().is_empty());
    let explained = fixture.explain("a");
    let summary = explained["verdict"]["summary"].to_string();
    assert!(summary.contains("extension-enablement.json:1:26"), "{summary}");
    fs::remove_file(&enablement).expect("it is there");
    assert_eq!(fixture.names(), ["a"]);
    fs::remove_file(&manifest).expect("it is there");
    assert!(fixture.names().is_empty());
}

#[test]
fn files_written_by_opencode_do_not_change_the_clock() {
    let tree = "//- /.opencode/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n";
    let mut fixture = ProfileFixture::new("opencode", tree);
    let before = fixture.list(&[])["clock"].clone();
    write(&fixture.top.join(".opencode/.gitignore"), "node_modules\n");
    write(&fixture.top.join(".git/opencode"), "an id\n");
    assert_eq!(fixture.list(&[])["clock"], before);
    // A skill added in the same directories does change the list.
    write_skill(&fixture.top.join(".opencode/skill/b"), "b", "d");
    assert_eq!(fixture.names(), ["b", "a"]);
    assert_ne!(fixture.list(&[])["clock"], before);
}

/// Returns the directory that a settings rule refers to, or `None` for one that a test must not
/// write to.
fn directory_of(base: &RootBase, home: &Path, top: &Path) -> Option<PathBuf> {
    match base {
        RootBase::Home => Some(home.to_owned()),
        RootBase::Variable { below_home, .. } => Some(home.join(&**below_home)),
        RootBase::IfSet { name } => Some(home.join(&**name)),
        RootBase::Ancestors { .. } => Some(top.to_owned()),
        // The working directory's own file, at the top.
        RootBase::Absolute(_) | RootBase::MainWorktree => None,
        other => panic!("no configuration file is at {other:?}"),
    }
}

#[test]
fn every_agent_configuration_file_is_watched() {
    let mut live = Live::start();
    let mut n_files = 0;
    for profile in profile::agents() {
        let home = live.home.path().join(&*profile.id);
        let top = live.home.worktree(&profile.id, "");
        let mut environment = json!({"HOME": home});
        for rule in &profile.settings {
            if let RootBase::IfSet { name } = &rule.base {
                environment[&**name] = json!(home.join(&**name));
            }
        }
        let params = json!({"cwd": top, "profile": profile.id, "environment": environment});
        let mut is_told = |file: &Path| {
            let health = live.wire.call("skills/list", &params)["health"].to_string();
            health.contains(file.to_str().expect("a plain path"))
        };
        let files = profile.settings.iter().filter(|it| it.source == SettingsSource::File);
        for rule in files {
            let Some(directory) = directory_of(&rule.base, &home, &top) else { continue };
            for relative in &rule.relative {
                let relative = relative.replace("**/", "deep/").replace('*', "one");
                let file = directory.join(&relative);
                // A variable may hold the path of the file itself.
                let file = if relative.is_empty() { directory.clone() } else { file };
                assert!(!is_told(&file), "{}", file.display());
                let is_markdown = file.extension().is_some_and(|it| it == "md");
                write(&file, if is_markdown { "---\n[\n---\n" } else { "{,}\n" });
                assert!(is_told(&file), "{}: {} is not watched", profile.id, file.display());
                fs::remove_file(&file).expect("it is removed");
                assert!(!is_told(&file), "{}", file.display());
                n_files += 1;
            }
        }
    }
    assert!(n_files >= 15, "{n_files}");
}
