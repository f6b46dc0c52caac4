//! Renaming a file that is reached by several paths: it is edited once, and a name used by a link,
//! another file or a directory is not renamed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use super::rename_skill::{apply, read};
use crate::support::run;

const PDF: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nI am `/pdf`, at .claude/skills/pdf/x.md and .agents/skills/pdf/x.md.\n";

/// The same skill, named `paper`.
fn renamed_skill() -> String {
    PDF.replace("name: pdf", "name: paper").replace("/pdf", "/paper")
}

/// Lays out a worktree with the skill and the entries of `more`.
fn lay_out_skill(home: &Home, more: &str) -> PathBuf {
    home.worktree("w", &format!("//- /.claude/skills/pdf/SKILL.md\n{PDF}{more}"))
}

fn link(target: &str, at: &Path) {
    fs::create_dir_all(at.parent().expect("it lies somewhere")).expect("it can be made");
    symlink(target, at).expect("it can be linked");
}

/// Starts an editor with these files open; the first is a skill.
#[track_caller]
fn start(home: &Home, top: &Path, open: &[&str]) -> Editor {
    let mut editor = Editor::start(home, &[], &[top], full_capabilities());
    for file in open {
        editor.open(&top.join(file));
    }
    editor.wait_for(&top.join(open[0]), &["yaml/"], &[]);
    editor
}

#[track_caller]
fn rename(editor: &mut Editor, file: &Path, new: &str) -> Result<Value, String> {
    editor.ask("textDocument/rename", file, (1, 7), json!({"newName": new}))
}

