//! Skill files that an agent does not find, at the end of `list` and in `list --all`.

use std::os::unix::fs::symlink;

use skills_testkit::Home;

use crate::support::{run, stderr, stdout};

/// One skill that Claude Code finds, and files that it does not.
fn tree() -> String {
    let skill = |dir: &str, file: &str| {
        let name = dir.rsplit('/').next().unwrap_or_default();
        format!(
            "//- /{dir}/{file}\n---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\nBody.\n"
        )
    };
    let files = [
        ("packages/a/.claude/skills/first", "SKILL.md"),
        ("packages/b/.claude/skills/second", "SKILL.md"),
        ("packages/b/.claude/skills/second/assets/template", "SKILL.md"),
        ("packages/b/.claude/skills/lower", "skill.md"),
        (".claude/skills/found", "SKILL.md"),
        (".claude/skills/found/assets/inner", "SKILL.md"),
        (".claude/skills/group/deep", "SKILL.md"),
        (".claude/skills/wrong", "Skill.md"),
        ("docs/skills/stray", "SKILL.md"),
        ("build/.claude/skills/ignored", "SKILL.md"),
        ("shared/linked", "SKILL.md"),
    ];
    let files = files.map(|(dir, file)| skill(dir, file)).concat();
    format!("//- /.gitignore\nbuild/\n{files}")
}

#[test]
fn list_ends_with_the_skills_that_wait_for_a_touch() {
    let home = Home::new();
    let top = home.worktree("w", &tree());
    let list = |args: &[&str]| {
        let output = run(&home, &top, &[&["list"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let line = "2 more below packages/: loaded when a file there is touched";
    let text = list(&["--profile", "claude-code"]);
    assert_eq!(text.lines().last(), Some(line), "{text}");
    assert_eq!(text.matches(line).count(), 1, "{text}");
    let text = list(&["--profile", "claude-code,codex"]);
    let named = "2 more below packages/ for claude-code: loaded when a file there is touched";
    assert_eq!(text.lines().last(), Some(named), "{text}");
    // Codex searches no nested directories.
    let text = list(&["--profile", "codex"]);
    assert!(!text.contains("more below"), "{text}");
    assert!(
        !list(&["--profile", "claude-code", "--json"]).contains("first"),
        "the wire is the same"
    );

    let touched = run(
        &home,
        &top,
        &["touch", "--session", "s", "--profile", "claude-code", "packages/a/x.rs"],
    );
    assert!(touched.status.success(), "{}", stderr(&touched));
    let text = list(&["--profile", "claude-code", "--session", "s"]);
    let rest = "1 more below packages/: loaded when a file there is touched";
    assert_eq!(text.lines().last(), Some(rest), "{text}");
}

#[test]
fn list_all_has_each_file_that_is_not_found_with_its_reason() {
    let home = Home::new();
    let top = home.worktree("w", &tree());
    symlink("../../shared/linked", top.join(".claude/skills/linked")).expect("made");
    let output = run(&home, &top, &["list", "--all", "--profile", "claude-code"]);
    let text = stdout(&output);
    let (_, files) = text.split_once("\nOther skill files\n").expect("the files");
    let reason = |file: &str| {
        let at = files.lines().position(|it| it.trim() == file);
        let above = files.lines().take(at.unwrap_or_else(|| panic!("no {file} in {text}")));
        let reasons: Vec<_> = above.filter(|it| !it.starts_with("    ")).collect();
        (*reasons.last().expect("a reason")).to_owned()
    };
    for (file, expected) in [
        ("packages/a/.claude/skills/first/SKILL.md", "once a file near it is touched"),
        ("packages/b/.claude/skills/second/SKILL.md", "once a file near it is touched"),
        ("packages/b/.claude/skills/second/assets/template/SKILL.md", "deeper than the 1 level"),
        ("packages/b/.claude/skills/lower/skill.md", "lower/skill.md` must be called `SKILL.md`"),
        (".claude/skills/group/deep/SKILL.md", "deeper than the 1 level"),
        (".claude/skills/found/assets/inner/SKILL.md", "inside the skill `found`"),
        ("docs/skills/stray/SKILL.md", "in none of the directories that Claude Code searches"),
    ] {
        assert!(reason(file).contains(expected), "{file}: {}", reason(file));
    }
    assert!(text.contains("wrong/Skill.md: the file must be called `SKILL.md`"), "{text}");
    assert_eq!(text.matches("Skill.md").count(), 1, "{text}");
    for name in ["ignored", "shared/linked"] {
        assert!(!text.contains(name), "{name} in {text}");
    }
}

#[test]
fn several_agents_list_only_the_files_that_none_of_them_finds() {
    let home = Home::new();
    let top = home.worktree("w", &tree());
    let output = run(&home, &top, &["list", "--all", "--profile", "claude-code,opencode"]);
    let text = stdout(&output);
    let (_, files) = text.split_once("\nOther skill files\n").expect("the files");
    assert!(files.contains("docs/skills/stray/SKILL.md"), "{text}");
    // opencode searches deeper than Claude Code.
    assert!(!files.contains("group/deep"), "{text}");
}
