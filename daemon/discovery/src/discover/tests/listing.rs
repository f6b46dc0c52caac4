//! Tests of the walk and of precedence: which skills are found, skipped and shadowed.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use skills_agents::profile::Scope;

use super::{check, ctx, path};
use crate::discover::memory::MemoryTree;
use crate::discover::overlay::Overlay;
use crate::discover::{DiscoveryContext, SkillState, discover};

#[test]
fn project_wins_over_user_and_nearer_root_over_farther() {
    check(
        "agentskills",
        "/w/pkg",
        "
//- /w/.git dir
//- /w/pkg/.agents/skills/a/SKILL.md
---
name: a
description: nearest
---
//- /w/.claude/skills/a/SKILL.md
---
name: a
description: farther
---
//- /home/u/.agents/skills/a/SKILL.md
---
name: a
description: home
---
//- /home/u/.config/opencode/skill/b/SKILL.md
---
name: b
description: only here
---
",
        &expect![[r#"
            active      a          /w/pkg/.agents/skills/a/SKILL.md
            shadowed    a          /w/.claude/skills/a/SKILL.md
                name/unique: `/w/pkg/.agents/skills/a/SKILL.md` has the same name and is found earlier
            shadowed    a          /home/u/.agents/skills/a/SKILL.md
                name/unique: `/w/pkg/.agents/skills/a/SKILL.md` has the same name and is found earlier
            active      b          /home/u/.config/opencode/skill/b/SKILL.md
        "#]],
    );
}

#[test]
fn outside_git_only_the_working_directory_is_searched() {
    check(
        "agentskills",
        "/w/pkg",
        "
//- /w/pkg dir
//- /w/.agents/skills/a/SKILL.md
---
name: a
description: above
---
",
        &expect![[""]],
    );
}

#[test]
fn foreign_ancestor_ends_the_worktree_search() {
    check(
        "agentskills",
        "/up/w",
        "
//- /up foreign
//- /up/.git dir
//- /up/w dir
//- /up/.agents/skills/a/SKILL.md
---
name: a
description: planted
---
",
        &expect![[""]],
    );
}

#[test]
fn foreign_directory_above_a_directory_without_git_is_not_read() {
    check(
        "claude-code",
        "/up/w",
        "
//- /up/w dir
//- /up/.claude foreign
//- /up/.claude/skills/a/SKILL.md
---
name: a
description: planted
---
",
        &expect![[""]],
    );
}

#[test]
fn skipped_entries_are_listed_with_reasons() {
    check(
        "agentskills",
        "/w",
        "
//- /w/.git dir
//- /w/.agents/skills/SKILL.md
---
name: skills
description: in the root itself
---
//- /w/.agents/skills/.hidden/SKILL.md
//- /w/.agents/skills/node_modules/x/SKILL.md
//- /w/.agents/skills/lower/skill.md
//- /w/.agents/skills/1/2/3/4/5/6/SKILL.md
---
name: '6'
description: as deep as it goes
---
//- /w/.agents/skills/1/2/3/4/5/x/7/SKILL.md
//- /w/.agents/skills/outer/SKILL.md
---
name: outer
description: holds another
---
//- /w/.agents/skills/outer/inner/SKILL.md
---
name: inner
description: is never seen
---
",
        &expect![[r#"
            active      6          /w/.agents/skills/1/2/3/4/5/6/SKILL.md
            active      outer      /w/.agents/skills/outer/SKILL.md
            passed over /w/.agents/skills/SKILL.md: a SKILL.md directly in the root is not a skill; a skill is a directory of its own
            passed over /w/.agents/skills/.hidden: directories whose names begin with a dot are not searched
            passed over /w/.agents/skills/1/2/3/4/5/x/7: this is deeper than the 6 levels below the root that the agent searches
            passed over /w/.agents/skills/lower/skill.md: the file must be called `SKILL.md`, in capitals
            passed over /w/.agents/skills/node_modules: directories of this name are never searched
        "#]],
    );
}

#[test]
fn linked_file_is_one_skill_and_link_loops_end() {
    check(
        "agentskills",
        "/w",
        "
//- /w/.git dir
//- /w/.agents/skills/real/SKILL.md
---
name: real
description: reached twice
---
//- /w/.agents/skills/again -> /w/.agents/skills/real
//- /w/.agents/skills/round -> /w/.agents/skills
//- /w/.agents/skills/nowhere -> /none
//- /w/.claude/skills -> /w/.agents/skills
",
        &expect![[r#"
            active      real       /w/.agents/skills/again/SKILL.md
                name/standard: 2:7 the name `real` differs from its directory's name, which the standard does not allow
            shadowed    real       /w/.claude/skills/again/SKILL.md
                name/standard: 2:7 the name `real` differs from its directory's name, which the standard does not allow
                file/identity: it is the same file as `/w/.agents/skills/again/SKILL.md`
            passed over /w/.agents/skills/nowhere: it is a dangling symbolic link to `/w/.agents/skills/nowhere`
            passed over /w/.agents/skills/real: it is the same directory as `/w/.agents/skills/again`, which was searched already
            passed over /w/.agents/skills/round: it is the same directory as `/w/.agents/skills`, which was searched already
            passed over /w/.claude/skills/nowhere: it is a dangling symbolic link to `/w/.claude/skills/nowhere`
            passed over /w/.claude/skills/real: it is the same directory as `/w/.claude/skills/again`, which was searched already
            passed over /w/.claude/skills/round: it is the same directory as `/w/.claude/skills`, which was searched already
        "#]],
    );
}

#[test]
fn opencode_finds_a_file_by_each_path_but_no_directory_below_itself() {
    check(
        "opencode",
        "/w",
        "
//- /w/.git dir
//- /w/.opencode/skills/m/a/SKILL.md
---
name: a
description: reached by several paths
---
//- /w/.opencode/skills/b -> /w/.opencode/skills/m
//- /w/.opencode/skills/z -> /w/.opencode/skills/m
//- /w/.opencode/skills/m/up -> /w/.opencode/skills
//- /w/.opencode/skills/m/self -> /w/.opencode/skills/m
",
        &expect![[r#"
            shadowed    a          /w/.opencode/skills/b/a/SKILL.md
                file/identity: it is the same file as `/w/.opencode/skills/z/a/SKILL.md`
            shadowed    a          /w/.opencode/skills/m/a/SKILL.md
                file/identity: it is the same file as `/w/.opencode/skills/z/a/SKILL.md`
            active      a          /w/.opencode/skills/z/a/SKILL.md
            passed over /w/.opencode/skills/b/self: it is the same directory as `/w/.opencode/skills/b`, which was searched already
            passed over /w/.opencode/skills/b/up: it is the same directory as `/w/.opencode/skills`, which was searched already
            passed over /w/.opencode/skills/m/self: it is the same directory as `/w/.opencode/skills/m`, which was searched already
            passed over /w/.opencode/skills/m/up: it is the same directory as `/w/.opencode/skills`, which was searched already
            passed over /w/.opencode/skills/z/self: it is the same directory as `/w/.opencode/skills/z`, which was searched already
            passed over /w/.opencode/skills/z/up: it is the same directory as `/w/.opencode/skills`, which was searched already
        "#]],
    );
}

#[test]
fn opencode_finds_a_file_once_if_links_make_too_many_paths() {
    let mut tree = "//- /w/.git dir\n".to_owned();
    for room in 0..60 {
        let dir = format!("/w/.opencode/skills/r{room}");
        let _ = writeln!(tree, "//- {dir}/SKILL.md\n---\nname: a{room}\ndescription: d\n---");
        for door in [1, 7, 13] {
            let next = (room + door) % 60;
            let _ = writeln!(tree, "//- {dir}/door{door} -> /w/.opencode/skills/r{next}");
        }
    }
    let found = discover(&super::ctx("opencode", "/w"), &MemoryTree::new(&tree));
    let in_files: Vec<_> = found.candidates.iter().filter(|it| !it.is_built_in()).collect();
    assert_eq!(in_files.len(), 60);
    assert!(in_files.iter().all(|it| it.state == SkillState::Active));
}

#[test]
fn claude_code_uses_directory_name_and_first_body_line() {
    check(
        "claude-code",
        "/w",
        "
//- /w/.git dir
//- /w/.claude/skills/plain/SKILL.md

# Do the thing

//- /w/.claude/skills/labelled/SKILL.md
---
name: another-name
description: labelled
---
//- /w/.claude/skills/group/deep/SKILL.md
---
description: one level too deep
---
//- /w/.claude/skills/synced/SKILL.md
//- /w/.claude/skills/hand/SKILL.md
---
description: by hand only
disable-model-invocation: true
---
//- /w/.claude/skills/rust/SKILL.md
---
description: for Rust
paths: '**/*.rs, Cargo.toml'
---
//- /etc/claude-code/.claude/skills/plain/SKILL.md
---
description: the administrator's
---
",
        &expect![[r#"
            active      plain      /etc/claude-code/.claude/skills/plain/SKILL.md
            hidden      hand       /w/.claude/skills/hand/SKILL.md
                model-invocation: `disable-model-invocation` keeps it from the model
            active      labelled   /w/.claude/skills/labelled/SKILL.md
            shadowed    plain      /w/.claude/skills/plain/SKILL.md
                name/unique: `/etc/claude-code/.claude/skills/plain/SKILL.md` has the same name and is found earlier
            conditional rust       /w/.claude/skills/rust/SKILL.md
                paths: waits until a file is touched that matches `**/*.rs`, `Cargo.toml`
            passed over /w/.claude/skills/group/deep: this is deeper than the 1 level below the root that the agent searches
            passed over /w/.claude/skills/synced: the agent reserves this directory name
        "#]],
    );
}

#[test]
fn broken_files_have_reasons_and_hide_no_other_skill() {
    check(
        "agentskills",
        "/w",
        "
//- /w/.git dir
//- /w/.agents/skills/colon/SKILL.md
---
name: colon
description: Use when: asked
---
//- /w/.agents/skills/nodesc/SKILL.md
---
name: nodesc
---
//- /w/.agents/skills/noname/SKILL.md
---
description: nameless
---
//- /w/.agents/skills/empty/SKILL.md
//- /w/.agents/skills/dir/SKILL.md dir
//- /w/.agents/skills/pipe/SKILL.md fifo
//- /w/.agents/skills/secret/SKILL.md denied
//- /w/.agents/skills/dangling/SKILL.md -> /none
//- /w/.agents/skills/loop/SKILL.md -> /w/.agents/skills/loop/SKILL.md
//- /w/.agents/skills/list/SKILL.md
---
name: list
description: [a, b]
---
//- /w/.agents/skills/number/SKILL.md
---
name: 123
description: 42
---
//- /w/.agents/skills/good/SKILL.md
---
name: good
description: still here
---
",
        &expect![[r#"
            active      colon      /w/.agents/skills/colon/SKILL.md
                yaml/valid: 3:22 the frontmatter is not valid YAML: `: ` inside an unquoted value; problematic values are read as quoted
            invalid     dangling   /w/.agents/skills/dangling/SKILL.md
                file/readable: SKILL.md is a dangling symbolic link to `/w/.agents/skills/dangling/SKILL.md`
            invalid     dir        /w/.agents/skills/dir/SKILL.md
                file/readable: SKILL.md is a directory, not a file
            invalid     empty      /w/.agents/skills/empty/SKILL.md
                frontmatter/required: 1:1 the file has no frontmatter
            active      good       /w/.agents/skills/good/SKILL.md
            invalid     list       /w/.agents/skills/list/SKILL.md
                description/required: 3:14 `description` is a list or a map, not text
            invalid     loop       /w/.agents/skills/loop/SKILL.md
                file/readable: SKILL.md is part of a loop of symbolic links
            invalid     nodesc     /w/.agents/skills/nodesc/SKILL.md
                description/required: 1:1 the frontmatter has no `description`
            invalid     noname     /w/.agents/skills/noname/SKILL.md
                name/required: 1:1 the frontmatter has no `name`
            active      123        /w/.agents/skills/number/SKILL.md
                name/standard: 2:7 the name `123` differs from its directory's name, which the standard does not allow
            invalid     pipe       /w/.agents/skills/pipe/SKILL.md
                file/readable: SKILL.md is a named pipe, not a regular file
            invalid     secret     /w/.agents/skills/secret/SKILL.md
                file/readable: SKILL.md cannot be read: permission denied
        "#]],
    );
}

#[test]
fn missing_working_directory_is_reported() {
    let tree = crate::discover::memory::MemoryTree::new("//- /w/.git dir\n//- /w/file\n");
    let exists = |cwd| super::discover(&super::ctx("agentskills", cwd), &tree).cwd_exists;
    assert!(exists("/w"));
    assert!(!exists("/w/file"));
    assert!(!exists("/w/gone"));
}

#[test]
fn path_met_again_keeps_its_first_place_for_opencode() {
    // HOME lies on the way up, and `skills.paths` names a directory that is scanned anyway.
    let fixture = "
//- /home/u/.claude/skills/a/SKILL.md
---
name: same
description: of the home directory
---
//- /home/u/proj/.claude/skills/b/SKILL.md
---
name: same
description: of the project
---
//- /home/u/proj/.claude/skills/c/SKILL.md
---
name: other
description: of the project
---
//- /home/u/proj/.opencode/skill/d/SKILL.md
---
name: other
description: of opencode
---
//- /home/u/.config/opencode/opencode.json
{\"skills\": {\"paths\": [\".claude/skills\"]}}
";
    for profile in ["opencode", "opencode@founding"] {
        let tree = crate::discover::memory::MemoryTree::new(fixture);
        let found = super::discover(&super::ctx(profile, "/home/u/proj"), &tree);
        let active = found.candidates.iter().filter(|it| it.state == SkillState::Active);
        let active: Vec<_> = active
            .filter(|it| !it.is_built_in())
            .map(|it| it.path.to_string_lossy().into_owned())
            .collect();
        let expected =
            ["/home/u/proj/.claude/skills/b/SKILL.md", "/home/u/proj/.opencode/skill/d/SKILL.md"];
        assert_eq!(active, expected, "{profile}");
    }
}

#[test]
fn directory_named_skill_md_is_no_error_for_codex_and_ends_the_walk_of_the_plugin() {
    let fixture = "
//- /w/.git dir
//- /w/.agents/skills/x/SKILL.md dir
//- /w/.opencode/skills/y/SKILL.md/SKILL.md
---
name: inner
description: below a directory of that name
---
Body.
";
    check("codex", "/w", fixture, &expect![""]);
    check(
        "opencode-agent-skills",
        "/w",
        fixture,
        &expect![[r#"
            invalid     y          /w/.opencode/skills/y/SKILL.md
                file/readable: SKILL.md is a directory, not a file
        "#]],
    );
}

#[test]
fn first_name_in_byte_order_wins_within_a_root_for_gemini_cli() {
    let skill = |dir: &str| {
        format!("//- /w/.agents/skills/{dir}/SKILL.md\n---\nname: same\ndescription: d\n---\n")
    };
    let mut fixture = "//- /w/.git dir\n//- /w trusted\n".to_owned();
    for dir in ["a", "b", "c"] {
        fixture += &skill(dir);
    }
    fixture += "//- /w/.agents/skills/Z -> /w/.agents/skills/b\n";
    let tree = crate::discover::memory::MemoryTree::new(&fixture);
    let found = super::discover(&super::ctx("gemini-cli", "/w"), &tree);
    let active =
        found.candidates.iter().find(|it| it.state == SkillState::Active && !it.is_built_in());
    assert_eq!(active.unwrap().path, super::path("/w/.agents/skills/Z/SKILL.md"));
}

#[test]
fn nested_skills_with_one_name_are_all_named_by_their_directories() {
    // Measured: Claude Code 2.1.330 and 2.1.332.
    let names = |nested: &[&str], more: &str| {
        let skills = nested.iter().map(|it| format!("//- {it}/SKILL.md\n{it}\n"));
        let fixture = format!("//- /w/.git dir\n{}{more}", skills.collect::<String>());
        let root = |it: &&str| path(it.rsplit_once('/').unwrap().0);
        let overlay = Overlay::new(nested.iter().map(root).collect(), Vec::new());
        let ctx = DiscoveryContext { overlay: Arc::new(overlay), ..ctx("claude-code", "/w") };
        let resolution = discover(&ctx, &MemoryTree::new(&fixture));
        let mut names: Vec<_> = resolution
            .listed()
            .filter(|it| resolution.roots[it.root].scope == Scope::Nested)
            .map(|it| it.name.clone())
            .collect();
        names.sort();
        names.join(" ")
    };
    let (p, q, deep) =
        ("/w/p/.claude/skills/n", "/w/q/.claude/skills/n", "/w/p/q/.claude/skills/n");
    assert_eq!(names(&[p], ""), "n");
    assert_eq!(names(&[p, deep], ""), "p/q:n p:n");
    assert_eq!(names(&[p, q], ""), "p:n q:n");
    // A name that a skill or a command has, or one of the agent's own commands.
    assert_eq!(names(&[p], "//- /w/.claude/skills/n/SKILL.md\nn\n"), "p:n");
    assert_eq!(names(&[p], "//- /w/.claude/commands/n.md\nn\n"), "p:n");
    assert_eq!(names(&[p], "//- /home/u/.claude/commands/n.md\nn\n"), "p:n");
    assert_eq!(names(&["/w/p/.claude/skills/help"], ""), "p:help");
}
