//! Renaming in unusual cases: linked skills, two worktrees, unsaved buffers, CRLF, UTF-16 columns,
//! and invalid skill names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use super::rename_skill::{apply, read};
use crate::support::run;

fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Reads it. Use when asked to.\n---\n{body}")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it lies somewhere")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
}

/// Returns the edits of one file as range and text, and the document version.
fn edits_of(edit: &Value, path: &Path) -> (Value, Vec<(Value, String)>) {
    let operations = edit["documentChanges"].as_array().expect("a list");
    let own = operations.iter().find(|it| it["textDocument"]["uri"] == json!(uri(path)));
    let own = own.unwrap_or_else(|| panic!("no edit of {}: {edit}", path.display()));
    let edits = own["edits"].as_array().expect("a list").iter();
    let edits =
        edits.map(|it| (it["range"].clone(), it["newText"].as_str().expect("a text").to_owned()));
    (own["textDocument"]["version"].clone(), edits.collect())
}

fn range(line: u32, start: u32, end: u32) -> Value {
    json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
}

#[test]
fn rename_edits_use_buffer_version_and_utf16_columns() {
    let home = Home::new();
    let tree = format!(
        "//- /.claude/skills/pdf/SKILL.md\n{}//- /CLAUDE.md\nNothing.\n",
        skill("pdf", "b\n")
    );
    let top = home.worktree("w", &tree);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let (pdf, claude) = (top.join(".claude/skills/pdf/SKILL.md"), top.join("CLAUDE.md"));
    editor.open(&pdf);
    editor.open(&claude);
    let typed = "One.\r\n🦀技 `/pdf`, 🦀 @.claude/skills/pdf/SKILL.md\r\n\r\n```sh\r\n./.claude/skills/pdf/x\r\n```\r\n";
    editor.edit(&claude, typed);
    editor.wait_for(&pdf, &["index/"], &[]);
    let edit = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    let (version, edits) = edits_of(&edit.expect("nothing is in the way"), &claude);
    assert_eq!(version, json!(2));
    let expected = [range(1, 6, 9), range(1, 31, 34), range(4, 17, 20)];
    assert_eq!(edits, expected.map(|it| (it, "paper".to_owned())));
    // A closed document is edited as it is on disk.
    let params = json!({"textDocument": {"uri": uri(&claude)}});
    editor.note("textDocument/didClose", params);
    let edit = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    assert!(!edit.expect("answered").to_string().contains("CLAUDE.md"));
    run(&home, &top, &["stop"]);
}

#[test]
fn rename_follows_a_linked_root_and_refuses_a_linked_skill() {
    let home = Home::new();
    let speaker = "See .claude/skills/pdf/x.md and [y](.agents/skills/pdf/y.md).\n";
    let tree = format!(
        "//- /.agents/skills/pdf/SKILL.md\n{}//- /CLAUDE.md\n{speaker}",
        skill("pdf", "b\n")
    );
    // The whole root is a link to the other one.
    let top = home.worktree("w", &tree);
    fs::create_dir_all(top.join(".claude")).expect("it can be made");
    symlink("../.agents/skills", top.join(".claude/skills")).expect("it can be linked");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".agents/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["yaml/"], &[]);
    let edit = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    let done = apply(&edit.expect("nothing is in the way"));
    assert_eq!(read(&top, "CLAUDE.md"), speaker.replace("/pdf/", "/paper/"), "{done:?}");
    assert_eq!(done.iter().filter(|it| it.starts_with("rename")).count(), 1, "{done:?}");
    run(&home, &top, &["stop"]);

    // Only the skill is linked, and the rename would break the link.
    let home = Home::new();
    let top = home.worktree("w", &tree);
    fs::create_dir_all(top.join(".claude/skills")).expect("it can be made");
    symlink("../../.agents/skills/pdf", top.join(".claude/skills/pdf")).expect("it can be linked");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".agents/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["yaml/"], &[]);
    let refused = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    let why = refused.expect_err("the link would lead nowhere");
    assert!(why.contains(".claude/skills/pdf` is a symlink"), "{why}");
    run(&home, &top, &["stop"]);
}

