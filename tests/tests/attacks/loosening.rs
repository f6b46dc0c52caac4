//! Settings of a worktree that would relax a restriction before the worktree is trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::fixture::{write_marketplace, write_skill};
use skills_testkit::{Daemon, Framing, Home, RegistryServer};

use super::names::{names, set_trust, trust};
use crate::support::{Live, entry, exe};

const ASKS: i64 = -32003;
const DENIED: i64 = -32002;

/// A skill that needs approval because of its hooks.
const GUARDED: &str = "---\nname: guarded\ndescription: d\nallowed-tools: Bash\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./x\n---\nBody.\n";

/// A running daemon with one worktree, queried with one profile.
struct SettingsFixture {
    live: Live,
    top: PathBuf,
    profile: &'static str,
    environment: Value,
}

impl SettingsFixture {
    fn new(profile: &'static str) -> Self {
        Self::of(profile, Live::start_in(Home::new()))
    }

    fn of(profile: &'static str, live: Live) -> Self {
        let top = live.home.worktree("repo", "");
        Self { live, top, profile, environment: Value::Null }
    }

    /// Writes a file below the worktree.
    fn put(&self, relative: &str, text: &str) {
        write(&self.top.join(relative), text);
    }

    /// Writes a file below the home directory.
    fn put_home(&self, relative: &str, text: &str) {
        write(&self.live.home.path().join(relative), text);
    }

    /// Sets a variable that the client sends, besides `HOME`.
    fn set(&mut self, name: &str, value: &Path) {
        self.environment = json!({"HOME": self.live.home.path(), name: value});
    }

    fn params(&self, extra: &Value) -> Value {
        let mut params = json!({"cwd": self.top, "profile": self.profile});
        let all = params.as_object_mut().expect("an object");
        all.extend(extra.as_object().expect("an object").clone());
        if !self.environment.is_null() {
            all.insert("environment".to_owned(), self.environment.clone());
        }
        params
    }

    fn list(&mut self, extra: &Value) -> Value {
        let params = self.params(extra);
        self.live.wire.call("skills/list", &params)
    }

    fn names(&mut self) -> Vec<String> {
        let all = names(&self.list(&json!({})));
        let built_in = ["customize-opencode", "antigravity-support", "skill-creator"];
        all.into_iter().filter(|it| !built_in.contains(&it.as_str())).collect()
    }

    fn all(&mut self) -> Vec<Value> {
        crate::support::entries(&self.list(&json!({"include": ["all"]})))
    }

    /// Returns the error code of a load, or 0.
    fn load(&mut self, name: &str) -> i64 {
        let params = self.params(&json!({"name": name}));
        let loaded = self.live.wire.try_call("skills/load", &params);
        loaded.err().map_or(0, |error| error.code)
    }

    fn explain(&mut self, name: &str) -> String {
        let params = self.params(&json!({"name": name}));
        let explained = self.live.wire.call("skills/explain", &params);
        self.live.home.redact(&explained.to_string())
    }

    fn trust(&mut self) {
        trust(&mut self.live, &self.top);
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it is made");
    fs::write(path, text).expect("it is written");
}

#[test]
fn allow_rules_of_a_repository_wait_for_trust() {
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let mut fixture = SettingsFixture::new("claude-code");
        fixture.put(".claude/skills/guarded/SKILL.md", GUARDED);
        assert_eq!(fixture.load("guarded"), ASKS);
        fixture.put(file, "{\n\"permissions\": {\"allow\": [\n\"Skill(guarded)\", \"Skill\"]}}");
        assert_eq!(fixture.load("guarded"), ASKS, "{file}");
        let told = fixture.explain("guarded");
        assert!(
            told.contains(
                "Claude Code applies and skillsd ignores until you run `skillsd trust $WORK/repo`"
            ) && told.contains("\"line\":3")
                && told.contains(file),
            "{told}"
        );
        fixture.trust();
        assert_eq!(fixture.load("guarded"), 0, "{file}");
    }
}

