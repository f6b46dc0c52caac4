//! Path completion, inlay hints, code lenses and semantic tokens, which need facts from disk.

use std::fs;

use serde_json::{Value, json};
use skills_testkit::{Home, wait_for};

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

const TREE: &str = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npaths: 'src/**'\n---\nThen /notes, see [x](references/x.md).\n\
     //- /.claude/skills/pdf/references/x.md\n# X\n\
     //- /.claude/skills/pdf/scripts/read.sh mode=0755\n#!/bin/sh\n\
     //- /.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: Writes notes. Use when asked to.\n---\nb\n\
     //- /CLAUDE.md\nUse the `pdf` skill.\n\
     //- /src/a.rs\nfn main() {}\n//- /src/deep/b.rs\n\n//- /docs/x.md\n# X\n";

fn labels(items: &Value) -> Vec<String> {
    let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().map(|it| it["label"].as_str().expect("a text").to_owned()).collect()
}

/// Replaces the skill's text by `text` and completes at the `|` in it.
fn completed(editor: &mut Editor, skill: &std::path::Path, text: &str) -> Value {
    let before = &text[..text.find('|').expect("a cursor")];
    let line = before.matches('\n').count() as u32;
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count() as u32;
    editor.edit(skill, &text.replacen('|', "", 1));
    editor.ask("textDocument/completion", skill, (line, column), json!({})).expect("answered")
}

#[test]
fn first_path_completion_request_returns_files() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let body = |line: &str| format!("---\nname: pdf\ndescription: Use it.\n---\n{line}\n");
    let own = ["references/x.md", "scripts/read.sh"];
    assert_eq!(labels(&completed(&mut editor, &pdf, &body("See [x](|)."))), own);
    let items = completed(&mut editor, &pdf, &body("🦀 Run `./scr|`."));
    assert_eq!(labels(&items), ["./scripts/read.sh"]);
    assert_eq!(
        items[0]["textEdit"]["range"]["start"],
        json!({"line": 4, "character": 8}),
        "the word is replaced"
    );
    let paths = |value: &str| format!("---\nname: pdf\npaths: {value}\n---\n");
    let items = completed(&mut editor, &pdf, &paths("src/|"));
    assert_eq!(labels(&items), ["src/**/*.rs", "src/deep/**"]);
    assert_eq!(items[0]["detail"], "2 files");
    // A new file is known after the editor's notification.
    fs::write(top.join("src/c.py"), "").expect("it can be written");
    let changes = json!([{"uri": uri(&top.join("src/c.py")), "type": 1}]);
    editor.note("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    let items = completed(&mut editor, &pdf, &paths("'src/|'"));
    assert_eq!(labels(&items), ["src/**/*.rs", "src/**/*.py", "src/deep/**"]);
    run(&home, &top, &["stop"]);
}

#[test]
fn values_are_completed_on_every_line_of_a_list() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let mut complete = |head: &str| {
        let text = format!("---\r\nname: pdf\r\ncompatibility: 🦀\r\n{head}\r\n---\r\nb\r\n");
        completed(&mut editor, &pdf, &text)
    };
    for head in [
        "allowed-tools: [Read, '🦀',\r\n  '🦀', Wr|]",
        "allowed-tools: [Read,\r\n  '🦀', Wr|",
        "allowed-tools: Read,\r\n  '🦀', Wr|",
        "allowed-tools: >-\r\n  '🦀', Wr|",
    ] {
        let items = complete(head);
        let labels = labels(&items);
        let write = labels.iter().position(|it| it == "Write").expect("it is offered");
        let edit = &items[write]["textEdit"];
        assert_eq!(edit["newText"], "Write", "{head}");
        let range = json!({
            "start": {"line": 4, "character": 8}, "end": {"line": 4, "character": 10}
        });
        assert_eq!(edit["range"], range, "{head}");
        assert!(!labels.contains(&"model".to_owned()), "a key is none: {labels:?}");
    }
    let globs = complete("paths: >\r\n  docs/**,\r\n  src/|");
    assert_eq!(labels(&globs), ["src/**/*.rs", "src/deep/**"]);
    run(&home, &top, &["stop"]);
}