#[test]
fn rename_edits_an_ignored_skill_that_was_created_just_before() {
    let home = Home::new();
    let tree = format!(
        "//- /.claude/skills/pdf/SKILL.md\n{}//- /.gitignore\n/.claude/skills/own-*\n//- /CLAUDE.md\nUse `/pdf`.\n",
        skill("pdf", "b\n")
    );
    let top = home.worktree("w", &tree);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let dir = |name: &str| uri(&top.join(".claude/skills").join(name));
    let files = json!({"files": [{"oldUri": dir("pdf"), "newUri": dir("paper")}]});
    for number in 0..8 {
        let own = format!(".claude/skills/own-{number}/SKILL.md");
        write(&top.join(&own), &skill(&format!("own-{number}"), "Then `/pdf`.\n"));
        fs::write(top.join("CLAUDE.md"), format!("{number}: use `/pdf`.\n")).expect("writable");
        let edit = if number % 2 == 0 {
            editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}))
        } else {
            editor.request("workspace/willRenameFiles", files.clone())
        };
        let edit = edit.expect("nothing is in the way");
        assert_eq!(edits_of(&edit, &top.join(own)).1, [(range(4, 7, 10), "paper".to_owned())]);
        let told = edits_of(&edit, &top.join("CLAUDE.md")).1;
        assert_eq!(told, [(range(0, 9, 12), "paper".to_owned())]);
    }
    run(&home, &top, &["stop"]);
}

#[test]
fn rename_leaves_other_worktrees_and_user_instructions_alone() {
    let home = Home::new();
    let tree = |name: &str| {
        let body = skill("deploy", "b\n");
        format!(
            "//- /.claude/skills/deploy/SKILL.md\n{body}//- /AGENTS.md\nUse `/deploy` in {name}.\n"
        )
    };
    let (one, two) = (home.worktree("one", &tree("one")), home.worktree("two", &tree("two")));
    let told = home.path().join(".claude/CLAUDE.md");
    let said =
        format!("Say `/deploy` at last; see {}/.claude/skills/deploy/SKILL.md.\n", one.display());
    write(&told, &said);
    let mut editor = Editor::start(&home, &[], &[&one, &two], full_capabilities());
    let skill = one.join(".claude/skills/deploy/SKILL.md");
    editor.open(&skill);
    editor.wait_for(&skill, &["yaml/"], &[]);
    let edit = editor.ask("textDocument/rename", &skill, (1, 7), json!({"newName": "ship"}));
    apply(&edit.expect("nothing is in the way"));
    assert_eq!(read(&one, "AGENTS.md"), "Use `/ship` in one.\n");
    assert_eq!(read(&two, "AGENTS.md"), "Use `/deploy` in two.\n");
    // An absolute path refers to the same file in every document.
    let now = fs::read_to_string(&told).expect("it is there");
    assert_eq!(now, said.replace("skills/deploy", "skills/ship"));
    run(&home, &one, &["stop"]);
}

#[test]
fn invalid_skill_names_are_found_and_renamed() {
    for (dir, name, written) in [
        ("PDF Tools", "PDF Tools", "PDF%20Tools"),
        ("формы", "формы", "формы"),
        ("Upper", "Upper", "Upper"),
    ] {
        let home = Home::new();
        let top = home.worktree("w", "//- /README.md\nb\n");
        let file = top.join(".claude/skills").join(dir).join("SKILL.md");
        write(&file, &skill(name, "See [x](x.md).\n"));
        let claude = top.join("CLAUDE.md");
        let text = format!(
            "The `{name}` skill, [it](.claude/skills/{written}/SKILL.md), [b](<.claude/skills/{dir}/x.md>), `.claude/skills/{dir}/x.md`.\n"
        );
        write(&claude, &text);
        let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
        editor.open(&claude);
        editor.wait_for(&claude, &["yaml/"], &[]);
        let at = Editor::place(&claude, "`.claude/skills/");
        let at = (at.0, at.1 + 18);
        let edit = editor.ask("textDocument/rename", &claude, at, json!({"newName": "forms"}));
        let edit = edit.unwrap_or_else(|why| panic!("{name}: {why}"));
        let (_, edits) = edits_of(&edit, &claude);
        assert_eq!(edits.len(), 4, "{name}: {edits:?}");
        assert!(edits.iter().all(|(_, text)| text == "forms"), "{edits:?}");
        run(&home, &top, &["stop"]);
    }
}
