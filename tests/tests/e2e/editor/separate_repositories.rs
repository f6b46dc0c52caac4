//! Files of different repositories: one beside or below the editor's folder, a skill reached by two
//! paths, and buffers that are not on disk.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Reads it. Use when asked to.\n---\n{body}")
}

#[test]
fn buffers_of_another_repository_stay_separate() {
    let ours = format!(
        "//- /.claude/skills/beta/SKILL.md\n{}//- /.claude/skills/commit/SKILL.md\n{}",
        skill("beta", "b\n"),
        skill("commit", "Use /b\n")
    );
    let theirs = format!(
        "//- /.claude/skills/beta/SKILL.md\n{}//- /.claude/skills/beto/SKILL.md\n{}",
        skill("Beta", "Use `/commit` and /b\n"),
        skill("beto", "b\n")
    );
    for (args, place) in [(&[][..], "v"), (&["--no-daemon"], "v"), (&[], "w/other")] {
        let home = Home::new();
        let (w, v) = (home.worktree("w", &ours), home.worktree(place, &theirs));
        let mut editor = Editor::start(&home, args, &[&w], full_capabilities());
        let [beta, commit] =
            ["beta", "commit"].map(|it| w.join(".claude/skills").join(it).join("SKILL.md"));
        let [other, beto] =
            ["beta", "beto"].map(|it| v.join(".claude/skills").join(it).join("SKILL.md"));
        for file in [&beta, &commit, &other, &beto] {
            editor.open(file);
        }
        editor.wait_for(&other, &["name/"], &["name/charset"]);
        editor.wait_for(&beta, &["name/", "index/"], &[]);
        let at = Editor::place(&other, "commit`");
        let found = editor.ask("textDocument/definition", &other, at, json!({}));
        assert_eq!(found, Ok(json!(null)), "{place}: there is none there");
        let offered = |editor: &mut Editor, path| {
            let at = Editor::place(path, "/b");
            let found = editor.ask("textDocument/completion", path, at, json!({}));
            let text = found.expect("it is answered").to_string();
            ["beta", "Beta", "beto"].map(|it| text.contains(&format!("\"label\":\"{it}\"")))
        };
        assert_eq!(offered(&mut editor, &commit), [true, false, false], "{place}");
        let there = offered(&mut editor, &other);
        assert!(there[2] && !there[0], "{place}: {there:?}");
        let said = editor.findings(&beta, &["name/", "index/"]);
        assert!(said.is_empty(), "{place}: {said:?}");
        run(&home, &w, &["stop"]);
    }
}

#[test]
fn skill_directory_that_is_a_repository_belongs_to_the_folder() {
    let home = Home::new();
    let tree = format!("//- /.claude/skills/notes/SKILL.md\n{}", skill("notes", "Use `/pdf`.\n"));
    let top = home.worktree("w", &tree);
    let text = format!("//- /SKILL.md\n{}", skill("pdf", "Use `/notes`.\n"));
    let pdf = home.worktree("w/.claude/skills/pdf", &text).join("SKILL.md");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    editor.open(&pdf);
    editor.wait_for(&pdf, &["yaml/"], &[]);
    let at = Editor::place(&pdf, "notes");
    let found = editor.ask("textDocument/definition", &pdf, at, json!({})).expect("answered");
    assert_eq!(found["uri"], uri(&top.join(".claude/skills/notes/SKILL.md")));
    run(&home, &top, &["stop"]);
}

#[test]
fn unsaved_new_file_takes_part_in_shadowing() {
    for args in [&[][..], &["--no-daemon"]] {
        let home = Home::new();
        let tree = format!("//- /.agents/skills/alpha/SKILL.md\n{}", skill("alpha", "b\n"));
        let top = home.worktree("w", &tree);
        let [old, new] =
            [".agents", ".claude"].map(|it| top.join(it).join("skills/alpha/SKILL.md"));
        let mut editor = Editor::start(&home, args, &[&top], full_capabilities());
        editor.open(&old);
        editor.wait_for(&old, &["index/"], &[]);
        editor.open_new(&new, &skill("alpha", "b\n"));
        editor.wait_for(&new, &["index/shad"], &["index/shadowed -> alpha"]);
        editor.wait_for(&old, &["index/shad"], &["index/shadowing -> alpha"]);
        editor.edit(&new, &skill("other", "b\n"));
        editor.wait_for(&new, &["index/shad"], &[]);
        editor.wait_for(&old, &["index/shad"], &[]);
        editor.edit(&new, &skill("alpha", "b\n"));
        editor.wait_for(&old, &["index/shad"], &["index/shadowing -> alpha"]);
        // The result is the same after the file was saved and removed.
        fs::create_dir_all(new.parent().expect("it has one")).expect("it can be made");
        editor.save(&new, &skill("alpha", "b\n"));
        fs::remove_file(&new).expect("it is there");
        editor.edit(&new, &skill("alpha", "b, and more\n"));
        editor.wait_for(&new, &["index/shad"], &["index/shadowed -> alpha"]);
        editor.note("textDocument/didClose", json!({"textDocument": {"uri": uri(&new)}}));
        editor.wait_for(&old, &["index/shad"], &[]);
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn skill_reached_by_two_paths_is_one_symbol() {
    let home = Home::new();
    let top = home.worktree("w", &format!("//- /alpha/SKILL.md\n{}", skill("alpha", "b\n")));
    fs::create_dir_all(top.join(".agents/skills")).expect("it can be made");
    symlink("../../alpha", top.join(".agents/skills/alpha")).expect("it can be linked");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let symbols = |editor: &mut Editor| {
        let found = editor.request("workspace/symbol", json!({"query": ""}));
        let found = found.expect("it is answered");
        let found = found.as_array().expect("a list").iter();
        found.map(|it| it["location"]["uri"].clone()).collect::<Vec<_>>()
    };
    let linked = top.join(".agents/skills/alpha/SKILL.md");
    assert_eq!(symbols(&mut editor), [json!(uri(&linked))]);
    // An open document keeps the path it was opened with.
    let own = top.join("alpha/SKILL.md");
    editor.open(&own);
    editor.wait_for(&own, &["yaml/"], &[]);
    assert_eq!(symbols(&mut editor), [json!(uri(&own))]);
    run(&home, &top, &["stop"]);
}
