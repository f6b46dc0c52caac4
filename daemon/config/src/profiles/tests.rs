//! Tests of `[profiles.NAME]`.

use expect_test::{Expect, expect};
use skills_agents::profile::Profile;

use super::super::{ConfigSource, read as read_config};
use super::*;

fn profiles(text: &str) -> ProfileSet {
    let parsed = read_config(text.as_bytes(), ConfigSource::User);
    assert_eq!(parsed.problems, [], "{text}");
    parsed.config.profiles
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let parsed = read_config(text.as_bytes(), ConfigSource::User);
    let lines = parsed.problems.iter().map(|it| {
        let hint = it.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}:{}: {}{hint}\n", it.line, it.column, it.message)
    });
    expected.assert_eq(&lines.collect::<String>());
}

fn differences(profile: &Profile) -> String {
    let line = |it: &skills_agents::profile::RuleDifference| {
        format!("{}: {} -> {} ({})\n", it.rule, it.base, it.here, it.source)
    };
    profile.differences.iter().map(line).collect()
}

#[test]
fn profile_key_depends_on_the_content() {
    let key = |text: &str| profiles(text).find("opencode").unwrap().key();
    assert_eq!(key(""), "opencode");
    let one = key("[profiles.opencode]\nduplicates = \"first-wins\"\n");
    assert!(one.starts_with("opencode#"), "{one}");
    assert_eq!(one, key("[profiles.opencode]\nduplicates = \"first-wins\"\n# later\n"));
    assert_ne!(one, key("[profiles.opencode]\nduplicates = \"keep-all\"\n"));
}

#[test]
fn rules_for_touches_keep_what_the_user_sets_to_the_value_of_the_base() {
    let codex = |text: &str| std::sync::Arc::clone(profiles(text).find("codex").unwrap());
    let unset = codex("");
    assert!(unset.for_touches().conditional && unset.for_touches().key() != unset.key());
    let nested = codex("[profiles.codex]\nnested = []\n");
    assert_eq!(nested.for_touches().key(), nested.key());
    assert!(!codex("[profiles.codex]\nconditional = false\n").for_touches().conditional);
}

#[test]
fn base_can_be_a_custom_or_changed_profile() {
    let text = "[profiles.b]\nbase = \"a\"\nconditional = true\n[profiles.a]\nbase = \"opencode\"\n[profiles.opencode]\npaths = \"canonical\"\n";
    let profiles = profiles(text);
    let b = profiles.find("b").unwrap();
    assert_eq!(b.paths, skills_agents::profile::PathIdentity::Canonical);
    assert_eq!(differences(b), "conditional: no -> yes (Your configuration, line 3.)\n");
    assert!(b.base.as_ref().is_some_and(|it| it.id == "a"));
    // Only a built-in profile has a column in the field table.
    assert_eq!(b.reader, None);
    assert!(profiles.find("opencode").is_some_and(|it| it.reader.is_some()));
}

#[test]
fn root_variables_are_part_of_the_view_key() {
    let profiles = profiles(
        "[profiles.a]\nbase = \"gemini-cli\"\ntrust_variables = [\"TRUST_ME\"]\nroots = [{ base = \"$MY_SKILLS\", relative = \"x\", switched_off_by = \"NO_X\" }]\n",
    );
    let environment = &profiles.find("a").unwrap().environment;
    for name in ["MY_SKILLS", "NO_X", "TRUST_ME"] {
        assert!(environment.iter().any(|it| it == name), "{name}");
    }
}

#[test]
fn every_rule_accepts_the_value_of_every_agent() {
    for agent in skills_agents::profile::agents() {
        for rule in RULES.iter().filter(|it| it.name != "roots") {
            let lines = (rule.lines)(agent);
            let value = match rule.kind {
                RuleValueKind::YesNo | RuleValueKind::Word(_) | RuleValueKind::Check
                    if lines.is_empty() =>
                {
                    continue;
                }
                RuleValueKind::YesNo => (lines[0] == "yes").to_string(),
                RuleValueKind::Word(_) | RuleValueKind::Check => format!("{:?}", lines[0]),
                RuleValueKind::Words(_)
                | RuleValueKind::Names
                | RuleValueKind::Requirements
                | RuleValueKind::Roots => {
                    format!("{lines:?}")
                }
            };
            // `agentskills` has nested roots and trust, so every rule applies; plugin and settings
            // rules need an agent that has them.
            let is_agent_specific = rule.name.starts_with("plugin") || rule.name == "settings";
            if is_agent_specific && lines.is_empty() {
                continue;
            }
            let base = if is_agent_specific { &*agent.id } else { "agentskills" };
            let text = format!(
                "[profiles.x]\nbase = \"{base}\"\n{}{} = {value}\n",
                if rule.name == "trust_variables" { "requires_trust = true\n" } else { "" },
                rule.name
            );
            if rule.name == "trust_variables" && lines.is_empty() {
                continue;
            }
            let profiles = profiles(&text);
            let found = (rule.lines)(profiles.find("x").unwrap());
            match rule.name {
                // The variables of the roots are added.
                "environment" => {
                    assert!(lines.iter().all(|it| found.contains(it)), "{text}");
                }
                _ => assert_eq!(found, lines, "{text}"),
            }
        }
    }
}

