//! Diagnostics: pushed or pulled, never both.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use skills_lsp::Ending;

use crate::editor::{
    Editor, URI, did_change, framed, list, message, part, render_published, whole,
};
use crate::mock_backend::{MockBackend, RULES_PAGE};

const BROKEN: &str = "---\nname: pdf\ndescription: Use when: needed\n---\nb\n";
const SOUND: &str = "---\nname: pdf\ndescription: Use when needed\n---\nb\n";

async fn check(editor: &mut Editor, expected: Expect) {
    let published = editor.published().await;
    assert_eq!(published["uri"], URI);
    expected.assert_eq(&render_published(&published));
}

#[tokio::test(start_paused = true)]
async fn diagnostics_follow_edits() {
    let mut editor = Editor::with(json!({})).await;
    editor.open(4, BROKEN).await;
    check(
        &mut editor,
        expect![[r#"
            version 4
            2:21-2:22 warning skillsd yaml/unquoted-colon: `: ` inside an unquoted value; Agent Skills clients, Claude Code, opencode and 2 more guess the meaning
              help: Put the whole value in quotes.
        "#]],
    )
    .await;
    // Each change refers to the text after the previous one.
    let changes = [part((2, 13), (2, 16), "Now"), part((2, 13), (2, 22), "Use when")];
    editor.change(5, &changes).await;
    check(
        &mut editor,
        expect![[r#"
            version 5
        "#]],
    )
    .await;
    editor.change(9, &[whole("# No skill\r\n")]).await;
    check(
        &mut editor,
        expect![[r#"
            version 9
            0:0-0:10 error skillsd yaml/no-frontmatter: Agent Skills clients, opencode, Codex and 1 more drop this skill: the file has no frontmatter
              help: Start the file with `---`, lines of `name:` and `description:`, and `---`.
        "#]],
    )
    .await;
    editor.close(URI).await;
    check(
        &mut editor,
        expect![[r#"
        no version
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn finding_links_to_its_section_of_the_rules_page() {
    let mut editor = Editor::connect_over(64 * 1024, Arc::new(MockBackend::default()) as _);
    editor.initialize_in(&["/w"], json!({})).await;
    editor.open(1, BROKEN).await;
    let finding = &editor.published().await["diagnostics"][0];
    let section = format!("{RULES_PAGE}#yamlunquoted-colon");
    assert_eq!(finding["codeDescription"], json!({"href": section}));
    let mut editor = Editor::with(json!({})).await;
    editor.open(1, BROKEN).await;
    let finding = &editor.published().await["diagnostics"][0];
    assert_eq!(finding.get("codeDescription"), None, "{finding}");
}

#[tokio::test(start_paused = true)]
async fn new_version_is_published_without_other_changes() {
    let mut editor = Editor::with(json!({})).await;
    editor.open(1, SOUND).await;
    for version in 2..6 {
        assert_eq!(editor.published().await["version"], version - 1);
        editor.change(version, &[part((5, 0), (5, 0), "more\n")]).await;
    }
    assert_eq!(editor.published().await["version"], 5);
}

#[tokio::test(start_paused = true)]
async fn burst_of_changes_causes_few_publishes() {
    let mut editor = Editor::connect(16 * 1024 * 1024);
    editor.initialize(json!({})).await;
    editor.open(0, BROKEN).await;
    let mut burst = Vec::new();
    for version in 1..=1_000 {
        let at = (2, 13);
        burst.extend(framed(&message(
            None,
            "textDocument/didChange",
            &did_change(version, &[part(at, at, "x")]),
        )));
    }
    editor.send(&burst).await;
    let (rest, _) = editor.hang_up().await;
    let versions: Vec<i64> =
        rest.iter().filter_map(|note| note["params"]["version"].as_i64()).collect();
    assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
    assert_eq!(versions.last(), Some(&1_000));
    assert!(versions.len() <= 20, "{} publishes: {versions:?}", versions.len());
    let last = &rest.last().expect("the last version")["params"]["diagnostics"][0]["range"];
    assert_eq!(last["end"]["character"], 1_000 + 22);
}

#[tokio::test(start_paused = true)]
async fn documents_are_identified_by_the_clients_uri() {
    let mut editor = Editor::with(json!({})).await;
    for uri in ["file:///w/%61%C3%A9/SKILL.md", "file:///W/a%c3%a9/SKILL.md", "untitled:SKILL.md"] {
        editor.open_at(uri, 1, BROKEN).await;
        assert_eq!(editor.published().await["uri"], uri);
    }
    editor.close("file:///w/%61%C3%A9/SKILL.md").await;
    assert_eq!(editor.published().await["uri"], "file:///w/%61%C3%A9/SKILL.md");
}

#[tokio::test(start_paused = true)]
async fn other_documents_get_no_diagnostics() {
    let mut editor = Editor::with(json!({})).await;
    editor.open_at("file:///w/README.md", 1, BROKEN).await;
    editor.close("file:///w/README.md").await;
    editor.close("file:///w/never-opened/SKILL.md").await;
    assert_eq!(editor.hang_up().await, (vec![], Ending::Abrupt));
}

#[tokio::test(start_paused = true)]
async fn pulling_client_gets_no_pushed_diagnostics() {
    let mut editor = Editor::with(json!({"textDocument": {"diagnostic": {}}})).await;
    editor.open(1, BROKEN).await;
    let first = editor.ask("textDocument/diagnostic").await.expect("it is advertised");
    assert_eq!(first["kind"], "full");
    expect![[r#"
        2:21-2:22 warning skillsd yaml/unquoted-colon: `: ` inside an unquoted value; Agent Skills clients, Claude Code, opencode and 2 more guess the meaning
          help: Put the whole value in quotes.
    "#]]
    .assert_eq(&list(first["items"].as_array().expect("a list")));

    let mut again = json!({"textDocument": {"uri": URI}});
    again["previousResultId"] = first["resultId"].clone();
    let second = editor.request("textDocument/diagnostic", again.clone()).await;
    assert_eq!(second, Ok(json!({"kind": "unchanged", "resultId": first["resultId"]})));

    editor.change(2, &[whole(SOUND)]).await;
    let third = editor.request("textDocument/diagnostic", again).await.expect("it is advertised");
    assert_eq!((&third["kind"], &third["items"]), (&json!("full"), &json!([])));

    editor.close(URI).await;
    let closed = editor.ask("textDocument/diagnostic").await;
    assert_eq!(closed, Ok(json!({"kind": "full", "items": []})));
    assert_eq!(editor.hang_up().await.0, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn diagnostics_are_limited_to_a_hundred_and_a_count() {
    let mut text = "---\n".to_owned();
    for _ in 0..131 {
        writeln!(text, "name: pdf").expect("a text takes text");
    }
    let mut editor = Editor::with(json!({})).await;
    editor.open(1, &(text + "---\n")).await;
    let published = editor.published().await;
    let items = published["diagnostics"].as_array().expect("a list");
    assert_eq!(items.len(), 101);
    expect![[r#"
        100:0-100:4 error skillsd yaml/duplicate-key: opencode, Codex and Gemini CLI drop this skill: `name` is a duplicate key
          help: Keep one of them; readers that accept both use the last.
        101:0-101:4 information skillsd skillsd/too-many: 32 more findings are not shown
          help: Fix the findings shown; the others then appear.
    "#]]
    .assert_eq(&list(&items[99..]));
}

#[tokio::test(start_paused = true)]
async fn change_with_odd_version_or_range_is_applied() {
    let mut editor = Editor::with(json!({})).await;
    editor.open(7, BROKEN).await;
    editor.published().await;
    editor.change(3, &[part((2, 0), (99, 99), "")]).await;
    check(
        &mut editor,
        expect![[r#"
            version 3
            0:0-0:3 error skillsd yaml/unclosed-frontmatter: Agent Skills clients, Codex and Gemini CLI drop this skill and Claude Code loads it without its fields: the frontmatter is never closed
              help: Add a line of `---` after the last key.
        "#]],
    )
    .await;
    editor.open(1, SOUND).await;
    check(
        &mut editor,
        expect![[r#"
            version 1
        "#]],
    )
    .await;
}
