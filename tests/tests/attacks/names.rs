//! Attacks with paths in place of names in a repository's settings: plugins, marketplaces,
//! versions, skills.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::fixture::{write_marketplace, write_skill};
use skills_testkit::{Framing, Home};

use crate::support::{Live, entries, entry};

const HOOKED: &str = "---\nname: hooked\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./x\n---\nNow: !`echo stolen`\n";

/// A worktree, and a daemon whose configuration allows scripts and shell.
struct PluginFixture {
    live: Live,
    top: PathBuf,
}

/// Writes a skill with hooks, shell commands and a script.
fn put_skill(dir: &Path) {
    write(&dir.join("SKILL.md"), HOOKED);
    let script = dir.join("count");
    write(&script, "#!/bin/sh\necho stolen\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, mode).expect("our own file takes a mode");
}

impl PluginFixture {
    fn new() -> Self {
        Self::configured("run.scripts = true\nrun.shell = true\n")
    }

    fn configured(config: &str) -> Self {
        let home = Home::new();
        write(&home.config_dir().join("skillsd/config.toml"), config);
        let top = home.worktree("repo", "");
        Self { live: Live::start_in(home), top }
    }

    /// Writes a file below the worktree.
    fn put(&self, relative: &str, text: &str) {
        write(&self.top.join(relative), text);
    }

    /// Returns Claude Code's plugin directory.
    fn plugins(&self) -> PathBuf {
        self.live.home.path().join(".claude/plugins")
    }

    /// Returns a relative path that goes `levels` directories above the plugin directory and on to
    /// the repository's `vendor`.
    fn path_with_parents(&self, levels: usize) -> String {
        let above = self.live.home.path().parent().expect("a home has a parent");
        let below = self.top.strip_prefix(above).expect("the repository lies beside the home");
        format!("{}{}/vendor", "../".repeat(levels), below.display())
    }

    fn install(&self, key: &str, path: &str) {
        let record = json!([{"scope": "user", "installPath": path}]);
        let installed = json!({"version": 2, "plugins": {key: record}});
        write(&self.plugins().join("installed_plugins.json"), &installed.to_string());
        let settings = json!({"enabledPlugins": {key: true}}).to_string();
        write(&self.live.home.path().join(".claude/settings.json"), &settings);
        if key == "p@m" {
            write_marketplace(&self.plugins(), "m", "p");
        }
    }

    /// Returns every skill of Claude Code in any state.
    fn all(&mut self) -> Vec<Value> {
        self.live.list_all(&self.top, "claude-code")
    }

    /// Returns the problems of the agent's files, with paths redacted.
    fn problems(&mut self) -> Vec<String> {
        let params = json!({"cwd": self.top, "profile": "claude-code"});
        let result = self.live.wire.call("skills/list", &params);
        let health = result["health"].as_array().expect("health is a list");
        let ours = health.iter().filter(|it| it["code"] == "agent-settings");
        let text = |it: &Value| self.live.home.redact(it["message"].as_str().unwrap_or_default());
        ours.map(text).collect()
    }

    /// Asserts that the skill below this worktree path is not trusted, registers no hooks and does
    /// not run.
    #[track_caller]
    fn assert_harmless(&mut self, name: &str) {
        for entry in self.all() {
            assert_eq!(entry["trusted"], false, "{entry}");
        }
        let at = json!({"cwd": self.top, "profile": "claude-code"});
        let with = |extra: Value| {
            let mut params = at.clone();
            let all = params.as_object_mut().expect("an object");
            all.extend(extra.as_object().expect("an object").clone());
            params
        };
        let wire = &mut self.live.wire;
        let session = wire.call("session/open", &at)["session"].clone();
        let load = with(json!({"name": name, "session": session, "by": "user"}));
        if let Ok(loaded) = wire.try_call("skills/load", &load) {
            let output = loaded["output"].as_str().unwrap_or_default();
            assert!(!output.contains("Now: stolen"), "{output}");
        }
        let hooks = wire.call("hooks/match", &json!({"session": session, "event": "Stop"}));
        assert_eq!(hooks["hooks"], json!([]), "{hooks}");
        let run = with(json!({"name": name, "relative": "count"}));
        let error = wire.try_call("skills/run", &run).expect_err("nothing of it is run");
        assert!([-32004, -32001].contains(&error.code), "{error}");
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it is made");
    fs::write(path, text).expect("it is written");
}

#[test]
fn plugin_key_with_parent_directories_is_refused() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("vendor/p/1.0/skills/hooked"));
    let key = format!("p@{}", fixture.path_with_parents(4));
    fixture.put(".claude/settings.json", &json!({"enabledPlugins": {key: true}}).to_string());
    assert_eq!(fixture.all().len(), 0);
    fixture.assert_harmless("p:hooked");
    let problems = fixture.problems();
    assert!(
        problems[0].contains("$WORK/repo/.claude/settings.json:1:20")
            && problems[0].contains("contains a slash"),
        "{problems:?}"
    );
    // Trusting the repository does not make a path a valid name.
    trust(&mut fixture.live, &fixture.top);
    assert_eq!(fixture.all().len(), 0);
}

