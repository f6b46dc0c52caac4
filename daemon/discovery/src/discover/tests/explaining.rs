//! Tests of `explain`.

use expect_test::expect;

use super::check_explain;
use crate::discover::memory::MemoryTree;
use crate::discover::{NearMiss, NearMissKind, NearMisses, Query, discover, explain};

const TREE: &str = "
//- /w/.git dir
//- /w/.claude/skills/good/SKILL.md
---
name: good
description: Use when: asked
---
//- /home/u/.claude/skills/good/SKILL.md
---
name: good
description: mine
---
//- /w/.claude/skills/group/deep/SKILL.md
---
description: too deep
---
//- /w/.claude/skills/lower/skill.md
//- /w/docs/SKILL.md
";

#[test]
fn name_query_explains_winner_and_loser() {
    check_explain(
        "claude-code",
        "/w",
        "good",
        TREE,
        &expect![[r#"
            Claude Code shows `good` to its model.
            root /home/u/.claude/skills
              candidate /home/u/.claude/skills/good/SKILL.md
                body/required as opencode-agent-skills, cline, droid at 1:1: opencode-agent-skills, Cline and Factory Droid drop this file: the body is empty
            root /w/.claude/skills
              candidate /w/.claude/skills/good/SKILL.md
                yaml/valid decisive=false at 3:22: the frontmatter is not valid YAML: `: ` inside an unquoted value; values with special characters are read as quoted
                name/unique decisive=true: `/home/u/.claude/skills/good/SKILL.md` has the same name and is found earlier
                yaml/valid as opencode-agent-skills, copilot-cli, mistral-vibe, cline, continue, pi, kimi-code, openhands, fast-agent at 3:22: opencode-agent-skills, Copilot CLI, Mistral Vibe and 6 more drop this file: the frontmatter is not valid YAML: `: ` inside an unquoted value
                body/required as droid at 1:1: Factory Droid drops this file: the body is empty
        "#]],
    );
    check_explain(
        "agentskills",
        "/w",
        "good",
        TREE,
        &expect![[r#"
            An Agent Skills client shows `good` to its model.
            root /w/.claude/skills
              candidate /w/.claude/skills/good/SKILL.md
                yaml/valid decisive=false at 3:22: the frontmatter is not valid YAML: `: ` inside an unquoted value; problematic values are read as quoted
                yaml/valid as opencode-agent-skills, copilot-cli, mistral-vibe, cline, continue, pi, kimi-code, openhands, fast-agent at 3:22: opencode-agent-skills, Copilot CLI, Mistral Vibe and 6 more drop this file: the frontmatter is not valid YAML: `: ` inside an unquoted value
                body/required as droid at 1:1: Factory Droid drops this file: the body is empty
            root /home/u/.claude/skills
              candidate /home/u/.claude/skills/good/SKILL.md
                name/unique decisive=true: `/w/.claude/skills/good/SKILL.md` has the same name and is found earlier
                body/required as opencode-agent-skills, cline, droid at 1:1: opencode-agent-skills, Cline and Factory Droid drop this file: the body is empty
        "#]],
    );
}

#[test]
fn directory_above_a_deep_one_is_not_told_to_move_to_itself() {
    check_explain(
        "claude-code",
        "/w",
        "/w/.claude/skills/group",
        TREE,
        &expect![[r#"
            Claude Code finds no skill at `/w/.claude/skills/group`: `/w/.claude/skills/group/deep` is deeper than the 1 level below the root that the agent searches.
            next: Move the directories that hold a SKILL.md to `/w/.claude/skills`.
            root /home/u/.claude/skills
            root /w/.claude/skills
              passed over /w/.claude/skills/group/deep walk/depth: this is deeper than the 1 level below the root that the agent searches
        "#]],
    );
}

#[test]
fn path_query_explains_depth_place_and_spelling() {
    check_explain(
        "claude-code",
        "/w",
        "/w/.claude/skills/group/deep/SKILL.md",
        TREE,
        &expect![[r#"
            Claude Code finds no skill at `/w/.claude/skills/group/deep/SKILL.md`: this is deeper than the 1 level below the root that the agent searches.
            next: Move `/w/.claude/skills/group/deep` to `/w/.claude/skills/deep`.
            root /home/u/.claude/skills
            root /w/.claude/skills
              passed over /w/.claude/skills/group/deep walk/depth: this is deeper than the 1 level below the root that the agent searches
        "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "/w/.claude/skills/lower",
        TREE,
        &expect![[r#"
            Claude Code finds no skill at `/w/.claude/skills/lower`: the file must be called `SKILL.md`, in capitals.
            next: Rename `/w/.claude/skills/lower/skill.md` to `/w/.claude/skills/lower/SKILL.md`.
            root /home/u/.claude/skills
            root /w/.claude/skills
              passed over /w/.claude/skills/lower/skill.md file/name: the file must be called `SKILL.md`, in capitals
        "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "/w/docs/SKILL.md",
        TREE,
        &expect![[r#"
            Claude Code finds no skill at `/w/docs/SKILL.md`: it is in none of the directories that Claude Code searches.
            next: Move `/w/docs` to `/w/.claude/skills/docs`.
            roots/searched decisive=true: it is in none of the directories that Claude Code searches
            root /home/u/.claude/skills
            root /w/.claude/skills
        "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "/w/.claude/skills/none",
        TREE,
        &expect![[r#"
            Claude Code finds no skill at `/w/.claude/skills/none`: `/w/.claude/skills` is searched, but there is no SKILL.md at this path.
            next: Check the spelling: the file must be called `SKILL.md`.
            file/there decisive=true: `/w/.claude/skills` is searched, but there is no SKILL.md at this path
            root /home/u/.claude/skills
            root /w/.claude/skills
        "#]],
    );
}

#[test]
fn unknown_name_suggests_similar_names() {
    check_explain(
        "claude-code",
        "/w",
        "godo",
        TREE,
        &expect![[r#"
        Claude Code finds no skill called `godo`.
        next: Did you mean `good`? Run `skillsd explain good --profile claude-code`.
        root /home/u/.claude/skills
        root /w/.claude/skills
    "#]],
    );
    check_explain(
        "claude-code",
        "/w",
        "zzz",
        TREE,
        &expect![[r#"
            Claude Code finds no skill called `zzz`.
            next: Run `skillsd new zzz --profile claude-code`, or run `skillsd explain` with the path of the SKILL.md that you expect.
            root /home/u/.claude/skills
            root /w/.claude/skills
        "#]],
    );
}

/// Checks the suggested edit for a skill with this text.
#[track_caller]
fn check_next(profile: &str, dir: &str, text: &str, expected: &str) {
    let ctx = super::ctx(profile, "/w");
    let file = format!("/w/{dir}/skills/pdf/SKILL.md");
    let tree = MemoryTree::new(&format!("//- /w/.git dir\n//- {file}\n{text}"));
    let explanation =
        explain(&ctx, &discover(&ctx, &tree), Query::Name("pdf"), &NearMisses::default());
    assert_eq!(explanation.verdict.next.as_deref(), Some(&*format!("{expected} of `{file}`.")));
}

#[test]
fn suggested_edit_changes_only_the_fault() {
    let text = |lines: &str| format!("---\nname: pdf\n{lines}\n---\nRead.\n");
    let reads = "description: Reads. Use when asked.";
    let opened = text(reads).replacen("---", "--- ", 1);
    check_next("gemini-cli", ".gemini", &opened, "Write `---` in line 1");
    check_next("qwen-code", ".qwen", &opened, "Write `---` in line 1");
    let closed = text(reads).replace("\n---\n", "\n--- \n");
    check_next("qwen-code", ".qwen", &closed, "Write `---` in line 4");
    let escaped = text("description: \"\\ud83d\\udcc4 \\\\u0041 Reads. Use when \\u0061sked.\"");
    let joined = "Write `description: \"📄 \\\\u0041 Reads. Use when \\u0061sked.\"` in line 3";
    check_next("codex", ".agents", &escaped, joined);
    for (written, value) in [("\"yes\"", "true"), ("\"no\"", "false"), ("1", "true")] {
        let typed = text(&format!("{reads}\nuser-invocable: {written}"));
        let expected = format!("Write `user-invocable: {value}` in line 4");
        check_next("droid", ".factory", &typed, &expected);
    }
    let typed = text(&format!("{reads}\nlicense: 3"));
    check_next("droid", ".factory", &typed, "Write `license: \"3\"` in line 4");
}

/// Explains a path below a nested skill.
#[track_caller]
fn check_within(profile: &str, at: &str, expected: &str) {
    const TREE: &str = "
//- /w/.git dir
//- /w/.opencode/skills/x/SKILL.md
---
name: x
description: Outer.
---
Read.
//- /w/.opencode/skills/x/y/SKILL.md
---
name: y
description: Inner.
---
Read.
//- /w/.opencode/skills/x/y/run.sh
";
    let (ctx, path) = (super::ctx(profile, "/w"), super::path(at));
    let resolution = discover(&ctx, &MemoryTree::new(TREE));
    let inner = super::path("/w/.opencode/skills/x/y");
    let skill = path.starts_with(&*inner).then_some(inner);
    let (thing, worktree, ignored) = (NearMissKind::File, None, None);
    let stray = NearMiss { path: path.clone(), thing, skill, worktree, ignored, file: None };
    let around = NearMisses { paths: vec![stray], ..NearMisses::default() };
    let explanation = explain(&ctx, &resolution, Query::Path(&path), &around);
    assert_eq!(explanation.verdict.summary, expected);
}

#[test]
fn path_query_selects_the_innermost_skill() {
    for at in ["SKILL.md", "run.sh", ""] {
        let at = format!("/w/.opencode/skills/x/y/{at}");
        let at = at.trim_end_matches('/');
        check_within("opencode", at, "opencode shows `y` to its model.");
        let none = format!(
            "An Agent Skills client finds no skill at `{at}`: it is inside the skill `x`, and skills are not searched for further skills."
        );
        check_within("agentskills", at, &none);
    }
    check_within("opencode", "/w/.opencode/skills/x/run.sh", "opencode shows `x` to its model.");
}
