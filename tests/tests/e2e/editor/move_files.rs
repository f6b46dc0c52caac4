//! Renaming and moving files and directories keeps every path to them valid.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use super::rename_skill::{apply, read};
use crate::support::run;

const TREE: &str = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: Bash(python .claude/skills/pdf/scripts/x.py:*)\n---\nSee [forms](references/forms.md#a), run `scripts/x.py` and:\n\n```sh\npython .claude/skills/pdf/scripts/x.py\n```\n\
     //- /.claude/skills/pdf/references/forms.md\nBack to [it](../SKILL.md), on to [more](more.md), `../scripts/x.py`.\n\
     //- /.claude/skills/pdf/references/more.md\nMore.\n\
     //- /.claude/skills/pdf/scripts/x.py\nprint()\n\
     //- /.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes notes. Use when asked to.\n---\nLike `.claude/skills/pdf/references/forms.md`.\n\
     //- /.claude/agents/reader.md\n---\nname: reader\n---\nRun .claude/skills/pdf/scripts/x.py:12, see [forms](../skills/pdf/references/forms.md#a) in .claude/skills/pdf/\n\
     //- /.claude/commands/read.md\n@.claude/skills/pdf/SKILL.md, not https://x.org/.claude/skills/pdf/x or other/.claude/skills/pdf/x.md\n\
     //- /AGENTS.md\n[a]: .claude/skills/pdf/references/forms.md \"pdf\"\n\nSee [it][a], [here](<.claude/skills/pdf/SKILL.md>).\n\
     //- /README.md\nWe use /pdf, see [it](.claude/skills/pdf/SKILL.md).\n";

fn start(home: &Home) -> (Editor, std::path::PathBuf) {
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    (editor, top)
}

/// Requests the edits for renaming files, applies them, and renames the files.
#[track_caller]
fn will_rename_and_apply(editor: &mut Editor, top: &Path, files: &[(&str, &str)]) -> Vec<String> {
    let asked = files
        .iter()
        .map(|(old, new)| json!({"oldUri": uri(&top.join(old)), "newUri": uri(&top.join(new))}));
    let params = json!({"files": asked.collect::<Value>()});
    let edit = editor.request("workspace/willRenameFiles", params).expect("answered");
    let done = if edit.is_null() { Vec::new() } else { apply(&edit) };
    for (old, new) in files {
        let new = top.join(new);
        fs::create_dir_all(new.parent().expect("it lies somewhere")).expect("it can be made");
        fs::rename(top.join(old), new).expect("nothing is in the way");
    }
    done
}

#[test]
fn renaming_a_skill_updates_paths_in_every_file() {
    let home = Home::new();
    let (mut editor, top) = start(&home);
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    let edit = editor.ask("textDocument/rename", &pdf, (1, 7), json!({"newName": "paper"}));
    apply(&edit.expect("nothing is in the way"));
    for (file, expected) in [
        (".claude/agents/reader.md", TREE.split("reader.md\n").nth(1)),
        (".claude/commands/read.md", TREE.split("read.md\n").nth(1)),
        ("AGENTS.md", TREE.split("AGENTS.md\n").nth(1)),
    ] {
        let expected = expected.and_then(|it| it.split("//- ").next()).expect("it is there");
        let expected = expected
            .replace("skills/pdf/", "skills/paper/")
            .replace("x.org/.claude/skills/paper", "x.org/.claude/skills/pdf")
            .replace("other/.claude/skills/paper", "other/.claude/skills/pdf");
        assert_eq!(read(&top, file), expected, "{file}");
    }
    let readme = "We use /paper, see [it](.claude/skills/paper/SKILL.md).\n";
    assert_eq!(read(&top, "README.md"), readme);
    let own = read(&top, ".claude/skills/paper/SKILL.md");
    assert_eq!(own.matches("skills/paper/scripts/x.py").count(), 2, "{own}");
    run(&home, &top, &["stop"]);
}

#[test]
fn moving_files_of_a_skill_updates_paths() {
    let home = Home::new();
    let (mut editor, top) = start(&home);
    let skill = ".claude/skills/pdf";
    let dir = |it: &str| format!("{skill}/{it}");
    let done = will_rename_and_apply(&mut editor, &top, &[(&dir("references"), &dir("docs"))]);
    assert_eq!(
        done,
        [
            "edit .claude/agents/reader.md null",
            "edit .claude/skills/notes/SKILL.md null",
            "edit .claude/skills/pdf/SKILL.md 1",
            "edit AGENTS.md null",
        ]
    );
    assert!(read(&top, &dir("SKILL.md")).contains("[forms](docs/forms.md#a)"));
    assert!(read(&top, "AGENTS.md").starts_with("[a]: .claude/skills/pdf/docs/forms.md \"pdf\""));
    editor.edit(&top.join(dir("SKILL.md")), &read(&top, &dir("SKILL.md")));

    // A moved file's own links to files that stay are updated.
    will_rename_and_apply(
        &mut editor,
        &top,
        &[(&dir("docs/forms.md"), &dir("docs/deep/forms.md"))],
    );
    assert_eq!(
        read(&top, &dir("docs/deep/forms.md")),
        "Back to [it](../../SKILL.md), on to [more](../more.md), `../../scripts/x.py`.\n"
    );
    assert!(read(&top, &dir("SKILL.md")).contains("[forms](docs/deep/forms.md#a)"));
    let agent = read(&top, ".claude/agents/reader.md");
    assert!(agent.contains("(../skills/pdf/docs/deep/forms.md#a)"), "{agent}");

    // No file refers to it.
    let done = will_rename_and_apply(&mut editor, &top, &[(&dir("docs/more.md"), "more.md")]);
    assert_eq!(done, ["edit .claude/skills/pdf/docs/deep/forms.md null"]);
    let done = will_rename_and_apply(&mut editor, &top, &[("more.md", "less.md")]);
    assert_eq!(done, [""; 0], "it is of no skill");
    run(&home, &top, &["stop"]);
}

#[test]
fn renaming_several_skills_or_their_root_updates_paths() {
    let home = Home::new();
    let (mut editor, top) = start(&home);
    let old = |it: &str| format!(".claude/skills/{it}");
    let both = [(old("pdf"), old("paper")), (old("notes"), old("memos"))];
    let both: Vec<_> = both.iter().map(|(old, new)| (&**old, &**new)).collect();
    will_rename_and_apply(&mut editor, &top, &both);
    let memos = read(&top, ".claude/skills/memos/SKILL.md");
    assert!(memos.contains("name: memos") && memos.contains("skills/paper/references"), "{memos}");
    assert!(read(&top, ".claude/skills/paper/SKILL.md").contains("name: paper"));
    run(&home, &top, &["stop"]);

    let home = Home::new();
    let (mut editor, top) = start(&home);
    will_rename_and_apply(&mut editor, &top, &[(".claude/skills", ".opencode/skills")]);
    let agent = read(&top, ".claude/agents/reader.md");
    assert!(agent.contains("Run .opencode/skills/pdf/scripts/x.py:12"), "{agent}");
    assert!(agent.contains("(../../.opencode/skills/pdf/references/forms.md#a)"), "{agent}");
    let own = read(&top, ".opencode/skills/pdf/SKILL.md");
    assert!(own.contains("name: pdf") && own.contains("python .opencode/skills/pdf"), "{own}");
    run(&home, &top, &["stop"]);
}

#[test]
fn renaming_directories_of_a_plugin_updates_its_manifest() {
    let home = Home::new();
    let manifest = "{\"name\": \"p\", \"skills\": [\"./skills\", \"./extra/\"]}\n";
    let tree = format!("{TREE}//- /.claude-plugin/plugin.json\n{manifest}");
    let skill = TREE.split("//- /").nth(1).expect("it is there").split_once('\n');
    let (_, skill) = skill.expect("it has a header");
    let top = home.worktree("w", &format!("{tree}//- /skills/pdf/SKILL.md\n{skill}"));
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    will_rename_and_apply(&mut editor, &top, &[("skills", "abilities")]);
    let expected = manifest.replace("./skills", "./abilities");
    assert_eq!(read(&top, ".claude-plugin/plugin.json"), expected);
    run(&home, &top, &["stop"]);
}