#[test]
fn mistakes_in_profiles_are_reported_at_their_position() {
    check(
        "[profiles.a]\nduplicates = \"last-win\"\n[profiles.b]\nbase = \"opencod\"\nduplicate = \"x\"\n[profiles.codex]\nbase = \"opencode\"\n[profiles.all]\nbase = \"codex\"\n[profiles]\n\"A b\" = {}\n",
        &expect![[r#"
            1:11: the profile `a` has no `base` (Add a line `base = "agentskills"`, or name the most similar agent.)
            2:14: `duplicates` cannot be `last-win` (Did you mean `last-wins`?)
            4:8: there is no profile `opencod` (Did you mean `opencode`?)
            5:1: unknown key `duplicate` in a profile (Did you mean `duplicates`?)
            7:8: `codex` is built in; its base cannot be changed (Choose another name for a profile with another base.)
            8:11: `all` is not a valid profile name (`all` stands for several profiles.)
            11:1: `A b` is not a valid profile name (Use lower-case letters, digits, `-`, `_` and `.`.)
        "#]],
    );
}

#[test]
fn base_cycles_are_reported_once() {
    check(
        "[profiles.a]\nbase = \"c\"\n[profiles.b]\nbase = \"a\"\n[profiles.c]\nbase = \"b\"\n[profiles.self]\nbase = \"self\"\n",
        &expect![[r#"
            4:8: profiles form a cycle of bases: `a` from `c` from `b` from `a` (Give one of them a built-in profile as its base.)
            8:8: profiles form a cycle of bases: `self` from `self` (Give one of them a built-in profile as its base.)
        "#]],
    );
}

#[test]
fn mistakes_in_roots_are_reported_at_their_position() {
    check(
        "[profiles.a]\nbase = \"codex\"\nwithout_roots = [\"~/.agent/skills\", \".codex/skills\"]\nevery_root = { deep = 3, depth = 0 }\nroots_last = [\n  { base = \"hom\", relative = \"x\" },\n  { relative = \"../x\" },\n  { base = \"home\" },\n  { base = \"$A*\", relative = \"x\" },\n  { base = \"home\", relative = \"x\", stop = \"cwd\", scope = \"mine\", links = 3 },\n]\nnested_taken = \"wins\"\n",
        &expect![[r#"
            3:18: `~/.agent/skills` is not a root of `codex` (Did you mean `~/.agents/skills`?)
            4:16: unknown key `deep` in a walk (Use one of `depth`, `root_skill`, `hidden`, `skipped`, `reserved`, `skills_in_skills`, `links`, `file_links`.)
            4:34: `depth` must be a number from 1 to 64, or `"any"`
            6:12: `base` cannot be `hom` (Use `home`, `project`, `added`, an absolute path or `$NAME`.)
            7:3: a root has no `base` (Add for example `base = "home"`.)
            7:16: `../x` is not a path below the base (Use a path below the base, without `..`.)
            8:3: a root has no `relative` (Add for example `relative = ".agents/skills"`.)
            9:12: `A*` is not a variable name (Write each variable's full name, without `$` and `*`.)
            10:43: `stop` requires the base `project`
            10:58: `scope` cannot be `mine` (Use one of `managed`, `user`, `project`, `nested`, `additional`, `bundled`, `remote`, `mcp`, `plugin`, `command`.)
            10:74: `links` must be a string, not an integer
            12:1: `nested_taken` has no effect here: `nested` is empty
        "#]],
    );
}

#[test]
fn default_profile_can_be_custom_but_not_in_a_repository() {
    profiles("profile = \"mine\"\n[profiles.mine]\nbase = \"codex\"\n");
    check(
        "profile = \"mien\"\n[profiles.mine]\nbase = \"codex\"\n",
        &expect![[r#"
            1:11: `profile` cannot be `mien` (Did you mean `mine`?)
        "#]],
    );
    let parsed = read_config(b"[profiles.mine]\nbase = \"codex\"\n", ConfigSource::Repository);
    assert_eq!(parsed.problems.len(), 1);
}

#[test]
fn settings_plugins_and_sidecar_can_be_changed() {
    let text = "[profiles.quiet]\nbase = \"claude-code\"\nsettings = [\"permission-lists\"]\nplugins_enabled_only = false\nplugins_prefixed = false\nplugin_manifest = []\n[profiles.codex]\nsidecar = \"skill.yaml\"\n[profiles.plain]\nbase = \"codex\"\nsidecar = []\nsettings = []\n";
    let profiles = profiles(text);
    let quiet = profiles.find("quiet").unwrap();
    assert_eq!(quiet.settings.len(), 4);
    assert!(
        quiet
            .settings
            .iter()
            .all(|it| it.reads == [skills_agents::profile::SettingsItem::PermissionLists])
    );
    assert!(quiet.plugins().count() == 2 && quiet.plugins().all(|it| !it.enabled_only));
    assert!(quiet.plugins().all(|it| !it.prefixed && it.manifest.is_empty()));
    assert_eq!(profiles.find("codex").unwrap().sidecar.as_deref(), Some("skill.yaml"));
    let plain = profiles.find("plain").unwrap();
    assert_eq!((plain.sidecar.as_deref(), plain.settings.len()), (None, 0));
    expect![[r#"
        settings: restrictions, skill-overrides, bundled-switch, enabled-plugins -> none (Your configuration, line 3.)
        plugins_enabled_only: yes -> no (Your configuration, line 4.)
        plugins_prefixed: yes -> no (Your configuration, line 5.)
        plugin_manifest: skills, commands -> none (Your configuration, line 6.)
    "#]].assert_eq(&differences(quiet));
    check(
        "[profiles.a]\nbase = \"agentskills\"\nsettings = [\"skill-path\"]\nplugins_cache = true\nsidecar = [\"a\", \"../b\"]\n",
        &expect![[r#"
            3:1: `settings` has no effect here: the profile reads no configuration files
            3:13: `settings` cannot be `skill-path` (Did you mean `skill-paths`?)
            4:1: `plugins_cache` has no effect here: the profile searches no plugins
            5:17: `../b` is not a path below the base (Use a path below the base, without `..`.)
            5:17: `sidecar` accepts at most one path
        "#]],
    );
}

#[test]
fn repository_can_select_a_custom_profile() {
    let text = b"profile = \"house\"\n";
    assert_eq!(read_config(text, ConfigSource::Repository).problems.len(), 1);
    let own = ["house".to_owned()];
    let names = crate::KnownNames { rules: None, profiles: &own };
    let parsed = crate::read_with_names(text, ConfigSource::Repository, names);
    assert_eq!(parsed.problems, []);
    assert_eq!(parsed.config.profile.as_deref(), Some("house"));
    assert_eq!(
        profiles("[profiles.house]\nbase = \"codex\"\n").user_defined().collect::<Vec<_>>(),
        own
    );
}

#[test]
fn inline_profiles_equal_the_original() {
    let text = "[profiles.house]\nbase = \"codex\" # like it\nagent = \"\"\"our \\\"house\\\"\nagent\"\"\"\nroots_first = [\n  { base = \"home\", relative = 'a\\b', depth = 3, hidden = true },\n]\n[profiles.opencode]\nduplicates = \"first-wins\"\n";
    let first = profiles(text);
    assert_eq!(first.source_text().lines().count(), 1, "{}", first.source_text());
    let second = profiles(first.source_text());
    assert_eq!(first.source_text(), second.source_text());
    for (one, other) in first.all().iter().zip(second.all()) {
        // The position in the file differs.
        let rules = |it: &skills_agents::profile::Profile| {
            let mut it = it.clone();
            it.differences.clear();
            it.revision = 0;
            it
        };
        assert_eq!(rules(one), rules(other));
    }
    assert_eq!(ProfileSet::default().source_text(), "");
}
