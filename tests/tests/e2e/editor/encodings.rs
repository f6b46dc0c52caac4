//! Columns of every response in each position encoding, on lines whose characters have different
//! lengths in each.

use std::fs;

use serde_json::{Value, json};
use skills_testkit::{Home, wait_for};

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

const LINE: &str = "漢🦀é use `/pdf` now, see [x](re).";

const TREE: &str = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nb\n\
     //- /.claude/skills/notes/SKILL.md\n---\nname: notes\ndescription: 漢🦀é writes. Use when asked to.\n---\n漢🦀é use `/pdf` now, see [x](re).\n\
     //- /.claude/skills/notes/references/x.md\n# X\n";

/// Returns the length of a text in an encoding.
fn length(encoding: &str, text: &str) -> u64 {
    let length = match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    };
    length as u64
}

fn range(line: u64, from: u64, to: u64) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

#[test]
fn every_response_uses_the_negotiated_encoding() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut able = full_capabilities();
        able["general"] = json!({"positionEncodings": [encoding]});
        able["experimental"] = json!({"commands": {"commands": ["skillsd.showReferences"]}});
        let mut editor = Editor::start(&home, &[], &[&top], able);
        editor.configured = json!({"inlayHints": true});
        let notes = top.join(".claude/skills/notes/SKILL.md");
        let pdf = top.join(".claude/skills/pdf/SKILL.md");
        editor.open(&notes);
        editor.open(&pdf);
        editor.wait_for(&notes, &["index/"], &[]);
        let column = |text: &str| {
            let at = LINE.find(text).expect("it is there");
            (length(encoding, &LINE[..at]), length(encoding, &LINE[..at + text.len()]))
        };
        let (from, to) = column("pdf");
        let name = (4, u32::try_from(from + 1).expect("small"));

        let context = json!({"context": {"includeDeclaration": false}});
        let found = editor.ask("textDocument/references", &pdf, (1, 7), context).expect("answered");
        assert_eq!(found[0]["range"], range(4, from, to), "{encoding}: references");

        let prepared = editor.ask("textDocument/prepareRename", &notes, name, json!({}));
        assert_eq!(prepared.expect("it can be")["range"], range(4, from, to), "{encoding}");
        let edit = editor.ask("textDocument/rename", &notes, name, json!({"newName": "paper"}));
        let edit = edit.expect("it can be");
        let of_notes = |it: &&Value| it["textDocument"]["uri"] == json!(uri(&notes));
        let changes = edit["documentChanges"].as_array().expect("a list").clone();
        let changed = changes.iter().find(of_notes).expect("it names the skill");
        assert_eq!(changed["edits"][0]["range"], range(4, from, to), "{encoding}: rename");

        let (_, end) = column("](re");
        let place = (4, u32::try_from(end).expect("small"));
        let items = editor.ask("textDocument/completion", &notes, place, json!({}));
        let items = items.expect("answered");
        let expected = range(4, column("re)").0, end);
        assert_eq!(items[0]["textEdit"]["range"], expected, "{encoding}: completion");

        let document = json!({"textDocument": {"uri": uri(&notes)}});
        let tokens = editor.request("textDocument/semanticTokens/full", document.clone());
        let tokens = tokens.expect("answered")["data"].as_array().cloned().expect("a list");
        let last = &tokens[tokens.len() - 5..];
        assert_eq!(last[1..3], [json!(from), json!(to - from)], "{encoding}: tokens");

        let mut ranged = document.clone();
        ranged["range"] = range(0, 0, 0);
        ranged["range"]["end"] = json!({"line": 9, "character": 0});
        let hints = wait_for("inlay hints to be enabled", || {
            let hints = editor.request("textDocument/inlayHint", ranged.clone()).expect("answered");
            (!hints.is_null()).then_some(hints)
        });
        let value = length(encoding, "description: 漢🦀é writes. Use when asked to.");
        assert_eq!(
            hints[0]["position"],
            json!({"line": 2, "character": value}),
            "{encoding}: hints"
        );

        let document = json!({"textDocument": {"uri": uri(&pdf)}});
        let lenses = editor.request("textDocument/codeLens", document).expect("answered");
        let command = &lenses[0]["command"];
        assert_eq!(command["command"], "skillsd.showReferences");
        assert_eq!(command["arguments"][2][0]["range"], range(4, from, to), "{encoding}: lens");

        let links = json!({"textDocument": {"uri": uri(&notes)}});
        let links = editor.request("textDocument/documentLink", links).expect("answered");
        assert_eq!(links[0]["range"], range(4, from, to), "{encoding}: links");
    }
    assert!(
        fs::read_to_string(top.join(".claude/skills/notes/SKILL.md"))
            .is_ok_and(|it| it.contains(LINE))
    );
    run(&home, &top, &["stop"]);
}