#[test]
fn arguments_have_hover_definition_references_and_highlights() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    let text = "---\nname: pdf\ndescription: Use it.\narguments: [file, page]\n---\n🦀 Read $page of $0, for $5 a page.\n";
    editor.edit(&pdf, text);
    let mut ask = |method: &str, place: (u32, u32)| {
        editor.ask(&format!("textDocument/{method}"), &pdf, place, json!({})).expect("answered")
    };
    let said = |hover: &Value| hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(said(&ask("hover", (5, 10))).contains("the second word"));
    assert!(said(&ask("hover", (5, 18))).contains("(`file` of `arguments`)"));
    assert!(ask("hover", (5, 26)).is_null(), "an amount of money is no argument");
    let definition = ask("definition", (5, 10));
    let range = |line: u32, from: u32, to: u32| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    assert_eq!(definition["range"], range(3, 18, 22));
    assert_eq!(definition["uri"], uri(&pdf));
    let highlights = ask("documentHighlight", (3, 14));
    let ranges: Vec<_> =
        highlights.as_array().expect("a list").iter().map(|it| &it["range"]).collect();
    assert_eq!(ranges, [&range(3, 12, 16), &range(5, 17, 19)]);
    for (declares, expected) in [(true, 0), (false, 1)] {
        let context = json!({"context": {"includeDeclaration": declares}});
        let found = editor.ask("textDocument/references", &pdf, (5, 18), context);
        let found = found.expect("answered");
        let ranges: Vec<_> =
            found.as_array().expect("a list").iter().map(|it| it["range"].clone()).collect();
        assert_eq!(ranges, [range(3, 12, 16), range(5, 17, 19)][expected..]);
    }
    run(&home, &top, &["stop"]);
}

#[test]
fn hints_lenses_and_tokens_include_disk_facts() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut able = full_capabilities();
    for shown in ["codeLens", "inlayHint", "semanticTokens"] {
        able["workspace"][shown] = json!({"refreshSupport": true});
    }
    able["window"] = json!({"showDocument": {"support": true}});
    let mut editor = Editor::start(&home, &[], &[&top], able);
    editor.configured = json!({"inlayHints": true});
    let pdf = top.join(".claude/skills/pdf/SKILL.md");
    editor.open(&pdf);
    editor.wait_for(&pdf, &["index/"], &[]);
    // A client that asked before the disk was read is asked to refresh.
    for method in ["codeLens", "inlayHint", "semanticTokens"] {
        editor.wait_for_method(&format!("workspace/{method}/refresh"));
    }
    let document = json!({"textDocument": {"uri": uri(&pdf)}});
    let mut ranged = document.clone();
    ranged["range"] =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    // The settings arrive with the editor's answer to `workspace/configuration`.
    let hints = wait_for("inlay hints to be enabled", || {
        let hints = editor.request("textDocument/inlayHint", ranged.clone()).expect("answered");
        (!hints.is_null()).then_some(hints)
    });
    assert_eq!(labels(&hints), ["11 tokens", "2 files", "10 tokens"]);

    let lenses = editor.request("textDocument/codeLens", document.clone()).expect("answered");
    let titles = |lenses: &Value| -> Vec<String> {
        let lenses = lenses.as_array().expect("a list").iter();
        lenses.map(|it| it["command"]["title"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(titles(&lenses), ["used by 1", "activates on 2 files"]);
    // Unsaved edits in other documents count, and disk changes count after the editor's
    // notification.
    let claude = top.join("CLAUDE.md");
    editor.open(&claude);
    editor.edit(&claude, "Use the `pdf` skill, see [it](.claude/skills/pdf/SKILL.md).\n");
    let counted = editor.request("textDocument/codeLens", document.clone()).expect("answered");
    assert_eq!(titles(&counted)[0], "used by 2");
    fs::write(top.join("AGENTS.md"), "First /pdf.\n").expect("it can be written");
    let changes = json!([{"uri": uri(&top.join("AGENTS.md")), "type": 1}]);
    editor.note("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    wait_for("the new file to be counted", || {
        let lenses = editor.request("textDocument/codeLens", document.clone()).expect("answered");
        (titles(&lenses)[0] == "used by 3").then_some(())
    });
    let command = &lenses[0]["command"];
    let done = editor.request("workspace/executeCommand", command.clone());
    assert_eq!(done, Ok(Value::Null));
    editor.wait_for_method("window/showDocument");
    let unknown = json!({"command": "skillsd.none", "arguments": [1]});
    let refused = editor.request("workspace/executeCommand", unknown).expect_err("there is none");
    assert!(refused.contains("`skillsd.none`"), "{refused}");

    let tokens = editor.request("textDocument/semanticTokens/full", document).expect("answered");
    let data = tokens["data"].as_array().expect("a list");
    let types: Vec<_> = data.chunks(5).map(|it| it[3].as_u64().expect("a number")).collect();
    assert_eq!(types, [0, 0, 0, 2], "three keys and a reference that leads somewhere");
    run(&home, &top, &["stop"]);
}
