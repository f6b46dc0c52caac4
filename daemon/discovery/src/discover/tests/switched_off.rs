//! Tests of settings that switch skills off by name or pattern: Mistral Vibe and Hermes Agent.

use expect_test::expect;

use super::{check, ctx};
use crate::discover::memory::MemoryTree;
use crate::discover::{SkillState, discover};

/// The user's skills `alpha`, `alpine`, `beta` and `x1`.
const VIBE_SKILLS: &str = "\
//- /home/u/.vibe/skills/alpha/SKILL.md
---
name: alpha
description: d
---
b
//- /home/u/.vibe/skills/alpine/SKILL.md
---
name: alpine
description: d
---
b
//- /home/u/.vibe/skills/beta/SKILL.md
---
name: beta
description: d
---
b
//- /home/u/.vibe/skills/x1/SKILL.md
---
name: x1
description: d
---
b
";

/// Returns the names of the skills that Mistral Vibe lists in `/w/sub`, with its settings.
fn vibe_skills(settings: &str) -> String {
    let fixture = format!("//- /w/.git dir\n//- /w/sub dir\n{settings}{VIBE_SKILLS}");
    let resolution = discover(&ctx("mistral-vibe", "/w/sub"), &MemoryTree::new(&fixture));
    let active = resolution.candidates.iter().filter(|it| it.state == SkillState::Active);
    active.map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Measured: the results of the agent's own functions on the same files.
#[test]
fn mistral_vibe_patterns_enable_and_disable_skills() {
    let user = |text: &str| format!("//- /home/u/.vibe/config.toml\n{text}\n");
    let project = |dir: &str, text: &str| format!("//- {dir}/.vibe/config.toml\n{text}\n");
    let trusted = "//- /w trusted\n";
    for (text, expected) in [
        ("", "alpha alpine beta x1"),
        (r#"disabled_skills = ["ALPHA"]"#, "alpine beta x1"),
        (r#"disabled_skills = ["alp*", "?1"]"#, "beta"),
        (r#"disabled_skills = ["re:alp.*"]"#, "beta x1"),
        (r#"disabled_skills = ["re:alp"]"#, "alpha alpine beta x1"),
        (r#"disabled_skills = ["re:(", "  ", " beta "]"#, "alpha alpine x1"),
        (r#"enabled_skills = ["alpha"]"#, "alpha"),
        ("enabled_skills = [\"alpha\", \"beta\"]\ndisabled_skills = [\"alpha\"]", "alpha beta"),
        ("enabled_skills = []\ndisabled_skills = [\"alpha\"]", "alpine beta x1"),
        (r#"enabled_skills = [""]"#, ""),
    ] {
        assert_eq!(vibe_skills(&user(text)), expected, "{text}");
    }
    let (alpha, beta) = (r#"disabled_skills = ["alpha"]"#, r#"disabled_skills = ["beta"]"#);
    for (settings, expected) in [
        ([user(alpha), project("/w/sub", beta)].concat(), "alpine x1"),
        ([user(""), project("/w", beta)].concat(), "alpha alpine x1"),
        // Only the nearest file is read.
        ([project("/w", beta), project("/w/sub", alpha)].concat(), "alpine beta x1"),
        (
            [user(r#"enabled_skills = ["alpha"]"#), project("/w", r#"enabled_skills = ["beta"]"#)]
                .concat(),
            "alpha beta",
        ),
        ([user(alpha), project("/w", r#"enabled_skills = ["alpha"]"#)].concat(), "alpha"),
    ] {
        assert_eq!(vibe_skills(&format!("{trusted}{settings}")), expected, "{settings}");
    }
}

#[test]
fn mistral_vibe_patterns_of_an_untrusted_repository_enable_nothing() {
    let user = |text: &str| format!("//- /home/u/.vibe/config.toml\n{text}\n");
    let project = |text: &str| format!("//- /w/.vibe/config.toml\n{text}\n");
    let all = r#"enabled_skills = ["*"]"#;
    for (user, project, expected) in [
        (user(r#"enabled_skills = ["alpha"]"#), project(all), "alpha"),
        (user(r#"disabled_skills = ["alpha"]"#), project(all), "alpine beta x1"),
        (user(""), project(r#"enabled_skills = ["alpha"]"#), "alpha"),
        (
            user(r#"disabled_skills = ["alpha"]"#),
            project(r#"disabled_skills = ["beta"]"#),
            "alpine x1",
        ),
    ] {
        assert_eq!(vibe_skills(&[user, project].concat()), expected);
    }
    // A repository within another one does not hide the restrictions of the outer one.
    let inner = "//- /w/sub/.git/HEAD\nref: refs/heads/main\n//- /w/sub/.vibe/config.toml\n\n";
    let outer = project(r#"disabled_skills = ["beta"]"#);
    assert_eq!(vibe_skills(&format!("{outer}{inner}")), "alpha alpine x1");
}

#[test]
fn mistral_vibe_settings_are_named_with_their_faults() {
    check(
        "mistral-vibe",
        "/w",
        &format!(
            "//- /home/u/.vibe/config.toml\ndisabled_skills = [\"re:(?=x)\", \"alp*\", 7]\nenabled_skills = \"x1\"\n{VIBE_SKILLS}"
        ),
        &expect![[r#"
            `/home/u/.vibe/config.toml:1:20`: `re:(?=x)` in `disabled_skills` selects nothing: it is no expression that skillsd can evaluate
            `/home/u/.vibe/config.toml:1:40`: `disabled_skills` has a number, so the agent does not start
            `/home/u/.vibe/config.toml:2:18`: `enabled_skills` is a string, not a list, so the agent does not start
            ignored     alpha      /home/u/.vibe/skills/alpha/SKILL.md
                settings/off: /home/u/.vibe/config.toml:1:32 `disabled_skills` switches it off
            ignored     alpine     /home/u/.vibe/skills/alpine/SKILL.md
                settings/off: /home/u/.vibe/config.toml:1:32 `disabled_skills` switches it off
            active      beta       /home/u/.vibe/skills/beta/SKILL.md
            active      x1         /home/u/.vibe/skills/x1/SKILL.md
        "#]],
    );
}

/// Measured: the results of the agent's own functions on the same files.
#[test]
fn hermes_disables_skills_by_name_in_a_list_or_alone() {
    for (text, expected) in [
        ("skills:\n  disabled: [alpha, ' beta ', Gamma]", "gamma"),
        ("skills:\n  disabled: beta", "alpha gamma"),
        ("skills:\n  disabled:", "alpha beta gamma"),
        ("skills: [alpha]", "alpha beta gamma"),
        ("skills:\n  disabled: [alpha", "alpha beta gamma"),
    ] {
        let fixture = format!(
            "//- /home/u/.hermes/config.yaml\n{text}\n\
//- /home/u/.hermes/skills/alpha/SKILL.md\n---\nname: alpha\ndescription: d\n---\nb\n//- /home/u/.hermes/skills/beta/SKILL.md\n---\nname: beta\ndescription: d\n---\nb\n//- /home/u/.hermes/skills/gamma/SKILL.md\n---\nname: gamma\ndescription: d\n---\nb\n"
        );
        let resolution = discover(&ctx("hermes", "/w"), &MemoryTree::new(&fixture));
        let active = resolution.candidates.iter().filter(|it| it.state == SkillState::Active);
        let active: Vec<_> = active.map(|it| it.name.as_str()).collect();
        assert_eq!(active.join(" "), expected, "{text}");
    }
}

#[test]
fn opencode_switches_of_claude_skills_take_words_for_yes() {
    // Measured: opencode 1.18.33.
    let tree = MemoryTree::new(
        "
//- /w/.git dir
//- /w/.claude/skills/a/SKILL.md
---
name: a
description: d
---
//- /w/.opencode/skills/b/SKILL.md
---
name: b
description: d
---
",
    );
    let listed = |variable: &str, value: &str| {
        let mut ctx = ctx("opencode", "/w");
        ctx.environment.insert(variable.to_owned(), value.into());
        let resolution = discover(&ctx, &tree);
        let found = resolution.listed().filter(|it| !it.is_built_in());
        found.map(|it| it.name.clone()).collect::<Vec<_>>().join(" ")
    };
    for value in ["yes", "on", "y", "1", "true"] {
        assert_eq!(listed("OPENCODE_DISABLE_CLAUDE_CODE", value), "b", "{value}");
    }
    for value in ["no", "off", "n", "0", ""] {
        assert_eq!(listed("OPENCODE_DISABLE_CLAUDE_CODE", value), "a b", "{value}");
    }
    assert_eq!(listed("OPENCODE_DISABLE_PROJECT_CONFIG", "yes"), "a b");
}

#[test]
fn settings_of_another_type_count_as_gemini_takes_them() {
    // Measured: Gemini CLI 0.61.0.
    for (settings, expected) in [
        (r#"{"disabled": "ab"}"#, "a"),
        (r#"{"enabled": "False"}"#, ""),
        (r#"{"enabled": 0}"#, ""),
        (r#"{"enabled": "0"}"#, "a ab"),
    ] {
        let skill = |it: &str| {
            format!(
                "//- /home/u/.gemini/skills/{it}/SKILL.md\n---\nname: {it}\ndescription: d\n---\n"
            )
        };
        let fixture = format!(
            "//- /w/.git dir\n//- /home/u/.gemini/settings.json\n{{\"skills\": {settings}}}\n{}{}",
            skill("a"),
            skill("ab"),
        );
        let resolution = discover(&ctx("gemini-cli", "/w"), &MemoryTree::new(&fixture));
        let active = resolution.candidates.iter().filter(|it| it.state == SkillState::Active);
        let active = active.filter(|it| !it.is_built_in()).map(|it| it.name.as_str());
        let mut active: Vec<_> = active.collect();
        active.sort_unstable();
        assert_eq!(active.join(" "), expected, "{settings}");
    }
}
