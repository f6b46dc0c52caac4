//! Tests of skills built into an agent's program.

use expect_test::{Expect, expect};
use skills_agents::profile::agents;

use super::{MemoryTree, check_explain, ctx, path};
use crate::discover::{Candidate, SkillState, discover};

const MINE: &str = "
//- /w/.git dir
//- /w/.opencode/skills/mine/SKILL.md
---
name: customize-opencode
description: mine
---
";

const DENIED: &str = r#"
//- /w/.git dir
//- /w/opencode.json
{"permission": {"skill": {"customize-*": "deny"}}}
"#;

/// Checks the state of the built-in skills and of all others.
#[track_caller]
fn check(profile: &str, fixture: &str, expected: &Expect) {
    let resolution = discover(&ctx(profile, "/w"), &MemoryTree::new(fixture));
    let line = |it: &Candidate| {
        let why = it.reason.as_ref().map(|it| format!(": {}", it.message)).unwrap_or_default();
        format!("{} {}{why}\n", it.state.name(), it.path.display())
    };
    expected.assert_eq(&resolution.candidates.iter().map(line).collect::<String>());
}

#[test]
fn built_in_skill_is_hidden_and_explained() {
    check(
        "opencode",
        "//- /w/.git dir",
        &expect![[r#"
            hidden /builtin:/opencode/customize-opencode: it is built into opencode, which lists and loads it itself
        "#]],
    );
    check_explain(
        "opencode",
        "/w",
        "customize-opencode",
        "//- /w/.git dir",
        &expect![[r#"
            opencode shows `customize-opencode` to its model: it is built into opencode.
            next: Nothing needs to be done. A skill of your own with that name wins over it.
            root /builtin:/opencode: comes from the program of opencode 1.18.33
              candidate /builtin:/opencode/customize-opencode
                agent/built-in decisive=true: it is built into opencode, which lists and loads it itself
        "#]],
    );
}

#[test]
fn users_skill_wins_over_built_in_skill() {
    check(
        "opencode",
        MINE,
        &expect![[r#"
        shadowed /builtin:/opencode/customize-opencode: `/w/.opencode/skills/mine/SKILL.md` has the same name and is found later
        active /w/.opencode/skills/mine/SKILL.md
    "#]],
    );
    check(
        "opencode",
        DENIED,
        &expect![[r#"
        denied /builtin:/opencode/customize-opencode: the rule `customize-*` denies it
    "#]],
    );
    let settings = "
//- /home/u/.gemini/settings.json
{\"skills\": {\"disabled\": [\"Skill-Creator\"]}}
";
    check(
        "gemini-cli",
        settings,
        &expect![[r#"
            hidden /builtin:/gemini-cli/antigravity-support: it is built into Gemini CLI, which lists and loads it itself
            ignored /builtin:/gemini-cli/skill-creator: `skills.disabled` switches it off
        "#]],
    );
}

#[test]
fn founding_profiles_have_no_built_in_skills() {
    check("opencode@founding", "//- /w/.git dir", &expect![[""]]);
}

#[test]
fn built_in_skills_have_distinct_names_and_descriptions() {
    for profile in agents() {
        let resolution = discover(&ctx(&profile.id, "/w"), &MemoryTree::new(""));
        let of_agent = resolution.candidates.iter().filter(|it| it.is_built_in());
        for it in of_agent {
            assert_eq!(it.state, SkillState::Hidden);
            let record = it.record().unwrap();
            assert!(record.findings.is_empty(), "{:?}", record.findings);
            assert!(it.description.as_ref().is_some_and(|it| it.ends_with('.')), "{}", it.name);
            assert!(it.path.starts_with(&*path("/builtin:").child(&*profile.id)), "{:?}", it.path);
        }
    }
}
