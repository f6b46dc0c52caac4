//! Renaming commands, converting them to skills, and extracting sections: all references are
//! updated, and no new finding appears.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use super::rename_skill::{apply, read};
use crate::support::{run, run_json};

const TREE: &str = "//- /.claude/commands/fix/bug.md\n---\ndescription: Fixes bugs. Use when something is broken.\n---\nSee [how](../../skills/notes/SKILL.md), then /alpha.\n\
     //- /.claude/commands/alpha.md\n---\ndescription: Does the first. Use when asked.\n---\nRun it, then `/fix:bug now`.\n\
     //- /.claude/commands/Up_Case.md\n---\ndescription: Speaks up. Use when asked.\n---\nLoud.\n\
     //- /.claude/commands/taken.md\n---\ndescription: Is taken. Use when asked.\n---\nTaken.\n\
     //- /.claude/skills/taken/SKILL.md\n---\nname: taken\ndescription: Is taken. Use when asked.\n---\nTaken.\n\
     //- /.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes notes. Use when asked to.\nallowed-tools: Skill(fix:bug), Skill(alpha)\n---\nUse `/fix:bug`, `/Up_Case x` or [it](../../commands/fix/bug.md#a), `/alpha` or [that](../../commands/alpha.md).\n\
     //- /CLAUDE.md\nRun /alpha first, then `/fix:bug`; @.claude/commands/alpha.md, src/alpha.md.\n";

fn start(home: &Home, able: Value) -> (Editor, PathBuf) {
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(home, &[], &[&top], able);
    let notes = top.join(".claude/skills/notes/SKILL.md");
    editor.open(&notes);
    editor.wait_for(&notes, &["index/", "ref/"], &[]);
    (editor, top)
}

/// Returns the codes of all findings, without paths, which change on rename.
fn all_finding_codes(home: &Home, top: &Path) -> Vec<String> {
    let result = run_json(home, top, &["check"]);
    let files = result["files"].as_array().expect("a list").iter();
    let findings = files.flat_map(|it| it["findings"].as_array().expect("a list"));
    let mut codes: Vec<_> = findings.map(|it| it["code"].to_string()).collect();
    codes.sort();
    codes
}

/// Returns the code action that converts a command to a skill, if offered.
fn convert_action(editor: &mut Editor, command: &Path) -> Option<Value> {
    editor.open(command);
    refactor_action(editor, command, 0, "Convert")
}

/// Returns the refactoring at a line whose title starts with `title`.
fn refactor_action(editor: &mut Editor, path: &Path, line: usize, title: &str) -> Option<Value> {
    let at = json!({"line": line, "character": 0});
    let context = json!({"diagnostics": [], "only": ["refactor"], "triggerKind": 1});
    let params = json!({"textDocument": {"uri": uri(path)}, "range": {"start": at, "end": at}, "context": context});
    let found = editor.request("textDocument/codeAction", params).expect("answered");
    let is_ours = |it: &&Value| it["title"].as_str().is_some_and(|it| it.starts_with(title));
    found.as_array().expect("a list").iter().find(is_ours).cloned()
}

