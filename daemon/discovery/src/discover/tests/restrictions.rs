//! Tests of the switches in Claude Code's settings, managed ones above all.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::ctx;
use crate::discover::memory::MemoryTree;
use crate::discover::{Resolution, RootOutcome, SettingsFile, discover};

const SKILLS: &str = r#"
//- /w trusted
//- /w/.git dir
//- /etc/claude-code/.claude/skills/managed/SKILL.md
d
//- /etc/claude-code/.claude/commands/managed-command.md
d
//- /home/u/.claude/skills/user/SKILL.md
d
//- /w/.claude/skills/project/SKILL.md
d
//- /home/u/.claude.json
{"projects": {"/w": {"hasTrustDialogAccepted": true}}}
//- /w/.claude/skills/local/.claude-plugin/plugin.json
{"name": "local"}
//- /w/.claude/skills/local/skills/of-plugin/SKILL.md
d
//- /w/.claude/commands/command.md
d
"#;

const MANAGED: &str = "/etc/claude-code/managed-settings.json";

fn resolution(settings: &str) -> Resolution {
    let tree = MemoryTree::new(&format!("{SKILLS}\n{settings}"));
    let found = discover(&ctx("claude-code", "/w"), &tree);
    assert!(found.complete);
    found
}

/// Renders the visible skills, the roots that are switched off, and the switches.
#[track_caller]
fn check(settings: &str, expected: &Expect) {
    let found = resolution(settings);
    let names: Vec<_> = found
        .candidates
        .iter()
        .filter(|it| !it.is_built_in())
        .map(|it| format!("{} {}", it.name, it.state.name()))
        .collect();
    let mut out = format!("{}\n", names.join(", "));
    for root in &found.roots {
        if let RootOutcome::NotSearched(why) = &root.outcome {
            let _ = writeln!(out, "off {:?}: {why}", root.path);
        }
    }
    let it = &found.restrictions;
    for (effect, switch) in [
        ("no shell", &it.no_shell),
        ("no hooks", &it.no_hooks),
        ("managed hooks", &it.managed_hooks),
        ("managed rules", &it.managed_rules),
        ("plugin hooks", &it.plugin_hooks),
    ] {
        if let Some(switch) = switch {
            let _ = writeln!(out, "{effect}: {}", switch.shown());
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn strict_plugin_only_customization_leaves_managed_and_plugin_skills() {
    check(
        &format!("//- {MANAGED}\n{{\"strictPluginOnlyCustomization\": true}}\n"),
        &expect![[r#"
            managed active
            off /home/u/.claude/skills: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /w/.claude/skills: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /etc/claude-code/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /home/u/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /w/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            plugin hooks: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
    check(
        &format!("//- {MANAGED}\n{{\"strictPluginOnlyCustomization\": \"skills\"}}\n"),
        &expect![[r#"
            managed active
            off /home/u/.claude/skills: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /w/.claude/skills: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /etc/claude-code/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /home/u/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            off /w/.claude/commands: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1 allows only plugins
            plugin hooks: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
    check(
        &format!("//- {MANAGED}\n{{\"strictPluginOnlyCustomization\": [\"hooks\", \"mcp\"]}}\n"),
        &expect![[r#"
            managed active, user active, project active, local:of-plugin hidden, managed-command active, command active
            plugin hooks: `strictPluginOnlyCustomization` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
}

#[test]
fn managed_switches_in_other_files_have_no_effect() {
    let all = r#"{"strictPluginOnlyCustomization": true, "allowManagedHooksOnly": true,
        "allowManagedPermissionRulesOnly": true, "strictKnownMarketplaces": []}"#;
    check(
        &format!("//- /home/u/.claude/settings.json\n{all}\n//- /w/.claude/settings.json\n{all}\n"),
        &expect![[r#"
            managed active, user active, project active, local:of-plugin hidden, managed-command active, command active
        "#]],
    );
}

#[test]
fn managed_switches_restrict_hooks_and_shell() {
    check(
        &format!("//- {MANAGED}\n{{\"allowManagedHooksOnly\": true}}\n"),
        &expect![[r#"
            managed active, user active, project active, local:of-plugin hidden, managed-command active, command active
            managed hooks: `allowManagedHooksOnly` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
    check(
        &format!("//- {MANAGED}\n{{\"disableAllHooks\": true}}\n"),
        &expect![[r#"
            managed active, user active, project active, local:of-plugin hidden, managed-command active, command active
            no hooks: `disableAllHooks` in `/etc/claude-code/managed-settings.json`, line 1
            managed hooks: `disableAllHooks` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
    check(
        &format!(
            "//- {MANAGED}\n{{\"disableSkillShellExecution\": true}}\n//- /w/.claude/settings.local.json\n{{\"disableSkillShellExecution\": false}}\n"
        ),
        &expect![[r#"
            managed active, user active, project active, local:of-plugin hidden, managed-command active, command active
            no shell: `disableSkillShellExecution` in `/etc/claude-code/managed-settings.json`, line 1
        "#]],
    );
}

#[test]
fn managed_marketplace_lists_switch_off_plugins_in_skill_directories() {
    for (list, expected) in [
        (r#"{"strictKnownMarketplaces": []}"#, true),
        (r#"{"strictKnownMarketplaces": [{"source": "skills-dir"}]}"#, false),
        (r#"{"blockedMarketplaces": [{"source": "skills-dir"}]}"#, true),
        (r#"{"blockedMarketplaces": [{"source": "github", "repo": "a/b"}]}"#, false),
    ] {
        let found = resolution(&format!("//- {MANAGED}\n{list}\n"));
        let is_off = !found.candidates.iter().any(|it| it.name == "local:of-plugin");
        assert_eq!(is_off, expected, "{list}");
    }
}

#[test]
fn managed_marketplace_lists_switch_off_installed_plugins() {
    let listed = |list: &str, source: &str| {
        let source = format!("{{\"market\": {{\"source\": {source}}}}}");
        let source = if source.contains("none") { "{}" } else { &source };
        let found = resolution(&format!(
            r#"
//- {MANAGED}
{list}
//- /home/u/.claude/settings.json
{{"enabledPlugins": {{"tools@market": true}}}}
//- /home/u/.claude/plugins/known_marketplaces.json
{source}
//- /home/u/.claude/plugins/installed_plugins.json
{{"version": 2, "plugins": {{"tools@market": [{{"scope": "user", "installPath": "/home/u/.claude/plugins/cache/market/tools/1"}}]}}}}
//- /home/u/.claude/plugins/marketplaces/market/.claude-plugin/marketplace.json
{{"name": "market", "owner": {{"name": "o"}}, "plugins": [{{"name": "tools", "source": {{}}}}]}}
//- /home/u/.claude/plugins/cache/market/tools/1/skills/one/SKILL.md
d
"#
        ));
        found.candidates.iter().any(|it| it.name == "tools:one")
    };
    let github = r#"{"source": "github", "repo": "acme/plugins"}"#;
    let git = r#"{"source": "git", "url": "https://git.acme.org/plugins.git"}"#;
    let branch = r#"{"source": "github", "repo": "acme/plugins", "ref": "next"}"#;
    let local = r#"{"source": "directory", "path": "/opt/plugins"}"#;
    for (list, source, expected) in [
        ("{}", "none", true),
        (r#"{"strictKnownMarketplaces": []}"#, github, false),
        (r#"{"strictKnownMarketplaces": []}"#, "none", false),
        (r#"{"strictKnownMarketplaces": [{"source": "skills-dir"}]}"#, github, false),
        (
            r#"{"strictKnownMarketplaces": [{"source": "github", "repo": "Acme/Plugins"}]}"#,
            github,
            true,
        ),
        (
            r#"{"strictKnownMarketplaces": [{"source": "github", "repo": "acme/plugins"}]}"#,
            branch,
            false,
        ),
        (r#"{"strictKnownMarketplaces": [{"source": "github", "repo": "acme/*"}]}"#, github, true),
        (r#"{"strictKnownMarketplaces": [{"source": "github", "repo": "acm/*"}]}"#, github, false),
        (
            r#"{"strictKnownMarketplaces": [{"source": "hostPattern", "hostPattern": "^git\\.acme\\.org$"}]}"#,
            git,
            true,
        ),
        (
            r#"{"strictKnownMarketplaces": [{"source": "hostPattern", "hostPattern": "^github\\.com$"}]}"#,
            git,
            false,
        ),
        (
            r#"{"strictKnownMarketplaces": [{"source": "hostPattern", "hostPattern": "("}]}"#,
            git,
            false,
        ),
        (
            r#"{"strictKnownMarketplaces": [{"source": "pathPattern", "pathPattern": "^/opt/"}]}"#,
            local,
            true,
        ),
        (
            r#"{"strictKnownMarketplaces": [{"source": "git", "url": "https://git.acme.org/plugins"}]}"#,
            git,
            true,
        ),
        (r#"{"blockedMarketplaces": [{"source": "skills-dir"}]}"#, "none", true),
        (r#"{"blockedMarketplaces": [{"source": "github", "repo": "a/b"}]}"#, github, true),
        (r#"{"blockedMarketplaces": [{"source": "github", "repo": "a/b"}]}"#, "none", false),
        (r#"{"blockedMarketplaces": [{"source": "github", "repo": "acme/*"}]}"#, branch, false),
        (
            r#"{"blockedMarketplaces": [{"source": "git", "url": "git@github.com:Acme/plugins.git"}]}"#,
            github,
            false,
        ),
        (
            r#"{"blockedMarketplaces": [{"source": "git", "url": "git@GitHub.com:Acme/plugins.git"}]}"#,
            github,
            false,
        ),
        (
            r#"{"blockedMarketplaces": [{"source": "git", "url": "https://Git.ACME.org/plugins"}]}"#,
            git,
            false,
        ),
        (r#"{"blockedMarketplaces": [{"source": "hostPattern", "hostPattern": "("}]}"#, git, false),
    ] {
        assert_eq!(listed(list, source), expected, "{list} and {source}");
    }
}

#[test]
fn managed_rules_only_drops_the_rules_of_other_files() {
    let rules = |managed: &str| {
        let user =
            r#"{"permissions": {"allow": ["Skill(a)"], "deny": ["Skill(b)", "Bash(rm:*)"]}}"#;
        let found = resolution(&format!(
            "//- {MANAGED}\n{managed}\n//- /home/u/.claude/settings.json\n{user}\n"
        ));
        let all = found.permissions.iter().chain(&found.restrictions.shell);
        all.map(|it| format!("{} {}", it.action.name(), it.pattern)).collect::<Vec<_>>().join(", ")
    };
    let own = r#""permissions": {"deny": ["Skill(c)", "Bash(dd:*)"]}"#;
    assert_eq!(
        rules(&format!("{{{own}}}")),
        "deny b, allow a, deny c, deny Bash(rm:*), deny Bash(dd:*)"
    );
    assert_eq!(
        rules(&format!("{{{own}, \"allowManagedPermissionRulesOnly\": true}}")),
        "deny c, deny Bash(dd:*)"
    );
}

#[test]
fn tool_pattern_with_a_star_denies_and_asks_but_does_not_allow() {
    let rules = |permissions: &str| {
        let settings = format!("{{\"permissions\": {permissions}}}");
        let found = resolution(&format!("//- /home/u/.claude/settings.json\n{settings}\n"));
        let all = found.permissions.iter().chain(&found.restrictions.shell);
        all.map(|it| format!("{} {}", it.action.name(), it.pattern)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(rules(r#"{"deny": ["*"]}"#), "deny *, deny Bash");
    assert_eq!(rules(r#"{"ask": ["*"], "allow": ["Bash"]}"#), "ask *, ask Bash");
    assert_eq!(rules(r#"{"deny": ["B*"]}"#), "deny Bash");
    assert_eq!(rules(r#"{"deny": ["S*"]}"#), "deny *");
    assert_eq!(rules(r#"{"deny": ["*ill"], "ask": ["*as*"]}"#), "deny *, ask Bash");
    // With parentheses, or another case, the tool is named exactly.
    assert_eq!(rules(r#"{"deny": ["B*(rm:*)", "S*(a)", "*(a)", "bash", "skill"]}"#), "");
    assert_eq!(rules(r#"{"allow": ["*", "S*"]}"#), "");
}

#[test]
fn drop_in_files_of_managed_settings_are_read_in_order_of_their_names() {
    check(
        r#"
//- /etc/claude-code/managed-settings.d/20-more.json
{"skillOverrides": {"user": "off", "project": "on"}}
//- /etc/claude-code/managed-settings.d/10-first.json
{"skillOverrides": {"project": "off"}, "disableSkillShellExecution": true}
//- /etc/claude-code/managed-settings.d/.hidden.json
{"disableAllHooks": true}
//- /etc/claude-code/managed-settings.d/notes.txt
{"disableAllHooks": true}
"#,
        &expect![[r#"
            managed active, user ignored, project active, local:of-plugin hidden, managed-command active, command active
            no shell: `disableSkillShellExecution` in `/etc/claude-code/managed-settings.d/10-first.json`, line 1
        "#]],
    );
}

#[test]
fn unreadable_directory_of_managed_settings_is_reported() {
    let found = resolution("//- /etc/claude-code/managed-settings.d denied-dir\n");
    let problems: Vec<_> = found.settings.iter().flat_map(SettingsFile::problems).collect();
    expect!["`/etc/claude-code/managed-settings.d` cannot be read: permission denied; the agent ignores it"]
        .assert_eq(&problems.join("; "));
}

#[test]
fn managed_settings_cannot_be_outvoted() {
    let other = r#"{"skillOverrides": {"user": "on"}, "disableBundledSkills": false,
        "enabledPlugins": {"local@skills-dir": true}}"#;
    check(
        &format!(
            "//- {MANAGED}\n{}\n//- /home/u/.claude/settings.json\n{other}\n//- /w/.claude/settings.json\n{other}\n//- /w/.claude/settings.local.json\n{other}\n",
            r#"{"skillOverrides": {"user": "off"}, "disableBundledSkills": true, "enabledPlugins": {"local@skills-dir": false}}"#
        ),
        &expect![[r#"
            managed active, user ignored, project active, managed-command active, command active
            off /w/.claude/skills/local/commands: `/etc/claude-code/managed-settings.json:1:86` switches `local@skills-dir` off
            off /w/.claude/skills/local/skills: `/etc/claude-code/managed-settings.json:1:86` switches `local@skills-dir` off
        "#]],
    );
}

#[test]
fn many_shell_rules_of_a_repository_do_not_displace_managed_ones() {
    let many: Vec<_> =
        (0..=crate::permission::MAX_RULES).map(|it| format!("\"Bash(x{it})\"")).collect();
    let managed =
        r#"{"allowManagedPermissionRulesOnly": true, "permissions": {"deny": ["Bash(rm:*)"]}}"#;
    let found = resolution(&format!(
        "//- {MANAGED}\n{managed}\n//- /w/.claude/settings.json\n{{\"permissions\": {{\"deny\": [{}]}}}}\n",
        many.join(", ")
    ));
    let shell: Vec<_> = found.restrictions.shell.iter().map(|it| it.pattern.to_string()).collect();
    assert_eq!(shell, ["Bash(rm:*)"]);
}

#[test]
fn bad_override_keeps_the_restrictions_of_its_file() {
    let settings = r#"{"skillOverrides": {"user": 5}, "disableSkillShellExecution": true,
        "permissions": {"deny": ["Bash(rm:*)"]}}"#;
    let found = resolution(&format!("//- {MANAGED}\n{settings}\n"));
    assert!(found.restrictions.no_shell.is_some());
    assert_eq!(found.restrictions.shell.len(), 1);
}

/// Returns the states of the skills of a worktree with a number of rules in two files.
fn states_with_rules(own: &str, many: impl Fn(usize) -> String) -> Vec<&'static str> {
    let rules: Vec<_> = (0..=crate::permission::MAX_RULES).map(many).collect();
    let settings = format!("{{\"permissions\": {{\"ask\": [{}]}}}}", rules.join(", "));
    let found = resolution(&format!(
        "//- /w/.skillsd.toml\n[permission.skill]\n{own}\n//- /w/.claude/settings.json\n{settings}\n"
    ));
    let all = found.candidates.iter().filter(|it| it.name == "project");
    all.map(|it| it.state.name()).collect()
}

#[test]
fn ask_rules_beyond_the_limit_do_not_weaken_a_denial() {
    let many = |it| format!("\"Skill(x{it})\"");
    assert_eq!(states_with_rules("project = \"deny\"", many), ["denied"]);
    let asks = |count: usize| {
        let lines: Vec<_> = (0..count).map(|it| format!("x{it} = \"ask\"\n")).collect();
        lines.concat()
    };
    let denial = "project = \"deny\"\n";
    let own = format!("{denial}{}", asks(crate::permission::MAX_RULES));
    assert_eq!(states_with_rules(&own, many), ["denied"]);
    // The strictest of the rules over the limit counts.
    let own = format!("{}{denial}y = \"ask\"\n", asks(crate::permission::MAX_RULES));
    assert_eq!(states_with_rules(&own, many), ["denied"]);
}
