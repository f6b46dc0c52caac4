//! Tests of profile variants and of trust.

use expect_test::expect;

use super::{check, check_explain, ctx};
use crate::discover::discover;
use crate::discover::memory::MemoryTree;

const HEADING: &str = "
//- /w/.git dir
//- /w/.claude/skills/a/SKILL.md
---
name: other
---
First line.

# A heading
//- /w/.claude/skills/b/SKILL.md
No heading at all.
";

#[test]
fn founding_description_is_heading_or_name() {
    let read = |profile| {
        let tree = super::MemoryTree::new(HEADING);
        let resolution = super::discover(&super::ctx(profile, "/w"), &tree);
        let descriptions =
            resolution.candidates.iter().map(|it| it.description.as_deref().unwrap().to_owned());
        descriptions.collect::<Vec<_>>()
    };
    assert_eq!(read("claude-code"), ["First line.", "No heading at all."]);
    assert_eq!(read("claude-code@founding"), ["A heading", "b"]);
}

#[test]
fn effective_difference_is_explained() {
    check_explain(
        "claude-code@founding",
        "/w",
        "a",
        HEADING,
        &expect![[r#"
            Claude Code shows `a` to its model.
            root /w/.claude/skills
              candidate /w/.claude/skills/a/SKILL.md
                differs in description: `description` is else-first-heading; in `claude-code` it is else-first-body-line (Founding notes on Claude Code: the field, else the first heading, else the name)
                description/required as agentskills, opencode-agent-skills, codex, gemini-cli, qwen-code, mistral-vibe, continue, pi, kimi-code, droid, openclaw, fast-agent at 1:1: An Agent Skills client, opencode-agent-skills, Codex and 9 more drop this file: the frontmatter has no `description`
                name/form as openhands at 2:7: OpenHands drops this file: the name `other` differs from its directory's name
        "#]],
    );
}

#[test]
fn founding_project_search_stops_below_home() {
    let fixture = "
//- /home/u/w/pkg/.git dir
//- /home/u/w/pkg/.claude/skills/near/SKILL.md
//- /home/u/w/.claude/skills/far/SKILL.md
//- /home/u/.claude/skills/own/SKILL.md
";
    check(
        "claude-code",
        "/home/u/w/pkg",
        fixture,
        &expect![[r#"
            active      own        /home/u/.claude/skills/own/SKILL.md
            active      near       /home/u/w/pkg/.claude/skills/near/SKILL.md
        "#]],
    );
    check(
        "claude-code@founding",
        "/home/u/w/pkg",
        fixture,
        &expect![[r#"
            active      own        /home/u/.claude/skills/own/SKILL.md
            active      near       /home/u/w/pkg/.claude/skills/near/SKILL.md
            active      far        /home/u/w/.claude/skills/far/SKILL.md
        "#]],
    );
}

#[test]
fn opencode_warns_of_duplicates_and_founding_requires_both_fields() {
    let fixture = "
//- /w/.git dir
//- /home/u/.claude/skills/a/SKILL.md
---
name: a
description: home
---
//- /w/.claude/skills/a/SKILL.md
---
name: a
description: project
---
//- /w/.claude/skills/b/SKILL.md
---
name: b
---
";
    check(
        "opencode",
        "/w",
        fixture,
        &expect![[r#"
            shadowed    a          /home/u/.claude/skills/a/SKILL.md
                name/unique: `/w/.claude/skills/a/SKILL.md` has the same name and is found later; opencode reads files concurrently and may use either one
            active      a          /w/.claude/skills/a/SKILL.md
                name/duplicate: two skills are named `a`: opencode may use `/w/.claude/skills/a/SKILL.md` or `/home/u/.claude/skills/a/SKILL.md`
            hidden      b          /w/.claude/skills/b/SKILL.md
                description/listed: the frontmatter has no `description`
        "#]],
    );
    check(
        "opencode@founding",
        "/w",
        fixture,
        &expect![[r#"
            shadowed    a          /home/u/.claude/skills/a/SKILL.md
                name/unique: `/w/.claude/skills/a/SKILL.md` has the same name and is found later
            active      a          /w/.claude/skills/a/SKILL.md
                name/duplicate: two skills are named `a`: `/w/.claude/skills/a/SKILL.md` wins over `/home/u/.claude/skills/a/SKILL.md`
            invalid     b          /w/.claude/skills/b/SKILL.md
                description/required: 1:1 the frontmatter has no `description`
        "#]],
    );
}

#[test]
fn untrusted_project_takes_no_name_from_the_user_for_gemini() {
    check(
        "gemini-cli",
        "/w",
        "
//- /w/.git dir
//- /home/u/.gemini/skills/a/SKILL.md
---
name: a
description: home
---
//- /home/u/.gemini/skills/b/SKILL.md
---
name: b
description: home
---
//- /w/.gemini/skills/a/SKILL.md
---
name: a
description: project
---
//- /w/.gemini/skills/c/SKILL.md
no frontmatter
",
        &expect![[r#"
            active      b          /home/u/.gemini/skills/b/SKILL.md
            active      a          /home/u/.gemini/skills/a/SKILL.md
            invalid     c          /w/.gemini/skills/c/SKILL.md
                frontmatter/required: 1:1 the file has no frontmatter
            untrusted   a          /w/.gemini/skills/a/SKILL.md
                project/trusted: Gemini CLI loads a project's skills only from a trusted folder, and `/home/u/.gemini/trustedFolders.json` does not list it
        "#]],
    );
}

#[test]
fn gemini_trust_variable_counts_only_as_exactly_true() {
    // Measured: Gemini CLI 0.61.0.
    let tree = MemoryTree::new(
        "
//- /w/.git dir
//- /w/.gemini/skills/a/SKILL.md
---
name: a
description: project
---
",
    );
    for (value, expected) in [("true", true), ("TRUE", false), ("1", false), ("yes", false)] {
        let mut ctx = ctx("gemini-cli", "/w");
        ctx.environment.insert("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), value.into());
        let resolution = discover(&ctx, &tree);
        let found = resolution.candidates.iter().find(|it| it.name == "a").unwrap();
        assert_eq!(found.state.is_listed(), expected, "{value}");
    }
}

#[test]
fn gemini_trust_variable_of_false_takes_the_trust_of_a_folder_away() {
    // Measured: Gemini CLI 0.61.0.
    let tree = MemoryTree::new(
        "
//- /w/.git dir
//- /home/u/.gemini/trustedFolders.json
{\"/w\": \"TRUST_FOLDER\"}
//- /w/.gemini/skills/a/SKILL.md
---
name: a
description: project
---
",
    );
    for (value, expected) in [(None, true), (Some("0"), true), (Some("false"), false)] {
        let mut ctx = ctx("gemini-cli", "/w");
        let value = value.map(|it| ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), it.into()));
        ctx.environment.extend(value);
        let resolution = discover(&ctx, &tree);
        let found = resolution.candidates.iter().find(|it| it.name == "a").unwrap();
        assert_eq!(found.state.is_listed(), expected);
    }
}
