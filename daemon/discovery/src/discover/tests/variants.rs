//! Variants beside today's rows, and trust.

use expect_test::expect;

use super::{check, check_explain};

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
fn the_founding_description_is_the_heading_or_the_name() {
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
fn the_difference_that_mattered_is_told() {
    check_explain(
        "claude-code@founding",
        "/w",
        "a",
        HEADING,
        &expect![[r#"
            Claude Code shows `a` to its model.
            root /w/.claude/skills
              candidate /w/.claude/skills/a/SKILL.md
                differs in description: `description` differs from `claude-code`: else-first-heading, where that has else-first-body-line (The document on Claude Code: the field, else the first heading, else the name)
                description/required as agentskills at 1:1: An Agent Skills client drops this file: the frontmatter has no `description`
                description/required as opencode-agent-skills at 1:1: opencode-agent-skills drops this file: the frontmatter has no `description`
                description/required as codex at 1:1: Codex drops this file: the frontmatter has no `description`
                description/required as gemini-cli at 1:1: Gemini CLI drops this file: the frontmatter has no `description`
        "#]],
    );
}

#[test]
fn founding_projects_reach_up_to_home_and_not_into_it() {
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
fn founding_opencode_wants_both_texts_and_warns_of_two() {
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
                name/unique: `/w/.claude/skills/a/SKILL.md` has the same name and is found later; so opencode means it, but it reads files at the same time and takes either
            active      a          /w/.claude/skills/a/SKILL.md
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
                name/duplicate: the name `a` is there twice: `/w/.claude/skills/a/SKILL.md` takes it from `/home/u/.claude/skills/a/SKILL.md`
            invalid     b          /w/.claude/skills/b/SKILL.md
                description/required: 1:1 the frontmatter has no `description`
        "#]],
    );
}

#[test]
fn gemini_waits_for_trust_after_names_are_settled() {
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
            shadowed    a          /home/u/.gemini/skills/a/SKILL.md
                name/unique: `/w/.gemini/skills/a/SKILL.md` has the same name and is found later
            active      b          /home/u/.gemini/skills/b/SKILL.md
            untrusted   a          /w/.gemini/skills/a/SKILL.md
                project/trusted: Gemini CLI takes a project's skills only where its folder is trusted, and `/home/u/.gemini/trustedFolders.json` does not name it
            invalid     c          /w/.gemini/skills/c/SKILL.md
                frontmatter/required: 1:1 the file has no frontmatter
        "#]],
    );
}