#[test]
fn rename_edits_a_skill_once_on_its_open_path() {
    for (file, other) in [
        (".claude/skills/pdf/SKILL.md", None),
        (".agents/skills/pdf/SKILL.md", None),
        (".claude/skills/pdf/SKILL.md", Some(".agents/skills/pdf/SKILL.md")),
        (".agents/skills/pdf/SKILL.md", Some(".claude/skills/pdf/SKILL.md")),
    ] {
        let home = Home::new();
        let top = lay_out_skill(&home, "");
        link("../.claude/skills", &top.join(".agents/skills"));
        let open: Vec<&str> = std::iter::once(file).chain(other).collect();
        let mut editor = start(&home, &top, &open);
        let edit = rename(&mut editor, &top.join(file), "paper").expect("nothing is in the way");
        let done = apply(&edit);
        assert_eq!(done, [format!("edit {file} 1"), "rename pdf paper".to_owned()]);
        assert_eq!(read(&top, ".claude/skills/paper/SKILL.md"), renamed_skill());
        let old = edit["documentChanges"][1]["oldUri"].as_str().expect("an address");
        assert_eq!(old, uri(top.join(file).parent().expect("its directory")));
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn linked_instructions_are_found_and_edited_once() {
    let home = Home::new();
    let top = lay_out_skill(&home, "//- /AGENTS.md\nUse `/pdf`.\n");
    link("AGENTS.md", &top.join("CLAUDE.md"));
    let skill = ".claude/skills/pdf/SKILL.md";
    let mut editor = start(&home, &top, &[skill, "CLAUDE.md"]);
    let params = json!({"textDocument": {"uri": uri(&top.join(skill))}});
    let lenses = editor.request("textDocument/codeLens", params).expect("answered");
    assert_eq!(lenses[0]["command"]["title"], "used by 1", "{lenses}");
    let context = json!({"context": {"includeDeclaration": false}});
    let found = editor.ask("textDocument/references", &top.join("CLAUDE.md"), (0, 6), context);
    let found = found.expect("answered");
    let spoken = found.as_array().expect("a list").iter().filter(|it| {
        let file = it["uri"].as_str().expect("an address");
        file.ends_with("/CLAUDE.md") || file.ends_with("/AGENTS.md")
    });
    assert_eq!(spoken.count(), 1, "{found}");
    let edit = rename(&mut editor, &top.join(skill), "paper").expect("nothing is in the way");
    let done = apply(&edit);
    assert!(done.contains(&"edit CLAUDE.md 1".to_owned()), "{done:?}");
    assert_eq!(read(&top, "AGENTS.md"), "Use `/paper`.\n", "{done:?}");
    run(&home, &top, &["stop"]);
}

#[test]
fn relative_paths_in_a_skill_with_a_link_from_an_earlier_directory_are_renamed() {
    const NOTES: &str = "---\nname: notes\ndescription: Writes notes. Use when asked to.\n---\nSee [x](../pdf/x.md), `../pdf/run.sh` and the pdf skill.\n";
    let own = ".claude/skills/pdf/SKILL.md";
    let linked = ".agents/skills/notes/SKILL.md";
    for opened in [&[own][..], &[own, linked]] {
        let home = Home::new();
        let top = lay_out_skill(&home, &format!("//- /.claude/skills/notes/SKILL.md\n{NOTES}"));
        link("../../.claude/skills/notes", &top.join(".agents/skills/notes"));
        let mut editor = start(&home, &top, opened);
        let context = json!({"context": {"includeDeclaration": false}});
        let found = editor.ask("textDocument/references", &top.join(own), (1, 7), context);
        let found = found.expect("answered").to_string();
        assert_eq!(found.matches("skills/notes/SKILL.md").count(), 3, "{found}");
        let edit = rename(&mut editor, &top.join(own), "paper").expect("nothing is in the way");
        let done = apply(&edit);
        let changed = NOTES.replace("/pdf/", "/paper/").replace("pdf skill", "paper skill");
        assert_eq!(read(&top, ".claude/skills/notes/SKILL.md"), changed, "{opened:?} {done:?}");
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn rename_of_a_linked_or_colliding_skill_is_refused() {
    type Lay = fn(&Path);
    let own = ".claude/skills/pdf/SKILL.md";
    let cases: [(Lay, &str, &str); 6] = [
        (
            |top| link("../../.claude/skills/pdf", &top.join(".agents/skills/pdf")),
            ".agents/skills/pdf/SKILL.md",
            ".agents/skills/pdf` is a symlink to the skill's directory",
        ),
        (
            |top| link("pdf", &top.join(".claude/skills/alias")),
            own,
            ".claude/skills/alias` is a symlink to the skill's directory",
        ),
        (
            |top| {
                link(
                    "../../../.claude/skills/pdf/SKILL.md",
                    &top.join(".agents/skills/pdf/SKILL.md"),
                );
            },
            own,
            ".agents/skills/pdf/SKILL.md` is a symlink to the skill's file",
        ),
        (
            |top| {
                let other = top.join(".agents/skills/pdf");
                fs::create_dir_all(&other).expect("it can be made");
                let file = top.join(".claude/skills/pdf/SKILL.md");
                fs::hard_link(file, other.join("SKILL.md")).expect("it can be linked");
            },
            own,
            ".agents/skills/pdf/SKILL.md` is also the skill's file",
        ),
        (
            |top| {
                let other = top.join(".claude/skills/paper");
                fs::create_dir_all(&other).expect("it can be made");
                fs::write(other.join("notes.md"), "b\n").expect("it can be written");
            },
            own,
            ".claude/skills/paper` already exists",
        ),
        (
            |top| fs::create_dir_all(top.join(".claude/skills/paper")).expect("it can be made"),
            own,
            ".claude/skills/paper` already exists",
        ),
    ];
    for (lay, file, why) in cases {
        let home = Home::new();
        let top = lay_out_skill(&home, "");
        lay(&top);
        let mut editor = start(&home, &top, &[file]);
        let refused = rename(&mut editor, &top.join(file), "paper").expect_err(why);
        assert!(refused.contains(why), "{refused}");
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn name_that_is_also_a_path_is_edited_once() {
    let home = Home::new();
    home.lay_out(&format!(
        "//- /home/.claude/skills/pdf/SKILL.md\n{PDF}//- /home/.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes notes. Use when asked to.\n---\nUse /pdf now\n"
    ));
    let top = home.path().join(".claude/skills");
    fs::create_dir_all(top.join(".git")).expect("it can be made");
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it can be written");
    let mut editor = start(&home, &top, &["pdf/SKILL.md"]);
    let edit = rename(&mut editor, &top.join("pdf/SKILL.md"), "paper");
    apply(&edit.expect("nothing is in the way"));
    assert!(read(&top, "notes/SKILL.md").ends_with("Use /paper now\n"));
    run(&home, &top, &["stop"]);
}

#[test]
fn will_rename_files_updates_every_path_to_the_skill() {
    let home = Home::new();
    let top = lay_out_skill(&home, "//- /CLAUDE.md\nRun `.agents/skills/pdf/run.py`.\n");
    link("../.claude/skills", &top.join(".agents/skills"));
    let mut editor = start(&home, &top, &[".agents/skills/pdf/SKILL.md"]);
    let dir = |name: &str| uri(&top.join(".claude/skills").join(name));
    let files = json!({"files": [{"oldUri": dir("pdf"), "newUri": dir("paper")}]});
    let edit = editor.request("workspace/willRenameFiles", files).expect("answered");
    let done = apply(&edit);
    assert_eq!(done, ["edit .agents/skills/pdf/SKILL.md 1", "edit CLAUDE.md null"]);
    assert_eq!(read(&top, "CLAUDE.md"), "Run `.agents/skills/paper/run.py`.\n");
    assert_eq!(read(&top, ".claude/skills/pdf/SKILL.md"), renamed_skill());
    run(&home, &top, &["stop"]);
}