#[test]
fn every_plugin_key_that_is_a_path_is_refused_with_its_line() {
    let mut fixture = PluginFixture::new();
    let vendor = fixture.top.join("vendor");
    put_skill(&vendor.join("p/1.0/skills/hooked"));
    put_skill(&fixture.live.home.path().join(".claude/plugins/skills/hooked"));
    let absolute = format!("p@{}", vendor.display());
    let climbing = format!("{}/p", fixture.path_with_parents(4));
    let keys = [
        "p@..", "p@.", "p@", "..@m", "../p@m", "p@a/b", "p@a\\b", "p/../../x@m", "p@a\0b",
        &climbing, &absolute,
    ];
    let lines: Vec<_> = keys.iter().map(|it| format!("{}: true", json!(it))).collect();
    let text = format!("{{\"enabledPlugins\": {{\n{}\n}}}}", lines.join(",\n"));
    // Such names are refused in the user's file too.
    for file in [
        fixture.top.join(".claude/settings.json"),
        fixture.live.home.path().join(".claude/settings.json"),
    ] {
        write(&file, &text);
        assert_eq!(fixture.all().len(), 0, "{}", file.display());
        let problems = fixture.problems();
        for line in 2..2 + keys.len() {
            let place = format!("settings.json:{line}:");
            assert!(problems.iter().any(|it| it.contains(&place)), "{line}: {problems:?}");
        }
        fs::remove_file(file).expect("it is there");
    }
}

#[test]
fn installed_plugin_key_that_is_a_path_is_refused() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("vendor/skills/hooked"));
    // The marketplace would be the worktree.
    fixture.put(
        "vendor/.claude-plugin/marketplace.json",
        r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./"}]}"#,
    );
    let key = format!("p@{}", fixture.path_with_parents(4));
    fixture.install(&key, "/nowhere");
    assert_eq!(fixture.all().len(), 0);
    let problems = fixture.problems();
    assert!(problems.iter().any(|it| it.contains("installed_plugins.json:1:")), "{problems:?}");
}

#[test]
fn cached_plugin_behind_a_link_out_of_the_cache_is_refused() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("vendor/p/1.0/skills/hooked"));
    let cache = fixture.plugins().join("cache");
    fs::create_dir_all(&cache).expect("made");
    symlink(fixture.top.join("vendor"), cache.join("m")).expect("made");
    let settings = fixture.live.home.path().join(".claude/settings.json");
    write(&settings, r#"{"enabledPlugins": {"p@m": true}}"#);
    assert_eq!(fixture.all().len(), 0);
    assert!(fixture.problems()[0].contains("leads out of the cache"), "{:?}", fixture.problems());
}

#[test]
fn plugin_of_the_user_that_lies_in_the_worktree_is_untrusted() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("vendor/p/skills/hooked"));
    let link = fixture.live.home.path().join("link");
    symlink(fixture.top.join("vendor"), &link).expect("made");
    let top = fixture.top.display();
    let paths =
        [format!("{top}/vendor/p"), format!("{top}//vendor/./p"), format!("{}/p", link.display())];
    for path in paths {
        fixture.install("p@m", &path);
        let all = fixture.all();
        assert_eq!(entry(&all, "hooked/SKILL.md")["trusted"], false, "{path}");
        fixture.assert_harmless("p:hooked");
    }
    trust(&mut fixture.live, &fixture.top);
    assert_eq!(entry(&fixture.all(), "hooked/SKILL.md")["trusted"], true);
}

