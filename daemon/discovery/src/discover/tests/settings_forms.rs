//! Tests of values in Claude Code's settings files: their forms, and the limits of the listing.

use expect_test::expect;

use super::{check, ctx};
use crate::discover::memory::MemoryTree;
use crate::discover::{ListingLimits, SettingsFile, discover};

#[test]
fn limits_of_claudes_listing_are_read_and_need_trust_in_a_repository() {
    let limits = |trust: &str| {
        let fixture = format!(
            r#"{trust}
//- /w/.git dir
//- /home/u/.claude/settings.json
{{"skillListingMaxDescChars": 20, "skillListingBudgetFraction": 0.05}}
//- /w/.claude/settings.json
{{"skillListingMaxDescChars": 9000}}
"#
        );
        discover(&ctx("claude-code", "/w"), &MemoryTree::new(&fixture)).listing
    };
    let of = |longest| ListingLimits { fraction: Some(0.05), longest: Some(longest) };
    assert_eq!(limits(""), of(20));
    assert_eq!(limits("//- /w trusted"), of(9000));
}

#[test]
fn claude_code_ignores_settings_with_a_value_of_a_wrong_form_except_denials() {
    // Measured: Claude Code 2.1.332.
    let found = |file: &str, key: &str, value: &str| {
        let fixture = format!(
            r#"
//- /w trusted
//- /w/.git dir
//- {file}
{{"skillOverrides": {{"a": "off"}}, "{key}": {value}}}
//- /w/.claude/settings.json
{{"env": 5, "permissions": {{"allow": ["Skill(b)"], "deny": ["Skill(c)"]}}}}
//- /w/.claude/skills/a/SKILL.md
a
//- /w/.claude/skills/b/SKILL.md
b
//- /w/.claude/skills/c/SKILL.md
c
"#
        );
        let resolution = discover(&ctx("claude-code", "/w"), &MemoryTree::new(&fixture));
        let rules: Vec<_> = resolution.permissions.iter().map(|it| &*it.pattern).collect();
        assert_eq!(rules, ["c"]);
        let is_listed = resolution.listed().any(|it| it.name == "a");
        let problems: Vec<_> =
            resolution.settings.iter().flat_map(SettingsFile::problems).collect();
        (is_listed, problems.iter().any(|it| it.contains(file)))
    };
    let (user, managed) =
        ("/home/u/.claude/settings.json", "/etc/claude-code/managed-settings.json");
    for (key, value) in [
        ("outputStyle", "5"),
        ("model", "null"),
        ("env", "[]"),
        ("enabledPlugins", r#"{"a@b": "x"}"#),
        ("statusLine", r#"{"type": "x"}"#),
        ("cleanupPeriodDays", "-1"),
        ("includeCoAuthoredBy", r#""true""#),
        ("disableBundledSkills", r#""x""#),
        ("skillListingMaxDescChars", "0"),
        ("skillListingBudgetFraction", "5"),
        ("permissions", "[]"),
        ("permissions", r#"{"defaultMode": "zzz"}"#),
        ("permissions", r#"{"additionalDirectories": "x"}"#),
    ] {
        assert_eq!(found(user, key, value), (true, true), "{key} {value}");
        assert_eq!(found(managed, key, value), (false, false), "{key} {value}");
    }
    for (key, value) in [
        ("env", r#"{"A": 5}"#),
        ("enabledPlugins", r#"{"a@b": ["1"]}"#),
        ("statusLine", r#"{"type": "command", "command": "x"}"#),
        ("skillListingBudgetFraction", "0.05"),
        ("permissions", r#"{"defaultMode": "plan", "allow": [5], "zzz": 5}"#),
        ("zzz", "5"),
    ] {
        assert_eq!(found(user, key, value), (false, false), "{key} {value}");
    }
}

#[test]
fn list_in_place_of_the_skills_table_names_directories() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let fixture = format!(
        "//- /w/.git dir\n//- /home/u/.config/opencode/opencode.json\n{}\n\
         //- /w/opencode.json\n{}\n//- /more/m/SKILL.md\n{}//- /w/own/o/SKILL.md\n{}",
        r#"{"skills": {"paths": ["/more"]}}"#,
        r#"{"skills": ["own", "/more"]}"#,
        skill("m"),
        skill("o"),
    );
    check(
        "opencode",
        "/w",
        &fixture,
        &expect![[r#"
        active      o          /w/own/o/SKILL.md
    "#]],
    );
    let trusted = format!("{fixture}//- /w trusted\n");
    check(
        "opencode",
        "/w",
        &trusted,
        &expect![[r#"
        active      o          /w/own/o/SKILL.md
        active      m          /more/m/SKILL.md
    "#]],
    );
}

#[test]
fn codex_switches_of_another_form_are_reported() {
    let config = |text: &str| {
        format!(
            "//- /w/.git dir\n//- /home/u/.codex/config.toml\n{text}//- /w/.codex/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n"
        )
    };
    check(
        "codex",
        "/w",
        &config("[skills.config]\nname = \"a\"\nenabled = false\n"),
        &expect![[r#"
            `/home/u/.codex/config.toml:1:1`: `skills.config` is a table, not a list, so the agent does not start
            active      a          /w/.codex/skills/a/SKILL.md
        "#]],
    );
    check(
        "codex",
        "/w",
        &config("[[skills.config]]\nname = \"a\"\nenabled = \"false\"\n"),
        &expect![[r#"
            `/home/u/.codex/config.toml:1:1`: `[[skills.config]]` has an `enabled` other than true and false, so the agent does not start
            active      a          /w/.codex/skills/a/SKILL.md
        "#]],
    );
}
