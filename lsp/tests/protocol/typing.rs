//! Typing in an editor: keystroke by keystroke in an empty document, and in a document of 1 MB.

use serde_json::{Value, json};

use crate::editor::{Editor, URI, did_change, part};

const SKILL: &str = "---\nname: pdf\ndescription: \"Reads PDFs: all of them 漢. Use when asked.\"\nallowed-tools: Bash(pdftotext *) Read\npaths:\n  - '**/*.pdf'\n---\n\nRead it with [this](references/a.md).\n";

fn at(line: usize, character: usize) -> Value {
    json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})
}

#[tokio::test(start_paused = true)]
async fn every_request_is_answered_while_a_skill_is_typed() {
    let mut editor = Editor::with(json!({"textDocument": {"diagnostic": {}}})).await;
    editor.open(0, "").await;
    let (mut line, mut column) = (0, 0);
    for (typed, letter) in SKILL.chars().enumerate() {
        let place = (line as u32, column as u32);
        let change = part(place, place, &letter.to_string());
        let version = i32::try_from(typed).expect("it is short") + 1;
        editor.note("textDocument/didChange", did_change(version, &[change])).await;
        if letter == '\n' {
            (line, column) = (line + 1, 0);
        } else {
            column += letter.len_utf16();
        }
        editor.request("textDocument/completion", at(line, column)).await.expect("answered");
        editor.request("textDocument/hover", at(line, column)).await.expect("answered");
        let document = json!({"textDocument": {"uri": URI}});
        let report = editor.request("textDocument/diagnostic", document).await.expect("answered");
        let here = report["items"].as_array().expect("a list").iter().filter(|it| {
            let is_syntax = it["code"].as_str().is_some_and(|it| it.starts_with("yaml/"));
            is_syntax && it["range"]["start"]["line"] == line
        });
        assert!(here.count() <= 1, "{report}");
    }
    let document = json!({"textDocument": {"uri": URI}});
    let report = editor.request("textDocument/diagnostic", document).await.expect("answered");
    assert_eq!(report["items"], json!([]), "what is typed to its end is well");
}

#[tokio::test(start_paused = true)]
async fn document_of_a_megabyte_is_served() {
    let mut editor = Editor::connect(4 * 1024 * 1024);
    editor.initialize(json!({})).await;
    let body = "A line of some words, and `code` in it.\n".repeat(27_000);
    assert!(body.len() > 1024 * 1024);
    editor.open(0, &format!("---\nname: pdf\ndescription: Use it when asked.\n---\n{body}")).await;
    for version in 1..=5 {
        let change = part((4, 0), (4, 0), "x");
        editor.note("textDocument/didChange", did_change(version, &[change])).await;
    }
    let items = editor.request("textDocument/completion", at(2, 0)).await.expect("answered");
    assert!(items.as_array().is_some_and(|it| !it.is_empty()), "{items}");
    let mut last = Value::Null;
    while last["version"] != 5 {
        last = editor.published().await;
    }
    let codes: Vec<_> = last["diagnostics"].as_array().expect("a list").iter().collect();
    assert_eq!(codes.len(), 1, "it is long, and else well: {codes:?}");
    assert_eq!(codes[0]["code"], "body/long");
}