#[test]
fn deny_rules_of_a_repository_apply_at_once() {
    let mut fixture = SettingsFixture::new("claude-code");
    fixture.put_home(".claude/skills/guarded/SKILL.md", GUARDED);
    fixture.put_home(".claude/settings.json", r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#);
    assert_eq!(fixture.load("guarded"), 0);
    fixture.put(".claude/settings.json", r#"{"permissions": {"deny": ["Skill(guarded)"]}}"#);
    assert_eq!(fixture.load("guarded"), DENIED);
}

#[test]
fn permission_map_of_a_repository_never_overrides_the_users() {
    let files = ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"];
    for file in files {
        let mut fixture = SettingsFixture::new("opencode");
        write_skill(&fixture.top.join(".opencode/skills/a"), "a", "d");
        fixture.put_home(
            ".config/opencode/opencode.json",
            r#"{"permission": {"skill": {"a": "ask", "b": "deny"}}}"#,
        );
        assert_eq!(fixture.load("a"), ASKS);
        for allow in [
            r#"{"permission": {"skill": {"a": "allow"}}}"#,
            r#"{"permission": {"skill": "allow"}}"#,
            r#"{"permission": {"*": "allow"}}"#,
            r#"{"permission": "allow"}"#,
            r#"{"permission": {"skill": {"*": "deny", "a*": "allow"}}}"#,
        ] {
            fixture.put(file, allow);
            assert_eq!(fixture.load("a"), ASKS, "{file} {allow}");
        }
        let told = fixture.explain("a");
        assert!(
            told.contains("skillsd ignores until you run `skillsd trust $WORK/repo`"),
            "{told}"
        );
        fixture.put(file, r#"{"permission": {"skill": {"a": "deny"}}}"#);
        assert_eq!(fixture.load("a"), DENIED, "{file}");
        fixture.put(file, r#"{"permission": {"skill": {"a": "allow"}}}"#);
        fixture.trust();
        assert_eq!(fixture.load("a"), 0, "{file}");
    }
}

#[test]
fn repository_cannot_enable_a_plugin_before_trust() {
    let mut fixture = SettingsFixture::new("claude-code");
    let plugin = fixture.live.home.path().join(".claude/plugins/cache/m/p/1.0");
    write_skill(&plugin.join("skills/a"), "a", "d");
    fixture.put(".claude/settings.json", "{\"enabledPlugins\": {\n\"p@m\": true}}");
    assert!(fixture.names().is_empty(), "it is only in the cache");
    let installed =
        json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": plugin}]}});
    fixture.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    write_marketplace(&fixture.live.home.path().join(".claude/plugins"), "m", "p");
    assert!(fixture.names().is_empty());
    let path = plugin.join("skills/a/SKILL.md");
    let params = fixture.params(&json!({"path": path}));
    let told = fixture.live.wire.call("skills/explain", &params).to_string();
    assert!(told.contains("settings.json:2:1") && told.contains("skillsd trust"), "{told}");
    fixture.trust();
    assert_eq!(fixture.names(), ["p:a"]);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
    // The user's setting is not overridden before trust, and a repository's `false` applies.
    fixture.put_home(".claude/settings.json", r#"{"enabledPlugins": {"p@m": false}}"#);
    set_trust(&mut fixture.live, &fixture.top, None);
    assert!(fixture.names().is_empty());
    fixture.put_home(".claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
    assert_eq!(fixture.names(), ["p:a"]);
    fixture.put(".claude/settings.json", r#"{"enabledPlugins": {"p@m": false}}"#);
    assert!(fixture.names().is_empty());
}

#[test]
fn skill_paths_of_a_repository_outside_wait_for_trust() {
    let mut fixture = SettingsFixture::new("opencode");
    write_skill(&fixture.top.join("lib/own"), "own", "d");
    write_skill(&fixture.live.home.path().join("private/secret"), "secret", "s3cret");
    symlink(fixture.live.home.path().join("private"), fixture.top.join("link")).expect("made");
    let absolute = fixture.live.home.path().join("private");
    let absolute = absolute.to_str().expect("plain");
    for path in ["~/private", "../../home/private", "link", "lib/../link", absolute] {
        let text = json!({"skills": {"paths": ["lib", path]}}).to_string();
        fixture.put("opencode.json", &text);
        assert_eq!(fixture.names(), ["own"], "{path}");
        let all = fixture.all();
        assert!(!format!("{all:?}").contains("s3cret"), "{path}");
    }
    assert!(fixture.explain("secret").contains("skillsd trust $WORK/repo"));
    fixture.put("opencode.json", r#"{"skills": {"paths": ["lib", "~/private"]}}"#);
    fixture.trust();
    assert_eq!(fixture.names(), ["own", "secret"]);
    assert_eq!(entry(&fixture.all(), "secret/SKILL.md")["trusted"], false, "it lies elsewhere");
}

#[test]
fn ignored_skill_paths_of_a_repository_do_not_replace_the_users() {
    let mut fixture = SettingsFixture::new("opencode");
    write_skill(&fixture.live.home.path().join("mine/good"), "good", "d");
    fixture.put_home(".config/opencode/opencode.json", r#"{"skills": {"paths": ["~/mine"]}}"#);
    assert_eq!(fixture.names(), ["good"]);
    fixture.put("opencode.json", r#"{"skills": {"paths": ["~/other"]}}"#);
    assert_eq!(fixture.names(), ["good"]);
}

#[test]
fn registry_of_a_repository_is_not_fetched_before_trust() {
    let mut fixture = SettingsFixture::new("opencode");
    let registry = RegistryServer::start();
    registry.text("index.json", r#"{"skills": [{"name": "one", "files": ["SKILL.md"]}]}"#);
    registry.skill("one", "First.");
    fixture.put("opencode.json", &json!({"skills": {"urls": [registry.url()]}}).to_string());
    for _ in 0..3 {
        assert!(fixture.names().is_empty());
    }
    assert_eq!(registry.take_asked(), [""; 0]);
    assert!(fixture.explain("one").contains("skillsd trust $WORK/repo"));
    fixture.trust();
    // The fetch runs in the background.
    let deadline = Instant::now() + Duration::from_secs(30);
    while registry.take_asked().is_empty() {
        assert!(Instant::now() < deadline, "a trusted registry is fetched");
        fixture.names();
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn repository_cannot_reenable_a_user_skill() {
    let mut fixture = SettingsFixture::new("claude-code");
    write_skill(&fixture.live.home.path().join(".claude/skills/a"), "a", "d");
    fixture.put_home(".claude/settings.json", r#"{"skillOverrides": {"a": "off"}}"#);
    for state in ["on", "name-only", "user-invocable-only"] {
        let text = json!({"skillOverrides": {"a": state}}).to_string();
        fixture.put(".claude/settings.local.json", &text);
        assert!(fixture.names().is_empty(), "{state}");
        assert!(fixture.explain("a").contains("skillsd ignores until"), "{state}");
    }
    fixture.put(".claude/settings.local.json", r#"{"skillOverrides": {"a": "on"}}"#);
    fixture.trust();
    assert_eq!(fixture.names(), ["a"]);
}

#[test]
fn repository_can_disable_a_user_skill_at_once() {
    let mut fixture = SettingsFixture::new("claude-code");
    write_skill(&fixture.live.home.path().join(".claude/skills/a"), "a", "d");
    fixture.put_home(".claude/settings.json", r#"{"skillOverrides": {"a": "on"}}"#);
    assert_eq!(fixture.names(), ["a"]);
    fixture.put(".claude/settings.json", r#"{"skillOverrides": {"a": "off"}}"#);
    assert!(fixture.names().is_empty());
    // The later of the repository's two files applies, as in the agent.
    fixture.put(".claude/settings.local.json", r#"{"skillOverrides": {"a": "on"}}"#);
    assert_eq!(fixture.names(), ["a"]);
}

#[test]
fn gemini_settings_of_a_repository_do_not_trust_it() {
    let mut fixture = SettingsFixture::new("gemini-cli");
    write_skill(&fixture.top.join(".gemini/skills/a"), "a", "d");
    let folders = json!({fixture.top.to_str().expect("plain"): "TRUST_FOLDER"}).to_string();
    fixture.put(".gemini/trustedFolders.json", &folders);
    fixture.put(".gemini/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#);
    let is_untrusted = |fixture: &mut SettingsFixture| {
        let states = fixture.all().into_iter().filter(|it| it["name"] == "a");
        let states: Vec<_> = states.map(|it| it["state"].clone()).collect();
        assert!(!states.is_empty());
        states.iter().all(|it| it == "untrusted" || it == "shadowed")
    };
    assert!(is_untrusted(&mut fixture));
    // The same if a variable makes the worktree the agent's home.
    let top = fixture.top.clone();
    fixture.set("GEMINI_CLI_HOME", &top);
    assert!(is_untrusted(&mut fixture));
    fixture.trust();
    assert_eq!(fixture.names(), ["a"]);
}

#[test]
fn plugin_below_an_added_directory_is_untrusted() {
    let mut fixture = SettingsFixture::new("claude-code");
    let added = fixture.live.home.worktree("added", "");
    write(&added.join(".claude/skills/kit/.claude-plugin/plugin.json"), r#"{"name": "kit"}"#);
    let skill = GUARDED.replace("guarded", "tool");
    write(&added.join(".claude/skills/kit/skills/tool/SKILL.md"), &skill);
    let extra = json!({"additionalDirs": [added], "include": ["all"]});
    let all = crate::support::entries(&fixture.list(&extra));
    assert_eq!(entry(&all, "tool/SKILL.md")["trusted"], false);
    trust(&mut fixture.live, &added);
    let all = crate::support::entries(&fixture.list(&extra));
    assert_eq!(entry(&all, "tool/SKILL.md")["trusted"], true);
}

#[test]
fn skills_below_a_variable_that_points_into_a_worktree_are_untrusted() {
    let cases = [
        ("claude-code", "CLAUDE_CONFIG_DIR", "conf", "conf/skills"),
        ("codex", "CODEX_HOME", "conf", "conf/skills"),
        ("opencode", "OPENCODE_CONFIG_DIR", "conf", "conf/skills"),
        ("opencode", "XDG_CONFIG_HOME", "conf", "conf/opencode/skills"),
        ("gemini-cli", "GEMINI_CLI_HOME", "conf", "conf/.gemini/skills"),
    ];
    for (profile, variable, dir, skills) in cases {
        let mut fixture = SettingsFixture::new(profile);
        let other = fixture.live.home.worktree("other", "");
        for (top, is_linked) in
            [(fixture.top.clone(), false), (other.clone(), false), (other, true)]
        {
            write_skill(&top.join(skills).join("a"), "a", "d");
            let mut value = top.join(dir);
            if is_linked {
                let link = fixture.live.home.path().join("link");
                symlink(&value, &link).expect("made");
                value = link;
            }
            fixture.set(variable, &value);
            let all = fixture.all();
            assert_eq!(entry(&all, "a/SKILL.md")["trusted"], false, "{variable} {value:?}");
            trust(&mut fixture.live, &top);
            let all = fixture.all();
            assert_eq!(entry(&all, "a/SKILL.md")["trusted"], true, "{variable} {value:?}");
            set_trust(&mut fixture.live, &top, None);
        }
    }
}

#[test]
fn skills_below_a_variables_usual_place_stay_the_users() {
    let mut fixture = SettingsFixture::new("codex");
    let dir = fixture.live.home.path().join(".codex");
    write_skill(&dir.join("skills/a"), "a", "d");
    fixture.set("CODEX_HOME", &dir);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
}

#[test]
fn skills_below_a_variable_of_the_daemon_stay_the_users() {
    let home = Home::new();
    let dir = home.path().join("elsewhere");
    write_skill(&dir.join("skills/a"), "a", "d");
    let daemon = Daemon::start_with(&home, exe(), &[("CODEX_HOME", &dir)]);
    let wire = daemon.connect(Framing::Header);
    let mut fixture = SettingsFixture::of("codex", Live { wire, daemon, home });
    fixture.set("CODEX_HOME", &dir);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
    let beside = fixture.live.home.path().join("beside");
    write_skill(&beside.join("skills/b"), "b", "d");
    fixture.set("CODEX_HOME", &beside);
    assert_eq!(entry(&fixture.all(), "b/SKILL.md")["trusted"], false);
}

#[test]
fn variable_of_a_users_profile_has_the_daemons_value() {
    let home = Home::new();
    let root = "{ base = \"$ACME_HOME\", relative = \"skills\" }";
    let profile = format!("[profiles.acme]\nbase = \"agentskills\"\nroots = [{root}]\n");
    fs::create_dir_all(home.config_dir().join("skillsd")).expect("made");
    fs::write(home.config_dir().join("skillsd/config.toml"), profile).expect("written");
    let [dir, beside] = ["acme", "beside"].map(|it| home.path().join(it));
    write_skill(&dir.join("skills/a"), "a", "d");
    write_skill(&beside.join("skills/b"), "b", "d");
    let daemon = Daemon::start_with(&home, exe(), &[("ACME_HOME", &dir)]);
    let wire = daemon.connect(Framing::Header);
    let mut fixture = SettingsFixture::of("acme", Live { wire, daemon, home });
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
    fixture.set("ACME_HOME", &dir);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
    fixture.set("ACME_HOME", &beside);
    assert_eq!(entry(&fixture.all(), "b/SKILL.md")["trusted"], false);
}

#[test]
fn skills_below_a_variable_that_only_the_client_has_are_untrusted() {
    let variables = [
        ("claude-code", "CLAUDE_CONFIG_DIR", ""),
        ("codex", "CODEX_HOME", ""),
        ("opencode", "OPENCODE_CONFIG_DIR", ""),
        ("opencode", "XDG_CONFIG_HOME", "opencode/"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/"),
    ];
    for (profile, name, below) in variables {
        let mut fixture = SettingsFixture::new(profile);
        let home = fixture.live.home.path().to_owned();
        let link = home.join("link");
        symlink("elsewhere", &link).expect("a link is made");
        for place in ["elsewhere", ".config/elsewhere", "link"] {
            let dir = home.join(place);
            if place != "link" {
                write_skill(&dir.join(below).join("skills/a"), "a", "d");
            }
            fixture.set(name, &dir);
            let what = format!("{profile} {name} {place}");
            assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], false, "{what}");
            let said = fixture.explain("a");
            assert!(said.contains(&format!("the daemon has another `{name}`")), "{what}: {said}");
        }
        let dir = home.join("elsewhere");
        trust(&mut fixture.live, &dir);
        fixture.set(name, &dir);
        assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true, "{profile} {name}");
    }
}

#[test]
fn settings_below_a_variable_that_only_the_client_has_loosen_nothing() {
    let allows = r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#;
    let mut fixture = SettingsFixture::new("claude-code");
    fixture.put(".claude/skills/guarded/SKILL.md", GUARDED);
    fixture.put_home("conf/settings.json", allows);
    let conf = fixture.live.home.path().join("conf");
    fixture.set("CLAUDE_CONFIG_DIR", &conf);
    assert_eq!(fixture.load("guarded"), ASKS);
    assert!(fixture.explain("guarded").contains("skillsd trust $HOME/conf"));
    let mut fixture = SettingsFixture::new("gemini-cli");
    fixture.put(".gemini/skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    let folders = json!({fixture.top.to_str().expect("a plain name"): "TRUST_FOLDER"});
    fixture.put_home("conf/.gemini/trustedFolders.json", &folders.to_string());
    let conf = fixture.live.home.path().join("conf");
    fixture.set("GEMINI_CLI_HOME", &conf);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["state"], "untrusted");
}

#[test]
fn settings_below_a_variable_that_points_into_a_worktree_are_the_worktrees() {
    let mut fixture = SettingsFixture::new("claude-code");
    fixture.put(".claude/skills/guarded/SKILL.md", GUARDED);
    fixture.put("conf/settings.json", r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#);
    let conf = fixture.top.join("conf");
    fixture.set("CLAUDE_CONFIG_DIR", &conf);
    assert_eq!(fixture.load("guarded"), ASKS);
    fixture.trust();
    assert_eq!(fixture.load("guarded"), 0);
    let mut fixture = SettingsFixture::new("opencode");
    write_skill(&fixture.live.home.path().join("private/secret"), "secret", "s3cret");
    fixture.put("conf.json", r#"{"skills": {"paths": ["~/private"]}}"#);
    let conf = fixture.top.join("conf.json");
    fixture.set("OPENCODE_CONFIG", &conf);
    assert!(fixture.names().is_empty());
    fixture.trust();
    assert_eq!(fixture.names(), ["secret"]);
}

#[test]
fn plugins_below_a_variable_that_points_into_a_worktree_stay_in_it() {
    let mut fixture = SettingsFixture::new("claude-code");
    write_skill(&fixture.live.home.path().join("private/skills/secret"), "secret", "s3cret");
    write_skill(&fixture.top.join("conf/plugins/cache/m/p/1/skills/a"), "a", "d");
    let outside = fixture.live.home.path().join("private");
    let inside = fixture.top.join("conf/plugins/cache/m/p/1");
    let record = |path: &Path| json!([{"scope": "user", "installPath": path}]);
    let installed =
        json!({"version": 2, "plugins": {"out@m": record(&outside), "p@m": record(&inside)}});
    fixture.put("conf/plugins/installed_plugins.json", &installed.to_string());
    fixture.put("conf/settings.json", r#"{"enabledPlugins": {"out@m": true, "p@m": true}}"#);
    let conf = fixture.top.join("conf");
    write_marketplace(&conf.join("plugins"), "m", "p");
    fixture.set("CLAUDE_CONFIG_DIR", &conf);
    assert!(fixture.all().is_empty());
    fixture.trust();
    assert_eq!(fixture.names(), ["p:a"]);
}

#[test]
fn repository_cannot_reenable_built_in_skills() {
    let mut fixture = SettingsFixture::new("claude-code");
    let config = "bundled.profiles = [\"claude-code\"]\n";
    fixture.put_home(".config/skillsd/config.toml", config);
    fixture.put_home(".claude/settings.json", r#"{"disableBundledSkills": true}"#);
    assert!(fixture.names().is_empty());
    fixture.put(".claude/settings.json", r#"{"disableBundledSkills": false}"#);
    assert!(fixture.names().is_empty());
    fixture.trust();
    assert!(!fixture.names().is_empty());
}

#[test]
fn plugin_options_of_a_repository_do_not_affect_user_plugins() {
    let mut fixture = SettingsFixture::new("claude-code");
    let plugin = fixture.live.home.path().join(".claude/plugins/cache/m/p/1.0");
    let skill = "---\nname: a\ndescription: d\n---\nGo to ${user_config.endpoint}.\n";
    let theirs = r#"{"pluginConfigs": {"p@m": {"options": {"endpoint": "theirs"}}}}"#;
    let declared = r#"{"name": "p", "userConfig": {"endpoint": {"type": "string", "title": "t", "description": "d", "default": "own"}}}"#;
    let installed =
        json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": plugin}]}});
    let enabled = r#"{"enabledPlugins": {"p@m": true}}"#;
    fixture.put_home(".claude/settings.json", enabled);
    write(&plugin.join("skills/a/SKILL.md"), skill);
    write(&plugin.join(".claude-plugin/plugin.json"), declared);
    fixture.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    write_marketplace(&fixture.live.home.path().join(".claude/plugins"), "m", "p");
    fixture.put(".claude/settings.json", theirs);
    let params = fixture.params(&json!({"name": "p:a", "by": "user"}));
    let loaded = fixture.live.wire.call("skills/load", &params);
    assert!(loaded["output"].as_str().expect("a text").contains("Go to own."), "{loaded}");
    // The same through a settings directory in the worktree, with the plugin next to it.
    let inside = fixture.top.join("conf/plugins/cache/m/p/1.0");
    let merged = json!({
        "enabledPlugins": {"p@m": true},
        "pluginConfigs": {"p@m": {"options": {"endpoint": "theirs"}}},
    });
    write(&inside.join("skills/a/SKILL.md"), skill);
    write(&inside.join(".claude-plugin/plugin.json"), declared);
    fixture.put("conf/settings.json", &merged.to_string());
    let conf = fixture.top.join("conf");
    write_marketplace(&conf.join("plugins"), "m", "p");
    fixture.set("CLAUDE_CONFIG_DIR", &conf);
    assert!(fixture.names().is_empty());
}

#[test]
fn home_provided_by_a_client_is_not_the_users() {
    let mut fixture = SettingsFixture::new("claude-code");
    let outside = fixture.live.home.work().join("elsewhere");
    let home = fixture.live.home.path().to_owned();
    let places = [fixture.top.join("home"), outside.clone(), home.join("work"), home.join(".work")];
    for place in places {
        write_skill(&place.join(".claude/skills/a"), "a", "d");
        write(&place.join(".claude/settings.json"), r#"{"permissions": {"allow": ["Skill"]}}"#);
        fixture.put(".claude/skills/guarded/SKILL.md", GUARDED);
        fixture.environment = json!({"HOME": place});
        assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], false, "{place:?}");
        assert_eq!(fixture.load("guarded"), ASKS, "{place:?}");
    }
    write_skill(&outside.join("conf/skills/b"), "b", "d");
    fixture.set("CLAUDE_CONFIG_DIR", &outside.join("conf"));
    assert_eq!(entry(&fixture.all(), "b/SKILL.md")["trusted"], false);
}

#[test]
fn users_settings_do_not_make_skills_below_another_home_the_users() {
    let mut fixture = SettingsFixture::new("opencode");
    let work = fixture.live.home.path().join("work");
    write_skill(&work.join("skills/a"), "a", "d");
    let config = fixture.live.home.path().join(".config");
    fixture.put_home(".config/opencode/opencode.json", r#"{"skills": {"paths": ["~/skills"]}}"#);
    fixture.environment = json!({"HOME": work, "XDG_CONFIG_HOME": config});
    let all = fixture.all();
    assert!(all.iter().all(|it| it["name"] != "a" || it["trusted"] == false), "{all:?}");
}

#[test]
fn plugin_of_another_worktree_needs_trust_in_that_worktree() {
    let mut fixture = SettingsFixture::new("claude-code");
    let other = fixture.live.home.worktree("other", "");
    write_skill(&other.join("p/skills/a"), "a", "d");
    let record = json!([{"scope": "user", "installPath": other.join("p")}]);
    let installed = json!({"version": 2, "plugins": {"p@m": record}});
    fixture.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    write_marketplace(&fixture.live.home.path().join(".claude/plugins"), "m", "p");
    fixture.put(".claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
    fixture.trust();
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], false);
    trust(&mut fixture.live, &other);
    assert_eq!(entry(&fixture.all(), "a/SKILL.md")["trusted"], true);
}
