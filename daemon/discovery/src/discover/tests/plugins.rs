//! Tests of Claude Code's plugins and commands.

use expect_test::expect;

use super::{check, check_explain, ctx};
use crate::discover::memory::MemoryTree;
use crate::discover::{SettingsFile, discover};

const SKILL: &str = "---\nname: label\ndescription: d\n---\nbody\n";

/// Writes a SKILL.md for each `//+ /path` line.
fn with_skills(fixture: &str) -> String {
    let line = |line: &str| match line.strip_prefix("//+ ") {
        Some(path) => format!("//- {path}\n{SKILL}"),
        None => format!("{line}\n"),
    };
    fixture.lines().map(line).collect()
}

const VERSION_2: &str = r#"
//- /w/.git dir
//- /home/u/.claude/settings.json
{"enabledPlugins": {"tools@market": true, "off@market": false, "cached@market": true, "gone@market": true}}
//- /home/u/.claude/plugins/installed_plugins.json
{
  "version": 2,
  "plugins": {
    "tools@market": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/market/tools/1.0.0"}],
    "off@market": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/market/off/1.0.0"}],
    "silent@market": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/market/silent/1"}],
    "other@market": [{"scope": "project", "projectPath": "/elsewhere", "installPath": "/x"}],
    "lost@market": [{"scope": "user", "installPath": "/nowhere"}]
  }
}
//- /home/u/.claude/plugins/marketplaces/market/.claude-plugin/marketplace.json
{"name": "market", "owner": {"name": "o"}, "plugins": [{"name": "tools", "source": {"source": "github"}}, {"name": "cached", "source": {"source": "github"}}]}
//- /home/u/.claude/plugins/cache/market/tools/1.0.0/.claude-plugin/plugin.json
{"name": "tools", "skills": ["./more", "./../out"], "commands": "./extra.md"}
//+ /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/a/SKILL.md
//+ /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/deep/er/SKILL.md
//+ /home/u/.claude/plugins/cache/market/tools/1.0.0/more/b/SKILL.md
//- /home/u/.claude/plugins/cache/market/tools/1.0.0/commands/git/push.md
Push it.
//- /home/u/.claude/plugins/cache/market/tools/1.0.0/extra.md
Extra.
//+ /home/u/.claude/plugins/cache/market/off/1.0.0/skills/o/SKILL.md
//+ /home/u/.claude/plugins/cache/market/silent/1/skills/s/SKILL.md
//+ /home/u/.claude/plugins/cache/market/cached/1.9.0/skills/old/SKILL.md
//+ /home/u/.claude/plugins/cache/market/cached/1.10.0/skills/new/SKILL.md
"#;