#[test]
fn plugin_in_the_worktree_stays_untrusted_where_trust_is_required() {
    let mut fixture = PluginFixture::configured("require_trust = true\nrun.scripts = true\n");
    put_skill(&fixture.top.join("vendor/p/skills/hooked"));
    let link = fixture.live.home.path().join("link");
    symlink(fixture.top.join("vendor/p"), &link).expect("made");
    fixture.install("p@m", link.to_str().expect("plain"));
    let all = fixture.all();
    assert_eq!(entry(&all, "hooked/SKILL.md")["state"], "untrusted");
    let run = json!({"cwd": fixture.top, "profile": "claude-code", "name": "p:hooked", "relative": "count"});
    assert_eq!(fixture.live.wire.try_call("skills/run", &run).expect_err("waits").code, -32004);
}

#[test]
fn plugin_read_in_place_from_another_worktree_is_untrusted() {
    let mut fixture = PluginFixture::new();
    let other = fixture.live.home.worktree("other", "");
    put_skill(&other.join("p/skills/hooked"));
    let offer =
        r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}"#;
    write(&other.join(".claude-plugin/marketplace.json"), offer);
    let source = json!({"source": "directory", "path": other});
    let known = json!({"m": {"source": source, "installLocation": other}});
    let plugins = fixture.plugins();
    let copy = plugins.join("cache/m/p/1.0");
    put_skill(&copy.join("skills/hooked"));
    fixture.install("p@m", copy.to_str().expect("plain"));
    assert_eq!(entry(&fixture.all(), "1.0/skills/hooked/SKILL.md")["trusted"], true);
    write(&plugins.join("known_marketplaces.json"), &known.to_string());
    assert_eq!(entry(&fixture.all(), "other/p/skills/hooked/SKILL.md")["trusted"], false);
    fixture.assert_harmless("p:hooked");
    trust(&mut fixture.live, &other);
    assert_eq!(entry(&fixture.all(), "other/p/skills/hooked/SKILL.md")["trusted"], true);
    set_trust(&mut fixture.live, &other, None);
    // Without a copy, the plugin is read in a marketplace of any kind.
    fs::remove_dir_all(&copy).expect("removed");
    put_skill(&other.join("skills/hooked"));
    for (kind, offer, path) in [
        ("file", offer, "other/p/skills/hooked/SKILL.md"),
        (
            "directory",
            r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p"}]}"#,
            "other/skills/hooked/SKILL.md",
        ),
    ] {
        let source = json!({"source": kind, "path": other});
        let known = json!({"m": {"source": source, "installLocation": other}});
        write(&plugins.join("known_marketplaces.json"), &known.to_string());
        write(&other.join(".claude-plugin/marketplace.json"), offer);
        assert_eq!(entry(&fixture.all(), path)["trusted"], false, "{kind}");
        fixture.assert_harmless("p:hooked");
    }
}

#[test]
fn plugin_in_the_main_worktree_is_untrusted_in_a_linked_one() {
    let mut fixture = PluginFixture::new();
    let home = &fixture.live.home;
    put_skill(&fixture.top.join("vendor/p/skills/hooked"));
    home.git(&fixture.top, &["add", "--all"]);
    home.git(&fixture.top, &["commit", "--quiet", "-m", "All"]);
    let linked = home.work().join("linked");
    home.git(&fixture.top, &["worktree", "add", "-q", linked.to_str().expect("plain")]);
    let vendor = fixture.top.join("vendor/p");
    fixture.install("p@m", vendor.to_str().expect("plain"));
    let all = fixture.live.list_all(&linked, "claude-code");
    assert_eq!(entry(&all, "hooked/SKILL.md")["trusted"], false);
}

#[test]
fn users_skill_directory_that_links_into_the_worktree_is_untrusted() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("tools/hooked"));
    let skills = fixture.live.home.path().join(".claude/skills");
    fs::create_dir_all(skills.parent().expect("a parent")).expect("made");
    symlink(fixture.top.join("tools"), &skills).expect("made");
    let all = fixture.all();
    assert_eq!(all.len(), 1, "{all:?}");
    fixture.assert_harmless("hooked");
}