#[test]
fn converting_a_command_to_a_skill_updates_references() {
    let home = Home::new();
    let mut able = full_capabilities();
    let actions = &mut able["textDocument"]["codeAction"];
    actions["disabledSupport"] = json!(true);
    actions["dataSupport"] = json!(true);
    actions["resolveSupport"] = json!({"properties": ["edit"]});
    let (mut editor, top) = start(&home, able);
    let before = all_finding_codes(&home, &top);
    let bug =
        convert_action(&mut editor, &top.join(".claude/commands/fix/bug.md")).expect("offered");
    assert!(bug.get("edit").is_none(), "{bug}");
    let bug = editor.request("codeAction/resolve", bug).expect("resolved");
    let done = apply(&bug["edit"]);
    assert_eq!(
        done,
        [
            "edit .claude/commands/alpha.md null",
            "edit .claude/commands/fix/bug.md 1",
            "edit .claude/skills/notes/SKILL.md 1",
            "edit CLAUDE.md null",
            "rename bug.md SKILL.md",
        ]
    );
    assert_eq!(
        read(&top, ".claude/skills/bug/SKILL.md"),
        "---\nname: bug\ndescription: Fixes bugs. Use when something is broken.\n---\nSee [how](../../skills/notes/SKILL.md), then /alpha.\n"
    );
    let notes = read(&top, ".claude/skills/notes/SKILL.md");
    assert!(notes.contains("Skill(bug), Skill(alpha)"), "{notes}");
    assert!(notes.contains("`/bug`, `/Up_Case x` or [it](../bug/SKILL.md#a), `/alpha`"), "{notes}");
    assert!(read(&top, "CLAUDE.md").contains("then `/bug`;"));
    assert!(read(&top, ".claude/commands/alpha.md").contains("then `/bug now`."));
    editor.edit(&top.join(".claude/skills/notes/SKILL.md"), &notes);

    let up =
        convert_action(&mut editor, &top.join(".claude/commands/Up_Case.md")).expect("offered");
    assert_eq!(up["title"], "Convert the command to a skill `up-case`");
    apply(&editor.request("codeAction/resolve", up).expect("resolved")["edit"]);
    assert!(read(&top, ".claude/skills/up-case/SKILL.md").contains("name: up-case\n"));
    assert!(read(&top, ".claude/skills/notes/SKILL.md").contains("`/up-case x`"));

    let taken = convert_action(&mut editor, &top.join(".claude/commands/taken.md")).expect("shown");
    let why = taken["disabled"]["reason"].as_str().expect("a reason");
    assert!(why.contains("skills/taken` already exists"), "{why}");
    let mut after = all_finding_codes(&home, &top);
    // A command may link anywhere; a skill that links out of its directory has a finding.
    let at = after.iter().position(|it| it == "\"body/escape\"").expect("its link to the notes");
    after.remove(at);
    assert_eq!(after, before);
    run(&home, &top, &["stop"]);
}

#[test]
fn disabled_actions_are_omitted_without_client_support() {
    let home = Home::new();
    let (mut editor, top) = start(&home, full_capabilities());
    assert_eq!(convert_action(&mut editor, &top.join(".claude/commands/taken.md")), None);
    let alpha =
        convert_action(&mut editor, &top.join(".claude/commands/alpha.md")).expect("offered");
    // Edits the command, the notes and `CLAUDE.md`, and renames the file.
    assert_eq!(alpha["edit"]["documentChanges"].as_array().map(Vec::len), Some(4), "{alpha}");
    run(&home, &top, &["stop"]);
}

#[test]
fn renaming_a_command_updates_references() {
    let home = Home::new();
    let (mut editor, top) = start(&home, full_capabilities());
    let before = all_finding_codes(&home, &top);
    let notes = top.join(".claude/skills/notes/SKILL.md");
    let at = Editor::place(&notes, "/alpha");
    let prepared = editor.ask("textDocument/prepareRename", &notes, at, json!({}));
    assert_eq!(prepared.expect("it can be")["placeholder"], "alpha");
    for (new, why) in [
        ("taken", "already exists"),
        ("notes", "already has the name `notes`"),
        ("a b", "is not a valid command name"),
    ] {
        let refused = editor.ask("textDocument/rename", &notes, at, json!({"newName": new}));
        let message = refused.expect_err("it collides");
        assert!(message.contains(why), "{message}");
    }
    // Renames into another namespace, invoked on a link to the command.
    let link = Editor::place(&notes, "commands/alpha.md");
    let link = (link.0, link.1 + 10);
    let edit = editor.ask("textDocument/rename", &notes, link, json!({"newName": "ops:gamma"}));
    let done = apply(&edit.expect("nothing is in the way"));
    assert_eq!(
        done,
        [
            "edit .claude/commands/fix/bug.md null",
            "edit .claude/skills/notes/SKILL.md 1",
            "edit CLAUDE.md null",
            "rename alpha.md gamma.md",
        ]
    );
    assert_eq!(
        read(&top, "CLAUDE.md"),
        "Run /ops:gamma first, then `/fix:bug`; @.claude/commands/ops/gamma.md, src/alpha.md.\n"
    );
    let text = read(&top, ".claude/skills/notes/SKILL.md");
    assert!(text.contains("Skill(fix:bug), Skill(ops:gamma)"), "{text}");
    assert!(text.contains("`/ops:gamma` or [that](../../commands/ops/gamma.md)"), "{text}");
    assert_eq!(all_finding_codes(&home, &top), before);
    run(&home, &top, &["stop"]);
}

