//! Settings of a worktree that would loosen something before the worktree is trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Catalog, Daemon, Framing, Home};

use super::names::{names, set_trust, trust};
use crate::support::{Live, entry, exe};

const ASKS: i64 = -32003;
const DENIED: i64 = -32002;

/// A skill that is asked about: it has hooks.
const GUARDED: &str = "---\nname: guarded\ndescription: d\nallowed-tools: Bash\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./x\n---\nBody.\n";

/// One daemon, one worktree, one profile.
struct Setup {
    live: Live,
    top: PathBuf,
    profile: &'static str,
    environment: Value,
}

impl Setup {
    fn new(profile: &'static str) -> Self {
        Self::of(profile, Live::start_in(Home::new()))
    }

    fn of(profile: &'static str, live: Live) -> Self {
        let top = live.home.worktree("repo", "");
        Self { live, top, profile, environment: Value::Null }
    }

    /// Writes below the worktree.
    fn put(&self, relative: &str, text: &str) {
        write(&self.top.join(relative), text);
    }

    /// Writes below the home directory.
    fn put_home(&self, relative: &str, text: &str) {
        write(&self.live.home.path().join(relative), text);
    }

    /// Sets a variable that the client hands over, besides `HOME`.
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

    /// Returns the code of the error that a load ends with; 0 for none.
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
        let mut setup = Setup::new("claude-code");
        setup.put(".claude/skills/guarded/SKILL.md", GUARDED);
        assert_eq!(setup.load("guarded"), ASKS);
        setup.put(file, "{\n\"permissions\": {\"allow\": [\n\"Skill(guarded)\", \"Skill\"]}}");
        assert_eq!(setup.load("guarded"), ASKS, "{file}");
        let told = setup.explain("guarded");
        assert!(
            told.contains(
                "Claude Code applies and skillsd ignores until you run `skillsd trust $WORK/repo`"
            ) && told.contains("\"line\":3")
                && told.contains(file),
            "{told}"
        );
        setup.trust();
        assert_eq!(setup.load("guarded"), 0, "{file}");
    }
}