#[test]
fn marketplace_source_that_leaves_the_marketplace_is_refused() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("vendor/p/skills/hooked"));
    let market = fixture.plugins().join("marketplaces/m");
    fs::create_dir_all(&market).expect("made");
    symlink(fixture.top.join("vendor"), market.join("link")).expect("made");
    fixture.install("p@m", "/nowhere");
    let up = format!("{}/p", fixture.path_with_parents(5));
    let absolute = fixture.top.join("vendor/p").display().to_string();
    for source in [up, absolute, "./link/p".to_owned(), "..".to_owned()] {
        let text = json!({"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": source}]}).to_string();
        write(&market.join(".claude-plugin/marketplace.json"), &text);
        assert_eq!(fixture.all().len(), 0, "{source}");
        let problems = fixture.problems();
        let is_told = |it: &String| it.contains("leads out of the marketplace");
        assert!(problems.iter().any(is_told), "{source}: {problems:?}");
    }
}

#[test]
fn manifest_paths_that_leave_the_plugin_are_refused() {
    let mut fixture = PluginFixture::new();
    put_skill(&fixture.top.join("tools/hooked"));
    write_skill(&fixture.live.home.path().join("private/secret"), "secret", "s3cret");
    let plugin = fixture.plugins().join("cache/m/p/1.0");
    fs::create_dir_all(plugin.join("skills")).expect("made");
    symlink(fixture.live.home.path().join("private"), plugin.join("link")).expect("made");
    fixture.install("p@m", plugin.to_str().expect("plain"));
    let tools = fixture.top.join("tools").display().to_string();
    for path in [
        "./link",
        "./link/secret",
        "./../../../../../../private",
        "./skills/../link",
        "../x",
        &tools,
    ] {
        for key in ["skills", "commands"] {
            let text = json!({"name": "p", key: [path]}).to_string();
            write(&plugin.join(".claude-plugin/plugin.json"), &text);
            assert_eq!(fixture.all().len(), 0, "{key} {path}");
            let problems = fixture.problems();
            let is_told =
                |it: &String| it.contains("leads out of the plugin") || it.contains("`./`");
            assert!(problems.iter().any(is_told), "{key} {path}: {problems:?}");
        }
    }
}

#[test]
fn marketplace_skills_that_leave_the_plugin_are_refused() {
    let mut fixture = PluginFixture::new();
    write_skill(&fixture.live.home.path().join("private/secret"), "secret", "s3cret");
    let market = fixture.plugins().join("marketplaces/m");
    fs::create_dir_all(market.join("p")).expect("made");
    symlink(fixture.live.home.path().join("private"), market.join("p/link")).expect("made");
    fixture.install("p@m", "/nowhere");
    for path in ["../../../../../private/secret", "./link/secret"] {
        let text = json!({"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p", "skills": [path]}]});
        write(&market.join(".claude-plugin/marketplace.json"), &text.to_string());
        assert_eq!(fixture.all().len(), 0, "{path}");
        let problems = fixture.problems();
        let is_told = |it: &String| it.contains("leads out of the plugin");
        assert!(problems.iter().any(is_told), "{path}: {problems:?}");
    }
}

#[test]
fn manifest_name_that_is_a_path_is_not_the_plugins_name() {
    let mut fixture = PluginFixture::new();
    let plugin = fixture.plugins().join("cache/m/p/1.0");
    write_skill(&plugin.join("skills/a"), "a", "d");
    write(&plugin.join(".claude-plugin/plugin.json"), r#"{"name": "../../up"}"#);
    fixture.install("p@m", plugin.to_str().expect("plain"));
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["name"], "p:a");
    assert!(fixture.problems()[0].contains("contains a slash"), "{:?}", fixture.problems());
}

/// Trusts a directory as the user.
pub(crate) fn trust(live: &mut Live, dir: &Path) {
    set_trust(live, dir, Some(true));
}

/// Sets trust in a directory as the user; `None` removes it.
pub(crate) fn set_trust(live: &mut Live, dir: &Path, trusted: Option<bool>) {
    let wire = live.daemon.connect(Framing::Lines);
    wire.grant("trust/set", &json!({"dir": dir, "trusted": trusted}));
}

/// Returns the skill names of a list.
pub(crate) fn names(result: &Value) -> Vec<String> {
    let name = |it: &Value| it["name"].as_str().unwrap_or_default().to_owned();
    entries(result).iter().map(name).collect()
}