#[test]
fn will_rename_of_a_command_updates_references() {
    let home = Home::new();
    let (mut editor, top) = start(&home, full_capabilities());
    let before = all_finding_codes(&home, &top);
    let command = |it: &str| top.join(".claude/commands").join(it);
    let mut renames = |old: &str, new: &str| {
        let (old, new) = (command(old), command(new));
        let params = json!({"files": [{"oldUri": uri(&old), "newUri": uri(&new)}]});
        let edit = editor.request("workspace/willRenameFiles", params).expect("answered");
        apply(&edit);
        std::fs::rename(old, new).expect("nothing is in the way");
        let notes = ".claude/skills/notes/SKILL.md";
        editor.edit(&top.join(notes), &read(&top, notes));
        read(&top, notes)
    };
    let notes = renames("alpha.md", "gamma.md");
    assert!(notes.contains("Skill(gamma)") && notes.contains("`/gamma` or"), "{notes}");
    assert!(notes.contains("[that](../../commands/gamma.md)"), "{notes}");
    let told = "Run /gamma first, then `/fix:bug`; @.claude/commands/gamma.md, src/alpha.md.\n";
    assert_eq!(read(&top, "CLAUDE.md"), told);
    // A command's directory is its namespace.
    let notes = renames("fix", "mend");
    assert!(notes.contains("Skill(mend:bug)") && notes.contains("`/mend:bug`"), "{notes}");
    assert!(notes.contains("[it](../../commands/mend/bug.md#a)"), "{notes}");
    assert!(read(&top, ".claude/commands/gamma.md").contains("`/mend:bug now`"));
    assert_eq!(all_finding_codes(&home, &top), before);
    run(&home, &top, &["stop"]);
}

#[test]
fn extracting_a_section_keeps_links_valid() {
    const SAID: &str = "See [self](#after), [ref][r], note[^1], ![i](img.png) and [n](references/n.md).\nRun `scripts/x.sh`.\n\n";
    let text = format!(
        "//- /.claude/skills/long/SKILL.md\n---\nname: long\ndescription: Is long. Use when asked.\n---\n# Long\n\n## Big\n\n{SAID}{}\n## After\n\nBack to [it](#big).\n\n[r]: https://e.org \"t\"\n[^1]: foot\n\
         //- /.claude/skills/long/scripts/x.sh\n#!/bin/sh\n//- /.claude/skills/long/img.png\nx\n//- /.claude/skills/long/references/n.md\n# N\n",
        "line\n".repeat(20)
    );
    let home = Home::new();
    let top = home.worktree("w", &text);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let long = top.join(".claude/skills/long/SKILL.md");
    editor.open(&long);
    editor.wait_for(&long, &["body/", "index/"], &[]);
    let before = all_finding_codes(&home, &top);
    let action = refactor_action(&mut editor, &long, 10, "Extract").expect("offered");
    let done = apply(&action["edit"]);
    assert_eq!(
        done,
        [
            "create big.md",
            "edit .claude/skills/long/references/big.md null",
            "edit .claude/skills/long/SKILL.md 1",
        ]
    );
    let page = read(&top, ".claude/skills/long/references/big.md");
    let expected = "See [self](../SKILL.md#after), [ref][r], note[^1], ![i](../img.png) and [n](n.md).\nRun `../scripts/x.sh`.\n";
    assert!(page.contains(expected), "{page}");
    assert!(page.ends_with("line\n\n[r]: https://e.org \"t\"\n[^1]: foot\n"), "{page}");
    let rest = read(&top, ".claude/skills/long/SKILL.md");
    assert!(rest.ends_with("## After\n\nBack to [it](#big).\n"), "{rest}");
    let mentions = "(references/big.md), which mentions `references/n.md` and `scripts/x.sh`.";
    assert!(rest.contains(mentions), "{rest}");
    assert_eq!(all_finding_codes(&home, &top), before);
    run(&home, &top, &["stop"]);
}
