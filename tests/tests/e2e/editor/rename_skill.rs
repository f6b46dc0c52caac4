//! Renaming a skill: one workspace edit for its directory, its name and all references, or a
//! refusal with a reason.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

const TREE: &str = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [x](../pdf/x.md).\n\
     //- /.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes 🦀 notes. Use when asked to.\nallowed-tools: Skill(pdf)\n---\n🦀 `/pdf` and [it](../pdf/SKILL.md).\n\
     //- /.claude/commands/release.md\nFirst /pdf, not /pdfs or src/pdf.\n\
     //- /CLAUDE.md\nUse the `pdf` skill.\n\
     //- /docs/AGENTS.md\nSee [forms](../.claude/skills/pdf/forms.md).\n";

/// Applies a workspace edit to the disk and returns a description of each operation.
#[track_caller]
pub(super) fn apply(edit: &Value) -> Vec<String> {
    let path = |it: &Value| {
        let address = it.as_str().expect("a text").trim_start_matches("file://");
        address.replace("%20", " ")
    };
    let mut done = Vec::new();
    for operation in edit["documentChanges"].as_array().expect("a list") {
        if operation["kind"] == "rename" {
            let (old, new) = (path(&operation["oldUri"]), path(&operation["newUri"]));
            let parent = Path::new(&new).parent().expect("it lies somewhere");
            fs::create_dir_all(parent).expect("it can be made");
            fs::rename(&old, &new).expect("nothing is in the way");
            let name = |it: &str| it.rsplit('/').next().expect("never empty").to_owned();
            done.push(format!("rename {} {}", name(&old), name(&new)));
            continue;
        }
        if operation["kind"] == "create" {
            let new = path(&operation["uri"]);
            let parent = Path::new(&new).parent().expect("it lies somewhere");
            fs::create_dir_all(parent).expect("it can be made");
            fs::write(&new, "").expect("it can be made");
            done.push(format!("create {}", new.rsplit('/').next().expect("never empty")));
            continue;
        }
        let document = &operation["textDocument"];
        let file = path(&document["uri"]);
        let mut text = fs::read_to_string(&file).expect("it is there");
        let mut edits = operation["edits"].as_array().expect("a list").clone();
        edits.reverse();
        for edit in &edits {
            let offset = |it: &Value| {
                let line = it["line"].as_u64().expect("a number") as usize;
                let column = it["character"].as_u64().expect("a number") as usize;
                let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                let units = |end: &usize| text[start..start + end].encode_utf16().count() == column;
                let ends = (0..=text.len() - start).filter(|it| text.is_char_boundary(start + it));
                start + ends.into_iter().find(units).expect("it is in the line")
            };
            let span = offset(&edit["range"]["start"])..offset(&edit["range"]["end"]);
            text.replace_range(span, edit["newText"].as_str().expect("a text"));
        }
        fs::write(&file, text).expect("it can be written");
        let version = &document["version"];
        done.push(format!("edit {} {version}", file.rsplit("/w/").next().expect("never empty")));
    }
    done
}

pub(super) fn read(top: &Path, file: &str) -> String {
    fs::read_to_string(top.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn renaming_a_skill_updates_all_references() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let (claude, pdf) = (top.join("CLAUDE.md"), top.join(".claude/skills/pdf/SKILL.md"));
    editor.open(&claude);
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let at = Editor::place(&claude, "pdf");
    let prepared = editor.ask("textDocument/prepareRename", &claude, at, json!({}));
    assert_eq!(prepared.expect("it can be renamed")["placeholder"], "pdf");
    let nowhere = editor.ask("textDocument/prepareRename", &claude, (0, 1), json!({}));
    assert_eq!(nowhere, Ok(Value::Null));

    for (new, why) in [("notes", "already exists"), ("No Name", "is not a valid skill name")] {
        let refused = editor.ask("textDocument/rename", &claude, at, json!({"newName": new}));
        let message = refused.expect_err("it collides");
        assert!(message.contains(why), "{message}");
    }
    let edit = editor.ask("textDocument/rename", &claude, at, json!({"newName": "paper"}));
    assert_eq!(
        apply(&edit.expect("nothing is in the way")),
        [
            "edit .claude/commands/release.md null",
            "edit .claude/skills/notes/SKILL.md null",
            "edit .claude/skills/pdf/SKILL.md 1",
            "edit CLAUDE.md 1",
            "edit docs/AGENTS.md null",
            "rename pdf paper",
        ]
    );
    assert_eq!(read(&top, "CLAUDE.md"), "Use the `paper` skill.\n");
    let linked = read(&top, "docs/AGENTS.md");
    assert_eq!(
        linked, "See [forms](../.claude/skills/paper/forms.md).\n",
        "a closed file that links"
    );
    assert_eq!(read(&top, ".claude/commands/release.md"), "First /paper, not /pdfs or src/pdf.\n");
    let notes = read(&top, ".claude/skills/notes/SKILL.md");
    assert!(notes.contains("Skill(paper)"), "{notes}");
    assert!(notes.contains("🦀 `/paper` and [it](../paper/SKILL.md)."), "{notes}");
    let paper = read(&top, ".claude/skills/paper/SKILL.md");
    assert!(paper.contains("name: paper") && paper.contains("(../paper/x.md)"), "{paper}");
    run(&home, &top, &["stop"]);
}

#[test]
fn will_rename_files_updates_references() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let dir = |name: &str| uri(&top.join(".claude/skills").join(name));
    let files = |new: &str| json!({"files": [{"oldUri": dir("pdf"), "newUri": dir(new)}]});
    let nothing = editor.request("workspace/willRenameFiles", files("notes"));
    assert_eq!(nothing, Ok(Value::Null), "what would collide changes no text");
    let edit = editor.request("workspace/willRenameFiles", files("paper")).expect("answered");
    assert_eq!(apply(&edit).len(), 5);
    assert!(read(&top, "CLAUDE.md").contains("`paper`"));
    assert!(read(&top, ".claude/skills/pdf/SKILL.md").contains("name: paper"));
    run(&home, &top, &["stop"]);
}