#[test]
fn enabled_plugins_of_version_two_are_found() {
    check(
        "claude-code",
        "/w",
        &with_skills(VERSION_2),
        &expect![[r#"
            `/home/u/.claude/settings.json:1:87`: `gone@market` is enabled, but not installed
            `/home/u/.claude/plugins/installed_plugins.json:8:5`: `lost@market` is installed, but its directory does not exist
            `/home/u/.claude/plugins/cache/market/tools/1.0.0/.claude-plugin/plugin.json:1:19`: `skills` leads out of the plugin: `./../out`
            hidden      tools:extra /home/u/.claude/plugins/cache/market/tools/1.0.0/extra.md
                description/plugin: the agent lists a plugin's skill only with a description
            active      tools:a    /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/a/SKILL.md
            active      tools:b    /home/u/.claude/plugins/cache/market/tools/1.0.0/more/b/SKILL.md
            active      cached:new /home/u/.claude/plugins/cache/market/cached/1.10.0/skills/new/SKILL.md
            passed over /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/deep/er: this is deeper than the 1 level below the root that the agent searches
        "#]],
    );
}

#[test]
fn founding_variant_reads_other_keys_at_any_depth() {
    let fixture = with_skills(VERSION_2)
        .replace("\"skills\": [\"./more\"", "\"skillsPath\": \"./more\", \"x\": [\"y\"");
    check(
        "claude-code@founding",
        "/w",
        &fixture,
        &expect![[r#"
            `/home/u/.claude/settings.json:1:87`: `gone@market` is enabled, but not installed
            `/home/u/.claude/plugins/installed_plugins.json:8:5`: `lost@market` is installed, but its directory does not exist
            active      tools:extra /home/u/.claude/plugins/cache/market/tools/1.0.0/extra.md
            active      tools:a    /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/a/SKILL.md
            active      tools:deep:er /home/u/.claude/plugins/cache/market/tools/1.0.0/skills/deep/er/SKILL.md
            active      tools:b    /home/u/.claude/plugins/cache/market/tools/1.0.0/more/b/SKILL.md
            active      cached:new /home/u/.claude/plugins/cache/market/cached/1.10.0/skills/new/SKILL.md
        "#]],
    );
}

#[test]
fn disabled_plugin_is_explained_with_position() {
    check_explain(
        "claude-code",
        "/w",
        "/home/u/.claude/plugins/cache/market/off/1.0.0/skills/o/SKILL.md",
        &with_skills(VERSION_2),
        &expect![[r#"
            Claude Code finds no skill at `/home/u/.claude/plugins/cache/market/off/1.0.0/skills/o/SKILL.md`: its plugin is off: `/home/u/.claude/settings.json:1:43` switches `off@market` off.
            next: Set `off@market` to `true` in `enabledPlugins` of `/home/u/.claude/settings.json`.
            plugin/enabled decisive=true: its plugin is off: `/home/u/.claude/settings.json:1:43` switches `off@market` off
            settings /home/u/.claude/settings.json at 1:21: plugin `tools@market` is on
            settings /home/u/.claude/settings.json at 1:43: plugin `off@market` is off
            settings /home/u/.claude/settings.json at 1:64: plugin `cached@market` is on
            settings /home/u/.claude/settings.json at 1:87: plugin `gone@market` is on
            settings /home/u/.claude/settings.json at 1:87: `gone@market` is enabled, but not installed
            settings /home/u/.claude/plugins/installed_plugins.json at 4:5: `tools@market` is at `/home/u/.claude/plugins/cache/market/tools/1.0.0`
            settings /home/u/.claude/plugins/installed_plugins.json at 5:5: `off@market` is at `/home/u/.claude/plugins/cache/market/off/1.0.0`
            settings /home/u/.claude/plugins/installed_plugins.json at 6:5: `silent@market` is at `/home/u/.claude/plugins/cache/market/silent/1`
            settings /home/u/.claude/plugins/installed_plugins.json at 7:5: `other@market` is installed for `/elsewhere` only
            settings /home/u/.claude/plugins/installed_plugins.json at 8:5: `lost@market` is installed, but its directory does not exist
            settings /home/u/.claude/plugins/cache/market/tools/1.0.0/.claude-plugin/plugin.json at 1:19: `skills` names `./more`
            settings /home/u/.claude/plugins/cache/market/tools/1.0.0/.claude-plugin/plugin.json at 1:19: `skills` leads out of the plugin: `./../out`
            settings /home/u/.claude/plugins/cache/market/tools/1.0.0/.claude-plugin/plugin.json at 1:53: `commands` names `./extra.md`
            root /home/u/.claude/plugins/cache/market/tools/1.0.0/extra.md
            root /home/u/.claude/plugins/cache/market/off/1.0.0/commands: `/home/u/.claude/settings.json:1:43` switches `off@market` off
            root /home/u/.claude/plugins/cache/market/silent/1/commands: no settings file has `silent@market` in its `enabledPlugins`
            root /home/u/.claude/plugins/cache/market/tools/1.0.0/skills
            root /home/u/.claude/plugins/cache/market/tools/1.0.0/more
            root /home/u/.claude/plugins/cache/market/off/1.0.0/skills: `/home/u/.claude/settings.json:1:43` switches `off@market` off
            root /home/u/.claude/plugins/cache/market/cached/1.10.0/skills
            root /home/u/.claude/plugins/cache/market/silent/1/skills: no settings file has `silent@market` in its `enabledPlugins`
        "#]],
    );
}

#[test]
fn plugins_in_one_directory_are_found_as_the_first_that_is_on() {
    check(
        "claude-code",
        "/w",
        &with_skills(
            r#"
//- /w/.git dir
//- /home/u/.claude/settings.json
{"enabledPlugins": {"off@m": false, "second@m": true, "third@m": true}}
//- /home/u/.claude/plugins/installed_plugins.json
{"version": 2, "plugins": {
  "off@m": [{"scope": "user", "installPath": "/nowhere"}],
  "third@m": [{"scope": "user", "installPath": "/nowhere"}],
  "second@m": [{"scope": "user", "installPath": "/nowhere"}]
}}
//- /home/u/.claude/plugins/known_marketplaces.json
{"m": {"source": {"source": "directory", "path": "/market"}, "installLocation": "/market"}}
//- /market/.claude-plugin/marketplace.json
{"name": "m", "owner": {"name": "o"}, "plugins": [
  {"name": "off", "source": "./"},
  {"name": "second", "source": "./"},
  {"name": "third", "source": "./"}
]}
//+ /market/skills/a/SKILL.md
"#,
        ),
        &expect![[r#"
            active      second:a   /market/skills/a/SKILL.md
        "#]],
    );
}

const VERSION_1: &str = r#"
//- /w trusted
//- /w/.git dir
//- /w/.claude/settings.json
{"enabledPlugins": {"docs@agent-skills": true}}
//- /home/u/.claude/plugins/installed_plugins.json
{"version": 1, "plugins": {"docs@agent-skills": {"version": "1", "installPath": "/nowhere"}}}
//- /home/u/.claude/plugins/marketplaces/agent-skills/.claude-plugin/marketplace.json
{"name": "agent-skills", "owner": {"name": "o"}, "plugins": [
  {"name": "docs", "source": "./", "strict": false, "skills": ["./docs/xlsx", "./docs/pdf"]},
  {"name": "rest", "source": "./", "skills": ["./docs/rest"]}
]}
//- /home/u/.claude/plugins/marketplaces/agent-skills/docs/xlsx/SKILL.md
---
name: xlsx
description: d
---
body
//- /home/u/.claude/plugins/marketplaces/agent-skills/docs/pdf/SKILL.md
---
name: pdf
description: d
metadata:
  namespace: office
---
body
//- /home/u/.claude/plugins/marketplaces/agent-skills/docs/rest/SKILL.md
---
name: rest
description: d
---
body
"#;

#[test]
fn version_one_plugins_use_the_marketplace() {
    check(
        "claude-code",
        "/w",
        VERSION_1,
        &expect![[r#"
        active      docs:xlsx  /home/u/.claude/plugins/marketplaces/agent-skills/docs/xlsx/SKILL.md
        active      docs:pdf   /home/u/.claude/plugins/marketplaces/agent-skills/docs/pdf/SKILL.md
    "#]],
    );
    check(
        "opencode-agent-skills",
        "/w",
        VERSION_1,
        &expect![[r#"
        active      xlsx       /home/u/.claude/plugins/marketplaces/agent-skills/docs/xlsx/SKILL.md
        active      pdf        /home/u/.claude/plugins/marketplaces/agent-skills/docs/pdf/SKILL.md
    "#]],
    );
}

#[test]
fn opencode_plugin_reads_cache_first_without_following_links() {
    let fixture = r#"
//- /w/.git dir
//- /home/u/.claude/plugins/cache/flat/skills/a/SKILL.md
---
name: a
description: flat
metadata: {namespace: ns}
---
body
//- /home/u/.claude/plugins/cache/market/p/2.0/skills/b/SKILL.md
---
name: b
description: nested
---
body
//- /home/u/.claude/plugins/cache/market/p/2.0/skills/linked -> /elsewhere/c
//- /elsewhere/c/SKILL.md
---
name: c
description: by a link
---
body
//- /home/u/.claude/plugins/installed_plugins.json
{"version": 2, "plugins": {"q@market": [{"scope": "user", "installPath": "/opt/q"}]}}
//- /opt/q/skills/b/SKILL.md
---
name: b
description: installed
---
body
//- /w/.claude/skills/d/SKILL.md
---
name: d
description: project
---
body
"#;
    check(
        "opencode-agent-skills",
        "/w",
        fixture,
        &expect![[r#"
        active      d          /w/.claude/skills/d/SKILL.md
        active      a          /home/u/.claude/plugins/cache/flat/skills/a/SKILL.md
        active      b          /home/u/.claude/plugins/cache/market/p/2.0/skills/b/SKILL.md
        shadowed    b          /opt/q/skills/b/SKILL.md
            name/unique: `/home/u/.claude/plugins/cache/market/p/2.0/skills/b/SKILL.md` has the same name and is found earlier
        passed over /home/u/.claude/plugins/cache/market/p/2.0/skills/linked: the agent does not follow this symbolic link
    "#]],
    );
    let resolution = discover(&ctx("opencode-agent-skills", "/w"), &MemoryTree::new(fixture));
    let labels: Vec<_> = resolution
        .listed()
        .map(|it| {
            let label = resolution.roots[it.root].label.as_deref().unwrap_or("-");
            format!("{label} {} {:?}", it.name, it.namespace)
        })
        .collect();
    expect![[r#"
        claude-project d None
        claude-plugins a Some("ns")
        claude-plugins b None"#]]
    .assert_eq(&labels.join("\n"));
}

#[test]
fn plugin_inside_skill_directory_is_found() {
    check(
        "claude-code",
        "/w",
        &with_skills(
            r#"
//- /w/.git dir
//- /home/u/.claude/settings.json
{"enabledPlugins": {"quiet@skills-dir": false}}
//- /home/u/.claude.json
{"projects": {"/w": {"hasTrustDialogAccepted": true}}}
//- /w/.claude/skills/kit/.claude-plugin/plugin.json
{"name": "kit"}
//+ /w/.claude/skills/kit/skills/a/SKILL.md
//- /w/.claude/skills/kit/commands/go.md
Go.
//- /home/u/.claude/skills/quiet/.claude-plugin/plugin.json
{"name": "quiet"}
//+ /home/u/.claude/skills/quiet/skills/q/SKILL.md
//- /home/u/.claude/skills/broken/.claude-plugin/plugin.json
{
//+ /home/u/.claude/skills/broken/skills/x/SKILL.md
"#,
        ),
        &expect![[r#"
            `/home/u/.claude/skills/broken/.claude-plugin/plugin.json:1:1` is not JSON: unterminated object; the agent ignores it
            hidden      kit:go     /w/.claude/skills/kit/commands/go.md
                description/plugin: the agent lists a plugin's skill only with a description
            active      kit:a      /w/.claude/skills/kit/skills/a/SKILL.md
        "#]],
    );
}

const COMMANDS: &str = r#"
//- /w/.git dir
//- /w/.claude/commands/review.md
---
description: Reviews
---
Review $ARGUMENTS.
//- /w/.claude/commands/front/end/component.md
Make a component.
//- /w/.claude/commands/front/notes.txt
not a command
//- /w/.claude/commands/taken.md
A skill has this name.
//- /w/.claude/commands/whole/SKILL.md
A directory as one command.
//- /w/.claude/commands/whole/other.md
part of it
//- /w/.claude/commands/self -> /w/.claude/commands
//- /w/.claude/commands/linked.md -> /w/elsewhere.md
//- /w/elsewhere.md
By a link.
//- /home/u/.claude/commands/review.md
The user's.
//- /w/.claude/skills/taken/SKILL.md
wins
"#;

#[test]
fn commands_are_listed_and_lose_to_skills() {
    check(
        "claude-code",
        "/w",
        COMMANDS,
        &expect![[r#"
        active      taken      /w/.claude/skills/taken/SKILL.md
        active      review     /home/u/.claude/commands/review.md
        active      front:end:component /w/.claude/commands/front/end/component.md
        active      linked     /w/.claude/commands/linked.md
        shadowed    review     /w/.claude/commands/review.md
            name/unique: `/home/u/.claude/commands/review.md` has the same name and is found earlier
        shadowed    taken      /w/.claude/commands/taken.md
            name/unique: `/w/.claude/skills/taken/SKILL.md` has the same name and is found earlier
        active      whole      /w/.claude/commands/whole/SKILL.md
    "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "/w/.claude/commands/taken.md",
        COMMANDS,
        &expect![[r#"
            Claude Code does not use this `taken`: `/w/.claude/skills/taken/SKILL.md` has the same name and is found earlier.
            next: Rename one of the two, or remove the one you do not want.
            root /w/.claude/skills
            root /home/u/.claude/commands
            root /w/.claude/commands
              candidate /w/.claude/commands/taken.md
                name/unique decisive=true: `/w/.claude/skills/taken/SKILL.md` has the same name and is found earlier
        "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "component",
        COMMANDS,
        &expect![[r#"
            Claude Code shows `front:end:component` to its model.
            root /w/.claude/skills
            root /home/u/.claude/commands
            root /w/.claude/commands
              candidate /w/.claude/commands/front/end/component.md
        "#]],
    );
}

/// Returns the names that Claude Code lists with an installed plugin `p@m`, and the problems.
fn listed_of_plugin(manifest: &str, marketplace: &str, more: &str) -> (String, String) {
    let plugin = "/home/u/.claude/plugins/cache/m/p/1";
    let market = "/home/u/.claude/plugins/marketplaces/m/.claude-plugin/marketplace.json";
    let file = |path: &str, text: &str| match text {
        "" => String::new(),
        text => format!("//- {path}\n{text}\n"),
    };
    let fixture = format!(
        r#"
//- /w/.git dir
//- /home/u/.claude/settings.json
{{"enabledPlugins": {{"p@m": true}}}}
//- /home/u/.claude/plugins/installed_plugins.json
{{"version": 2, "plugins": {{"p@m": [{{"scope": "user", "installPath": "{plugin}"}}]}}}}
{}{}//+ {plugin}/skills/s/SKILL.md
//+ {plugin}/more/z/SKILL.md
{more}"#,
        file(&format!("{plugin}/.claude-plugin/plugin.json"), manifest),
        file(market, marketplace),
    );
    let resolution = discover(&ctx("claude-code", "/w"), &MemoryTree::new(&with_skills(&fixture)));
    assert!(resolution.complete);
    let names = resolution.listed().filter(|it| !it.is_built_in()).map(|it| it.name.clone());
    let problems = resolution.settings.iter().flat_map(SettingsFile::problems);
    (names.collect::<Vec<_>>().join(" "), problems.collect::<Vec<_>>().join("\n"))
}

const MARKET: &str =
    r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}"#;

#[test]
fn plugin_with_a_refused_manifest_is_dropped_and_reported() {
    // Measured: Claude Code 2.1.332.
    for manifest in [
        "{",
        "[]",
        "{}",
        r#"{"version": "1"}"#,
        r#"{"name": 5}"#,
        r#"{"name": ""}"#,
        r#"{"name": "my plug"}"#,
        r#"{"name": "p", "version": 1}"#,
        r#"{"name": "p", "skills": null}"#,
        r#"{"name": "p", "skills": [5]}"#,
        r#"{"name": "p", "skills": {}}"#,
        r#"{"name": "p", "skills": "more"}"#,
        r#"{"name": "p", "skills": ["./more", "more"]}"#,
        r#"{"name": "p", "skills": "../x"}"#,
        r#"{"name": "p", "skills": "/x"}"#,
        r#"{"name": "p", "hooks": 5}"#,
        r#"{"name": "p", "hooks": "h.json"}"#,
        r#"{"name": "p", "hooks": {"PreToolUse": 5}}"#,
        r#"{"name": "p", "agents": 5}"#,
        r#"{"name": "p", "agents": "./agents"}"#,
        r#"{"name": "p", "commands": null}"#,
        r#"{"name": "p", "commands": {"k": 5}}"#,
        r#"{"name": "p", "mcpServers": {"a": 5}}"#,
        r#"{"name": "p", "userConfig": {"k": {"default": "x"}}}"#,
    ] {
        let (names, problems) = listed_of_plugin(manifest, MARKET, "");
        assert_eq!(names, "", "{manifest}");
        assert!(problems.contains("plugin.json:1:"), "{manifest}: {problems}");
        assert!(problems.contains("the agent drops "), "{manifest}: {problems}");
    }
    for manifest in [
        "",
        r#"{"name": "p", "description": 5, "author": "me", "keywords": "x", "zzz": 5}"#,
        r#"{"name": "p", "skills": [], "agents": [], "hooks": {}, "commands": {}}"#,
        r#"{"name": "p", "hooks": "./h.json", "agents": "./a.md", "mcpServers": "./m.json"}"#,
        r#"{"name": "p", "commands": {"k": {"content": "hi"}}}"#,
        r#"{"name": "p", "userConfig": {"k": {"type": "string", "title": "t", "description": ""}}}"#,
    ] {
        let listed = listed_of_plugin(manifest, MARKET, "");
        assert_eq!(listed, ("p:s".to_owned(), String::new()), "{manifest}");
    }
}

#[test]
fn plugin_of_a_refused_marketplace_is_dropped_and_reported() {
    let manifest = r#"{"name": "p"}"#;
    for market in [
        "{",
        r#"{"name": "m", "owner": "o", "plugins": [{"name": "p", "source": "./p"}]}"#,
        r#"{"owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}"#,
        r#"{"name": "m", "owner": {"name": "o"}}"#,
        r#"{"name": "m", "owner": {"name": "o"}, "plugins": []}"#,
        r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p", "strict": false, "skills": ["./more"]}]}"#,
    ] {
        let (names, problems) = listed_of_plugin(manifest, market, "");
        assert_eq!(names, "", "{market}");
        assert!(problems.contains("marketplace.json:1:"), "{market}: {problems}");
    }
    let without_owner = r#"{"name": "m", "plugins": [{"name": "p", "source": "./p"}]}"#;
    for kept in ["", without_owner] {
        assert_eq!(listed_of_plugin(manifest, kept, "").0, "p:s", "{kept}");
    }
    let other = r#"{"name": "z", "owner": {"name": "o"}, "plugins": [5, {"name": "p"}]}"#;
    assert_eq!(listed_of_plugin(manifest, other, "").0, "p:s");
}

#[test]
fn links_in_a_plugin_lead_only_into_the_plugin() {
    // Measured: Claude Code 2.1.332.
    let manifest = r#"{"name": "p", "skills": "./more"}"#;
    let plugin = "/home/u/.claude/plugins/cache/m/p/1";
    let out = "//+ /ext/e/SKILL.md\n//- /ext/e.md\n---\ndescription: d\n---\n";
    for (links, expected) in [
        (format!("//- {plugin}/skills/e -> /ext/e\n"), "p:s p:z"),
        (format!("//- {plugin}/skills/e/SKILL.md -> /ext/e.md\n"), "p:s p:z"),
        (format!("//- {plugin}/commands/e.md -> /ext/e.md\n"), "p:s p:z"),
        (format!("//- {plugin}/commands -> /ext\n"), "p:s p:z"),
        (format!("//- {plugin}/commands/e/SKILL.md -> /ext/e.md\n"), "p:s p:z"),
        (format!("//- {plugin}/skills/e -> {plugin}/more/z\n"), "p:e p:s"),
        (format!("//- {plugin}/skills/e/SKILL.md -> {plugin}/more/z/SKILL.md\n"), "p:e p:s"),
    ] {
        let (names, _) = listed_of_plugin(manifest, MARKET, &format!("{links}{out}"));
        assert_eq!(names, expected, "{links}");
    }
}

#[test]
fn source_of_a_directory_marketplace_is_below_its_plugin_root() {
    check(
        "claude-code",
        "/w",
        &with_skills(
            r#"
//- /w/.git dir
//- /home/u/.claude/settings.json
{"enabledPlugins": {"p@m": true, "q@m": ["1.0.0"]}}
//- /home/u/.claude/plugins/installed_plugins.json
{"version": 2, "plugins": {
  "p@m": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/m/p/1"}],
  "q@m": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/m/q/1"}]
}}
//- /home/u/.claude/plugins/known_marketplaces.json
{"m": {"source": {"source": "directory", "path": "/market"}, "installLocation": "/market"}}
//- /market/.claude-plugin/marketplace.json
{"name": "m", "owner": {"name": "o"}, "metadata": {"pluginRoot": "./pp"}, "plugins": [
  {"name": "p", "source": "p"}, {"name": "q", "source": "q"}
]}
//+ /market/pp/p/skills/a/SKILL.md
//+ /market/pp/q/skills/b/SKILL.md
//+ /home/u/.claude/plugins/cache/m/p/1/skills/old/SKILL.md
"#,
        ),
        &expect![[r#"
            active      p:a        /market/pp/p/skills/a/SKILL.md
        "#]],
    );
}

/// A command `kit:a`, and a plugin with a skill of this name in the worktree.
const KIT: &str = r#"
//- /home/u/.claude/commands/kit/a.md
A command.
//- /w/.claude/skills/kit/.claude-plugin/plugin.json
{"name": "kit"}
//+ /w/.claude/skills/kit/skills/a/SKILL.md
//- /w/conf/.claude.json
{"projects": {"/w": {"hasTrustDialogAccepted": true}}}
"#;

/// Returns the paths of the skills that are listed with `CLAUDE_CONFIG_DIR` set.
fn listed_with_config_dir(dir: &str, fixture: &str) -> Vec<String> {
    let mut ctx = ctx("claude-code", "/w");
    ctx.environment.insert("CLAUDE_CONFIG_DIR".to_owned(), dir.into());
    let resolution = discover(&ctx, &MemoryTree::new(&with_skills(fixture)));
    let found = resolution.candidates.iter().filter(|it| it.state.is_listed() && !it.is_built_in());
    found.map(|it| it.path.display().to_string()).collect()
}

#[test]
fn plugin_that_the_agent_does_not_read_takes_no_name() {
    let fixture = format!("//- /w/.git dir\n{KIT}");
    let listed = listed_with_config_dir("/home/u/.claude", &fixture);
    assert_eq!(listed, ["/home/u/.claude/commands/kit/a.md"]);
}

#[test]
fn trust_file_in_a_repository_does_not_trust_its_plugins() {
    for (git, expected) in [
        ("//- /w/.git dir\n".to_owned(), Vec::<&str>::new()),
        // The user trusts the repository in skillsd.
        (
            "//- /w trusted\n//- /w/.git dir\n".to_owned(),
            vec!["/w/.claude/skills/kit/skills/a/SKILL.md"],
        ),
    ] {
        assert_eq!(listed_with_config_dir("/w/conf", &(git + KIT)), expected);
    }
}

#[test]
fn skill_overrides_do_not_apply_to_commands_of_a_plugin() {
    check(
        "claude-code",
        "/w",
        r#"
//- /w/.git dir
//- /w trusted
//- /w/.claude/settings.json
{"skillOverrides": {"tools:go": "off", "own": "off"}}
//- /w/.claude/commands/own.md
---
description: d
---
//- /home/u/.claude/settings.json
{"enabledPlugins": {"tools@market": true}}
//- /home/u/.claude/plugins/installed_plugins.json
{"version": 2, "plugins": {"tools@market": [{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/market/tools/1"}]}}
//- /home/u/.claude/plugins/cache/market/tools/1/.claude-plugin/plugin.json
{"name": "tools"}
//- /home/u/.claude/plugins/cache/market/tools/1/commands/go.md
---
description: d
---
"#,
        &expect![[r#"
            ignored     own        /w/.claude/commands/own.md
                settings/off: /w/.claude/settings.json:1:40 `skillOverrides` switches it off
            active      tools:go   /home/u/.claude/plugins/cache/market/tools/1/commands/go.md
        "#]],
    );
}

#[test]
fn command_file_without_a_name_is_no_command() {
    check(
        "claude-code",
        "/w",
        "
//- /w/.git dir
//- /w/.claude/commands/.md
Nameless.
//- /w/.claude/commands/.hidden.md
Hidden.
//- /w/.claude/commands/a.md
Named.
",
        &expect![[r#"
            active      .hidden    /w/.claude/commands/.hidden.md
            active      a          /w/.claude/commands/a.md
        "#]],
    );
}
