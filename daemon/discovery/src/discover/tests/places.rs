//! Tests of unusual trees: nested worktrees, several paths to one file, very large roots.

use std::fmt::Write as _;

use expect_test::expect;

use super::{MemoryTree, check, check_explain, ctx, discover};
use crate::discover::{SettingsOutcome, SkipReason};

const WORKTREE: &str = "
//- /main/.git dir
//- /main/.claude/skills/there/SKILL.md
---
description: in the main checkout
---
//- /linked/.git
gitdir: /main/.git/worktrees/linked
//- /linked/.claude/skills/here/SKILL.md
---
description: in the linked worktree
---
//- /linked/sub/module/.git
gitdir: /linked/.git/modules/module
//- /linked/sub/module/.claude/skills/own/SKILL.md
---
description: in the submodule
---
";

#[test]
fn linked_worktree_and_submodule_are_separate_worktrees() {
    check(
        "claude-code",
        "/linked",
        WORKTREE,
        &expect![[r#"
            active      here       /linked/.claude/skills/here/SKILL.md
        "#]],
    );
    check(
        "claude-code",
        "/linked/sub/module",
        WORKTREE,
        &expect![[r#"
            active      own        /linked/sub/module/.claude/skills/own/SKILL.md
        "#]],
    );
}

#[test]
fn overlapping_and_linked_roots_list_a_file_once() {
    check(
        "agentskills",
        "/home/u",
        "
//- /home/u/.agents/skills/a/SKILL.md
---
name: a
description: is here
---
//- /home/u/.claude/skills -> /home/u/.agents/skills
//- /home/u/.codex/skills/b -> /home/u/.agents/skills/a
",
        &expect![[r#"
            active      a          /home/u/.agents/skills/a/SKILL.md
            shadowed    a          /home/u/.claude/skills/a/SKILL.md
                file/identity: it is the same file as `/home/u/.agents/skills/a/SKILL.md`
            shadowed    a          /home/u/.codex/skills/b/SKILL.md
                name/standard: 2:7 the name `a` differs from its directory's name, which the standard does not allow
                file/identity: it is the same file as `/home/u/.agents/skills/a/SKILL.md`
            shadowed    a          /home/u/.agents/skills/a/SKILL.md
                file/identity: it is the same file as `/home/u/.agents/skills/a/SKILL.md`
            shadowed    a          /home/u/.claude/skills/a/SKILL.md
                file/identity: it is the same file as `/home/u/.agents/skills/a/SKILL.md`
            shadowed    a          /home/u/.codex/skills/b/SKILL.md
                name/standard: 2:7 the name `a` differs from its directory's name, which the standard does not allow
                file/identity: it is the same file as `/home/u/.agents/skills/a/SKILL.md`
        "#]],
    );
}

#[test]
fn link_back_to_the_root_makes_it_a_skill() {
    check(
        "claude-code",
        "/w",
        "
//- /w/.git dir
//- /w/.claude/skills/SKILL.md
---
description: of the root itself
---
//- /w/.claude/skills/round -> /w/.claude/skills
",
        &expect![[r#"
            active      round      /w/.claude/skills/round/SKILL.md
            passed over /w/.claude/skills/SKILL.md: a SKILL.md directly in the root is not a skill; a skill is a directory of its own
        "#]],
    );
}

#[test]
fn nested_skills_wait_for_a_touch() {
    let fixture = "
//- /w/.git dir
//- /w/pkg/.claude/skills/a/SKILL.md
---
name: a
description: nested
---
//- /w/docs/skills/b/SKILL.md
---
name: b
description: misplaced
---
";
    let nested = "/w/pkg/.claude/skills/a/SKILL.md";
    check_explain(
        "claude-code",
        "/w",
        nested,
        fixture,
        &expect![[r#"
            Claude Code finds no skill at `/w/pkg/.claude/skills/a/SKILL.md`: it is below the working directory; Claude Code searches there once a file near it is touched.
            next: Start the agent in `/w/pkg`, or let it read or edit a file there.
            nested/touched decisive=true: it is below the working directory; Claude Code searches there once a file near it is touched
        "#]],
    );
    check_explain(
        "codex",
        "/w",
        nested,
        fixture,
        &expect![[r#"
            Codex finds no skill at `/w/pkg/.claude/skills/a/SKILL.md`: it is in none of the directories that Codex searches.
            next: Run `skillsd link /w/pkg/.claude/skills/a --to codex`.
            roots/searched decisive=true: it is in none of the directories that Codex searches
        "#]],
    );
    let misplaced = "/w/docs/skills/b/SKILL.md";
    check_explain(
        "claude-code",
        "/w",
        misplaced,
        fixture,
        &expect![[r#"
            Claude Code finds no skill at `/w/docs/skills/b/SKILL.md`: it is in none of the directories that Claude Code searches.
            next: Move `/w/docs/skills/b` to `/w/.claude/skills/b`.
            roots/searched decisive=true: it is in none of the directories that Claude Code searches
        "#]],
    );
}

#[test]
fn codex_directory_limit_is_reported() {
    let mut fixture = String::from("//- /w/.git dir\n");
    for number in 0..2001 {
        // Writing to a `String` cannot fail.
        let _ = writeln!(fixture, "//- /w/.agents/skills/{number:04} dir");
    }
    fixture.push_str("//- /w/.agents/skills/z/SKILL.md\n---\nname: z\ndescription: d\n---\n");
    let resolution = discover(&ctx("codex", "/w"), &MemoryTree::new(&fixture));
    let told = resolution.roots.iter().flat_map(|it| &it.skips).map(|it| &it.reason);
    assert_eq!(told.collect::<Vec<_>>(), [&SkipReason::TooManyDirectories(2000, 2003)]);
    assert_eq!(resolution.listed().count(), 1);
    let resolution = discover(&ctx("agentskills", "/w"), &MemoryTree::new(&fixture));
    assert!(resolution.roots.iter().all(|it| it.skips.is_empty()));
}

#[test]
fn codex_entry_limit_is_reported() {
    let mut fixture = String::from("//- /w/.git dir\n");
    fixture.push_str("//- /w/.agents/skills/z/SKILL.md\n---\nname: z\ndescription: d\n---\n");
    for number in 0..19_999 {
        // Writing to a `String` cannot fail.
        let _ = writeln!(fixture, "//- /w/.agents/skills/z/{number}.csv");
    }
    let tree = MemoryTree::new(&fixture);
    let resolution = discover(&ctx("codex", "/w"), &tree);
    let told = resolution.roots.iter().flat_map(|it| &it.skips).map(|it| &it.reason);
    assert_eq!(told.collect::<Vec<_>>(), [&SkipReason::TooManyEntries(20_000, 20_001)]);
    assert_eq!(resolution.listed().count(), 1);
}

/// Measured in Cline 3.0.65 by loading the skill, each winner removed before the next run: the
/// user's directories win over the project's, `.agents` over `.cline` over `.clinerules`.
#[test]
fn cline_takes_the_last_of_equal_names() {
    check(
        "cline",
        "/w",
        "\
//- /w/.git dir
//- /w/.clinerules/skills/dup/SKILL.md
---
name: dup
description: d
---
b
//- /w/.cline/skills/dup/SKILL.md
---
name: dup
description: d
---
b
//- /w/.agents/skills/dup/SKILL.md
---
name: dup
description: d
---
b
//- /home/u/.cline/skills/dup/SKILL.md
---
name: dup
description: d
---
b
//- /home/u/.agents/skills/dup/SKILL.md
---
name: dup
description: d
---
b
//- /home/u/.agents/skills/a/SKILL.md
---
name: twin
description: d
---
b
//- /home/u/.agents/skills/b/SKILL.md
---
name: twin
description: d
---
b
",
        &expect![[r#"
            shadowed    dup        /w/.clinerules/skills/dup/SKILL.md
                name/unique: `/home/u/.agents/skills/dup/SKILL.md` has the same name and is found later
            shadowed    dup        /w/.cline/skills/dup/SKILL.md
                name/unique: `/home/u/.agents/skills/dup/SKILL.md` has the same name and is found later
            shadowed    dup        /w/.agents/skills/dup/SKILL.md
                name/unique: `/home/u/.agents/skills/dup/SKILL.md` has the same name and is found later
            shadowed    dup        /home/u/.cline/skills/dup/SKILL.md
                name/unique: `/home/u/.agents/skills/dup/SKILL.md` has the same name and is found later
            shadowed    twin       /home/u/.agents/skills/a/SKILL.md
                name/unique: `/home/u/.agents/skills/b/SKILL.md` has the same name and is found later
            active      twin       /home/u/.agents/skills/b/SKILL.md
            active      dup        /home/u/.agents/skills/dup/SKILL.md
        "#]],
    );
}

/// Skills in the home directory, in the worktree, and beside it.
const CONFIG_DIRS: &str = "
//- /home/u/w/.git dir
//- /home/u/.claude/skills/home/SKILL.md
---
description: d
---
//- /home/u/.config/opencode/skills/config/SKILL.md
---
name: config
description: d
---
//- /home/u/w/skills/top/SKILL.md
---
description: d
---
//- /home/u/w/opencode/skills/top/SKILL.md
---
name: top
description: d
---
//- /home/u/w/rel/skills/inside/SKILL.md
---
description: d
---
//- /home/u/w/~/x/skills/tilde/SKILL.md
---
description: d
---
//- /home/u/conf/skills/beside/SKILL.md
---
description: d
---
//- /home/u/conf/opencode/skills/beside/SKILL.md
---
name: beside
description: d
---
";

/// Returns the skills with the variable set, and whether their roots are trusted.
fn found_with(profile: &str, name: &str, value: &str) -> Vec<(String, bool)> {
    let mut ctx = ctx(profile, "/home/u/w");
    ctx.environment.insert(name.to_owned(), value.into());
    let found = discover(&ctx, &MemoryTree::new(CONFIG_DIRS));
    let shown = found.candidates.iter().filter(|it| !it.is_built_in());
    shown.map(|it| (it.name.clone(), found.roots[it.root].is_trusted())).collect()
}

#[test]
fn relative_directory_in_a_variable_starts_at_the_cwd_and_needs_trust() {
    // Measured: Claude Code 2.1.330, opencode 1.18.33.
    for (value, name, trusted) in [
        ("/home/u/conf", "beside", true),
        ("/home/u/w/../conf", "beside", true),
        ("../conf", "beside", false),
        ("rel", "inside", false),
        ("~/x", "tilde", false),
        ("", "top", false),
        (".", "top", false),
    ] {
        let found = found_with("claude-code", "CLAUDE_CONFIG_DIR", value);
        assert_eq!(found, [(name.to_owned(), trusted)], "{value}");
    }
    for (value, name, trusted) in [("../conf", "beside", false), ("", "config", true)] {
        let found = found_with("opencode", "XDG_CONFIG_HOME", value);
        assert_eq!(found, [("home".to_owned(), true), (name.to_owned(), trusted)], "{value}");
    }
}

#[test]
fn relative_settings_file_in_a_variable_is_read() {
    let mut ctx = ctx("opencode", "/w");
    ctx.environment.insert("OPENCODE_CONFIG".to_owned(), "../o.json".into());
    let tree = MemoryTree::new("//- /w/.git dir\n//- /o.json\n{}\n");
    let read = discover(&ctx, &tree).settings;
    assert!(
        read.iter().any(|it| it.path.ends_with("o.json") && it.outcome == SettingsOutcome::Read)
    );
}