#[test]
fn rename_is_refused_without_resource_operations() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], json!({}));
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let refused = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    let message = refused.expect_err("it cannot");
    assert!(message.contains("cannot rename files"), "{message}");
    run(&home, &top, &["stop"]);
}

/// Returns the files below `work` that refer to a skill, each once.
#[track_caller]
fn referencing_files(editor: &mut Editor, work: &Path, path: &Path, at: (u32, u32)) -> Vec<String> {
    let work = format!("{}/", uri(work));
    let context = json!({"context": {"includeDeclaration": false}});
    let found = editor.ask("textDocument/references", path, at, context).expect("answered");
    let paths = found.as_array().expect("a list").iter().map(|it| {
        let path = it["uri"].as_str().and_then(|it| it.strip_prefix(&work));
        path.expect("it is below").to_owned()
    });
    let mut paths: Vec<String> = paths.collect();
    paths.dedup();
    paths
}

#[test]
fn references_are_resolved_per_workspace_folder() {
    let home = Home::new();
    let tree = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nb\n\
         //- /CLAUDE.md\nUse the `pdf` skill.\n//- /docs/AGENTS.md\nUse the `pdf` skill and the `notes` skill.\n";
    let (one, two) = (home.worktree("one", tree), home.worktree("two", tree));
    home.lay_out(
        "//- /home/.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes notes. Use when asked to.\n---\nb\n",
    );
    let mut editor = Editor::start(&home, &[], &[&one, &two], full_capabilities());
    let notes = home.path().join(".claude/skills/notes/SKILL.md");
    editor.open(&notes);
    for top in [&one, &two] {
        editor.open(&top.join("CLAUDE.md"));
        editor.open(&top.join(".claude/skills/pdf/SKILL.md"));
    }
    let work = one.parent().expect("it lies in one");
    for (top, name) in [(&one, "one"), (&two, "two")] {
        let skill = top.join(".claude/skills/pdf/SKILL.md");
        let own = ["CLAUDE.md", "docs/AGENTS.md"].map(|it| format!("{name}/{it}"));
        assert_eq!(
            referencing_files(&mut editor, work, &skill, (1, 7)),
            own,
            "the other's is another skill"
        );
        let claude = top.join("CLAUDE.md");
        let at = Editor::place(&claude, "pdf");
        assert_eq!(referencing_files(&mut editor, work, &claude, at), own);
        let params = json!({"textDocument": {"uri": uri(&skill)}});
        let lenses = editor.request("textDocument/codeLens", params).expect("answered");
        assert_eq!(lenses[0]["command"]["title"], "used by 2", "{lenses}");
    }
    // The user's skill is shared by both folders.
    let both = ["one/docs/AGENTS.md", "two/docs/AGENTS.md"];
    assert_eq!(referencing_files(&mut editor, work, &notes, (1, 7)), both);

    let claude = two.join("CLAUDE.md");
    let at = Editor::place(&claude, "pdf");
    let refused = editor.ask("textDocument/rename", &claude, at, json!({"newName": "notes"}));
    assert!(refused.expect_err("it collides").contains("already has the name `notes`"));
    let edit = editor.ask("textDocument/rename", &claude, at, json!({"newName": "paper"}));
    let done = apply(&edit.expect("nothing is in the way"));
    assert_eq!(done.len(), 4, "{done:?}");
    assert!(
        read(&one, "CLAUDE.md").contains("`pdf`") && read(&two, "CLAUDE.md").contains("`paper`")
    );
    let refused = editor.ask("textDocument/rename", &notes, (1, 7), json!({"newName": "pdf"}));
    assert!(refused.expect_err("it collides").contains("already has the name `pdf`"));
    run(&home, &one, &["stop"]);
}