#[test]
fn deny_rules_of_a_repository_count_at_once() {
    let mut setup = Setup::new("claude-code");
    setup.put_home(".claude/skills/guarded/SKILL.md", GUARDED);
    setup.put_home(".claude/settings.json", r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#);
    assert_eq!(setup.load("guarded"), 0);
    setup.put(".claude/settings.json", r#"{"permissions": {"deny": ["Skill(guarded)"]}}"#);
    assert_eq!(setup.load("guarded"), DENIED);
}

#[test]
fn permission_map_of_a_repository_never_outweighs_the_users() {
    let files = ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"];
    for file in files {
        let mut setup = Setup::new("opencode");
        write_skill(&setup.top.join(".opencode/skills/a"), "a", "d");
        setup.put_home(
            ".config/opencode/opencode.json",
            r#"{"permission": {"skill": {"a": "ask", "b": "deny"}}}"#,
        );
        assert_eq!(setup.load("a"), ASKS);
        for allow in [
            r#"{"permission": {"skill": {"a": "allow"}}}"#,
            r#"{"permission": {"skill": "allow"}}"#,
            r#"{"permission": {"*": "allow"}}"#,
            r#"{"permission": "allow"}"#,
            r#"{"permission": {"skill": {"*": "deny", "a*": "allow"}}}"#,
        ] {
            setup.put(file, allow);
            assert_eq!(setup.load("a"), ASKS, "{file} {allow}");
        }
        let told = setup.explain("a");
        assert!(told.contains("skillsd ignores until `skillsd trust $WORK/repo`"), "{told}");
        setup.put(file, r#"{"permission": {"skill": {"a": "deny"}}}"#);
        assert_eq!(setup.load("a"), DENIED, "{file}");
        setup.put(file, r#"{"permission": {"skill": {"a": "allow"}}}"#);
        setup.trust();
        assert_eq!(setup.load("a"), 0, "{file}");
    }
}

#[test]
fn repository_switches_no_plugin_on_before_trust() {
    let mut setup = Setup::new("claude-code");
    let plugin = setup.live.home.path().join(".claude/plugins/cache/m/p/1.0");
    write_skill(&plugin.join("skills/a"), "a", "d");
    setup.put(".claude/settings.json", "{\"enabledPlugins\": {\n\"p@m\": true}}");
    assert!(setup.names().is_empty(), "it is only in the cache");
    let installed =
        json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": plugin}]}});
    setup.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    assert!(setup.names().is_empty());
    let path = plugin.join("skills/a/SKILL.md");
    let params = setup.params(&json!({"path": path}));
    let told = setup.live.wire.call("skills/explain", &params).to_string();
    assert!(told.contains("settings.json:2:1") && told.contains("skillsd trust"), "{told}");
    setup.trust();
    assert_eq!(setup.names(), ["p:a"]);
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], true);
    // The user's own word is not overruled before trust, and a repository's `false` counts.
    setup.put_home(".claude/settings.json", r#"{"enabledPlugins": {"p@m": false}}"#);
    set_trust(&mut setup.live, &setup.top, None);
    assert!(setup.names().is_empty());
    setup.put_home(".claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
    assert_eq!(setup.names(), ["p:a"]);
    setup.put(".claude/settings.json", r#"{"enabledPlugins": {"p@m": false}}"#);
    assert!(setup.names().is_empty());
}

#[test]
fn skill_paths_of_a_repository_that_lead_outside_wait_for_trust() {
    let mut setup = Setup::new("opencode");
    write_skill(&setup.top.join("lib/own"), "own", "d");
    write_skill(&setup.live.home.path().join("private/secret"), "secret", "s3cret");
    symlink(setup.live.home.path().join("private"), setup.top.join("link")).expect("made");
    let absolute = setup.live.home.path().join("private");
    let absolute = absolute.to_str().expect("plain");
    for path in ["~/private", "../../home/private", "link", "lib/../link", absolute] {
        let text = json!({"skills": {"paths": ["lib", path]}}).to_string();
        setup.put("opencode.json", &text);
        assert_eq!(setup.names(), ["own"], "{path}");
        let all = setup.all();
        assert!(!format!("{all:?}").contains("s3cret"), "{path}");
    }
    assert!(setup.explain("secret").contains("skillsd trust $WORK/repo"));
    setup.put("opencode.json", r#"{"skills": {"paths": ["lib", "~/private"]}}"#);
    setup.trust();
    assert_eq!(setup.names(), ["own", "secret"]);
    assert_eq!(entry(&setup.all(), "secret/SKILL.md")["trusted"], false, "it lies elsewhere");
}

#[test]
fn skill_paths_of_a_repository_do_not_replace_the_users_by_ignored_ones() {
    let mut setup = Setup::new("opencode");
    write_skill(&setup.live.home.path().join("mine/good"), "good", "d");
    setup.put_home(".config/opencode/opencode.json", r#"{"skills": {"paths": ["~/mine"]}}"#);
    assert_eq!(setup.names(), ["good"]);
    setup.put("opencode.json", r#"{"skills": {"paths": ["~/other"]}}"#);
    assert_eq!(setup.names(), ["good"]);
}

#[test]
fn registry_of_a_repository_is_not_fetched_before_trust() {
    let mut setup = Setup::new("opencode");
    let catalog = Catalog::start();
    catalog.text("index.json", r#"{"skills": [{"name": "one", "files": ["SKILL.md"]}]}"#);
    catalog.skill("one", "First.");
    setup.put("opencode.json", &json!({"skills": {"urls": [catalog.url()]}}).to_string());
    for _ in 0..3 {
        assert!(setup.names().is_empty());
    }
    assert_eq!(catalog.take_asked(), [""; 0]);
    assert!(setup.explain("one").contains("skillsd trust $WORK/repo"));
}

#[test]
fn repository_switches_no_skill_of_the_user_back_on() {
    let mut setup = Setup::new("claude-code");
    write_skill(&setup.live.home.path().join(".claude/skills/a"), "a", "d");
    setup.put_home(".claude/settings.json", r#"{"skillOverrides": {"a": "off"}}"#);
    for state in ["on", "name-only", "user-invocable-only"] {
        let text = json!({"skillOverrides": {"a": state}}).to_string();
        setup.put(".claude/settings.local.json", &text);
        assert!(setup.names().is_empty(), "{state}");
        assert!(setup.explain("a").contains("skillsd ignores until"), "{state}");
    }
    setup.put(".claude/settings.local.json", r#"{"skillOverrides": {"a": "on"}}"#);
    setup.trust();
    assert_eq!(setup.names(), ["a"]);
}

#[test]
fn repository_switches_a_skill_of_the_user_off_at_once() {
    let mut setup = Setup::new("claude-code");
    write_skill(&setup.live.home.path().join(".claude/skills/a"), "a", "d");
    setup.put_home(".claude/settings.json", r#"{"skillOverrides": {"a": "on"}}"#);
    assert_eq!(setup.names(), ["a"]);
    setup.put(".claude/settings.json", r#"{"skillOverrides": {"a": "off"}}"#);
    assert!(setup.names().is_empty());
    // The later of the repository's own two files counts, as in the agent.
    setup.put(".claude/settings.local.json", r#"{"skillOverrides": {"a": "on"}}"#);
    assert_eq!(setup.names(), ["a"]);
}

#[test]
fn repository_does_not_trust_itself_by_gemini_settings() {
    let mut setup = Setup::new("gemini-cli");
    write_skill(&setup.top.join(".gemini/skills/a"), "a", "d");
    let folders = json!({setup.top.to_str().expect("plain"): "TRUST_FOLDER"}).to_string();
    setup.put(".gemini/trustedFolders.json", &folders);
    setup.put(".gemini/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#);
    let state = |setup: &mut Setup| {
        let states = setup.all().into_iter().filter(|it| it["name"] == "a");
        let states: Vec<_> = states.map(|it| it["state"].clone()).collect();
        assert!(!states.is_empty());
        states.iter().all(|it| it == "untrusted" || it == "shadowed")
    };
    assert!(state(&mut setup));
    // The same holds where a variable makes the worktree the agent's home.
    let top = setup.top.clone();
    setup.set("GEMINI_CLI_HOME", &top);
    assert!(state(&mut setup));
    setup.trust();
    assert_eq!(setup.names(), ["a"]);
}

#[test]
fn plugin_below_an_added_directory_is_untrusted() {
    let mut setup = Setup::new("claude-code");
    let added = setup.live.home.worktree("added", "");
    write(&added.join(".claude/skills/kit/.claude-plugin/plugin.json"), r#"{"name": "kit"}"#);
    let skill = GUARDED.replace("guarded", "tool");
    write(&added.join(".claude/skills/kit/skills/tool/SKILL.md"), &skill);
    let extra = json!({"additionalDirs": [added], "include": ["all"]});
    let all = crate::support::entries(&setup.list(&extra));
    assert_eq!(entry(&all, "tool/SKILL.md")["trusted"], false);
    trust(&mut setup.live, &added);
    let all = crate::support::entries(&setup.list(&extra));
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
        let mut setup = Setup::new(profile);
        let other = setup.live.home.worktree("other", "");
        for (top, is_linked) in [(setup.top.clone(), false), (other.clone(), false), (other, true)]
        {
            write_skill(&top.join(skills).join("a"), "a", "d");
            let mut value = top.join(dir);
            if is_linked {
                let link = setup.live.home.path().join("link");
                symlink(&value, &link).expect("made");
                value = link;
            }
            setup.set(variable, &value);
            let all = setup.all();
            assert_eq!(entry(&all, "a/SKILL.md")["trusted"], false, "{variable} {value:?}");
            trust(&mut setup.live, &top);
            let all = setup.all();
            assert_eq!(entry(&all, "a/SKILL.md")["trusted"], true, "{variable} {value:?}");
            set_trust(&mut setup.live, &top, None);
        }
    }
}

#[test]
fn skills_below_a_variables_usual_place_stay_the_users() {
    let mut setup = Setup::new("codex");
    let dir = setup.live.home.path().join(".codex");
    write_skill(&dir.join("skills/a"), "a", "d");
    setup.set("CODEX_HOME", &dir);
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], true);
}

#[test]
fn skills_below_a_variable_of_the_daemon_stay_the_users() {
    let home = Home::new();
    let dir = home.path().join("elsewhere");
    write_skill(&dir.join("skills/a"), "a", "d");
    let daemon = Daemon::start_with(&home, exe(), &[("CODEX_HOME", &dir)]);
    let wire = daemon.connect(Framing::Header);
    let mut setup = Setup::of("codex", Live { wire, daemon, home });
    setup.set("CODEX_HOME", &dir);
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], true);
    let beside = setup.live.home.path().join("beside");
    write_skill(&beside.join("skills/b"), "b", "d");
    setup.set("CODEX_HOME", &beside);
    assert_eq!(entry(&setup.all(), "b/SKILL.md")["trusted"], false);
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
        let mut setup = Setup::new(profile);
        let home = setup.live.home.path().to_owned();
        let link = home.join("link");
        symlink("elsewhere", &link).expect("a link is made");
        for place in ["elsewhere", ".config/elsewhere", "link"] {
            let dir = home.join(place);
            if place != "link" {
                write_skill(&dir.join(below).join("skills/a"), "a", "d");
            }
            setup.set(name, &dir);
            let what = format!("{profile} {name} {place}");
            assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], false, "{what}");
            let said = setup.explain("a");
            assert!(said.contains(&format!("the daemon has another `{name}`")), "{what}: {said}");
        }
        let dir = home.join("elsewhere");
        trust(&mut setup.live, &dir);
        setup.set(name, &dir);
        assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], true, "{profile} {name}");
    }
}

#[test]
fn settings_below_a_variable_that_only_the_client_has_loosen_nothing() {
    let allows = r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#;
    let mut setup = Setup::new("claude-code");
    setup.put(".claude/skills/guarded/SKILL.md", GUARDED);
    setup.put_home("conf/settings.json", allows);
    let conf = setup.live.home.path().join("conf");
    setup.set("CLAUDE_CONFIG_DIR", &conf);
    assert_eq!(setup.load("guarded"), ASKS);
    assert!(setup.explain("guarded").contains("skillsd trust $HOME/conf"));
    let mut setup = Setup::new("gemini-cli");
    setup.put(".gemini/skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    let folders = json!({setup.top.to_str().expect("a plain name"): "TRUST_FOLDER"});
    setup.put_home("conf/.gemini/trustedFolders.json", &folders.to_string());
    let conf = setup.live.home.path().join("conf");
    setup.set("GEMINI_CLI_HOME", &conf);
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["state"], "untrusted");
}

#[test]
fn settings_below_a_variable_that_points_into_a_worktree_are_the_worktrees() {
    let mut setup = Setup::new("claude-code");
    setup.put(".claude/skills/guarded/SKILL.md", GUARDED);
    setup.put("conf/settings.json", r#"{"permissions": {"allow": ["Skill(guarded)"]}}"#);
    let conf = setup.top.join("conf");
    setup.set("CLAUDE_CONFIG_DIR", &conf);
    assert_eq!(setup.load("guarded"), ASKS);
    setup.trust();
    assert_eq!(setup.load("guarded"), 0);
    let mut setup = Setup::new("opencode");
    write_skill(&setup.live.home.path().join("private/secret"), "secret", "s3cret");
    setup.put("conf.json", r#"{"skills": {"paths": ["~/private"]}}"#);
    let conf = setup.top.join("conf.json");
    setup.set("OPENCODE_CONFIG", &conf);
    assert!(setup.names().is_empty());
    setup.trust();
    assert_eq!(setup.names(), ["secret"]);
}

#[test]
fn plugins_below_a_variable_that_points_into_a_worktree_stay_in_it() {
    let mut setup = Setup::new("claude-code");
    write_skill(&setup.live.home.path().join("private/skills/secret"), "secret", "s3cret");
    write_skill(&setup.top.join("conf/plugins/cache/m/p/1/skills/a"), "a", "d");
    let outside = setup.live.home.path().join("private");
    let inside = setup.top.join("conf/plugins/cache/m/p/1");
    let record = |path: &Path| json!([{"scope": "user", "installPath": path}]);
    let installed =
        json!({"version": 2, "plugins": {"out@m": record(&outside), "p@m": record(&inside)}});
    setup.put("conf/plugins/installed_plugins.json", &installed.to_string());
    setup.put("conf/settings.json", r#"{"enabledPlugins": {"out@m": true, "p@m": true}}"#);
    let conf = setup.top.join("conf");
    setup.set("CLAUDE_CONFIG_DIR", &conf);
    assert!(setup.all().is_empty());
    setup.trust();
    assert_eq!(setup.names(), ["p:a"]);
}

#[test]
fn repository_does_not_switch_the_agents_own_skills_back_on() {
    let mut setup = Setup::new("claude-code");
    let config = "bundled.profiles = [\"claude-code\"]\n";
    setup.put_home(".config/skillsd/config.toml", config);
    setup.put_home(".claude/settings.json", r#"{"disableBundledSkills": true}"#);
    assert!(setup.names().is_empty());
    setup.put(".claude/settings.json", r#"{"disableBundledSkills": false}"#);
    assert!(setup.names().is_empty());
    setup.trust();
    assert!(!setup.names().is_empty());
}

#[test]
fn plugin_options_of_a_repository_do_not_reach_the_users_plugin() {
    let mut setup = Setup::new("claude-code");
    let plugin = setup.live.home.path().join(".claude/plugins/cache/m/p/1.0");
    let skill = "---\nname: a\ndescription: d\n---\nGo to ${user_config.endpoint}.\n";
    let theirs = r#"{"pluginConfigs": {"p@m": {"options": {"endpoint": "theirs"}}}}"#;
    let declared =
        r#"{"name": "p", "userConfig": {"endpoint": {"type": "string", "default": "own"}}}"#;
    let installed =
        json!({"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": plugin}]}});
    let enabled = r#"{"enabledPlugins": {"p@m": true}}"#;
    setup.put_home(".claude/settings.json", enabled);
    write(&plugin.join("skills/a/SKILL.md"), skill);
    write(&plugin.join(".claude-plugin/plugin.json"), declared);
    setup.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    setup.put(".claude/settings.json", theirs);
    let params = setup.params(&json!({"name": "p:a", "by": "user"}));
    let loaded = setup.live.wire.call("skills/load", &params);
    assert!(loaded["output"].as_str().expect("a text").contains("Go to own."), "{loaded}");
    // The same through a directory of settings in the worktree, with the plugin beside it.
    let inside = setup.top.join("conf/plugins/cache/m/p/1.0");
    let merged = json!({
        "enabledPlugins": {"p@m": true},
        "pluginConfigs": {"p@m": {"options": {"endpoint": "theirs"}}},
    });
    write(&inside.join("skills/a/SKILL.md"), skill);
    write(&inside.join(".claude-plugin/plugin.json"), declared);
    setup.put("conf/settings.json", &merged.to_string());
    let conf = setup.top.join("conf");
    setup.set("CLAUDE_CONFIG_DIR", &conf);
    assert!(setup.names().is_empty());
}

#[test]
fn home_that_a_client_names_is_not_the_users() {
    let mut setup = Setup::new("claude-code");
    let outside = setup.live.home.work().join("elsewhere");
    let home = setup.live.home.path().to_owned();
    let places = [setup.top.join("home"), outside.clone(), home.join("work"), home.join(".work")];
    for place in places {
        write_skill(&place.join(".claude/skills/a"), "a", "d");
        write(&place.join(".claude/settings.json"), r#"{"permissions": {"allow": ["Skill"]}}"#);
        setup.put(".claude/skills/guarded/SKILL.md", GUARDED);
        setup.environment = json!({"HOME": place});
        assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], false, "{place:?}");
        assert_eq!(setup.load("guarded"), ASKS, "{place:?}");
    }
    write_skill(&outside.join("conf/skills/b"), "b", "d");
    setup.set("CLAUDE_CONFIG_DIR", &outside.join("conf"));
    assert_eq!(entry(&setup.all(), "b/SKILL.md")["trusted"], false);
}

#[test]
fn users_settings_do_not_make_skills_below_another_home_the_users() {
    let mut setup = Setup::new("opencode");
    let work = setup.live.home.path().join("work");
    write_skill(&work.join("skills/a"), "a", "d");
    let config = setup.live.home.path().join(".config");
    setup.put_home(".config/opencode/opencode.json", r#"{"skills": {"paths": ["~/skills"]}}"#);
    setup.environment = json!({"HOME": work, "XDG_CONFIG_HOME": config});
    let all = setup.all();
    assert!(all.iter().all(|it| it["name"] != "a" || it["trusted"] == false), "{all:?}");
}

#[test]
fn plugin_of_another_worktree_stays_that_worktrees() {
    let mut setup = Setup::new("claude-code");
    let other = setup.live.home.worktree("other", "");
    write_skill(&other.join("p/skills/a"), "a", "d");
    let record = json!([{"scope": "user", "installPath": other.join("p")}]);
    let installed = json!({"version": 2, "plugins": {"p@m": record}});
    setup.put_home(".claude/plugins/installed_plugins.json", &installed.to_string());
    setup.put(".claude/settings.json", r#"{"enabledPlugins": {"p@m": true}}"#);
    setup.trust();
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], false);
    trust(&mut setup.live, &other);
    assert_eq!(entry(&setup.all(), "a/SKILL.md")["trusted"], true);
}
