//! URIs that are not percent-encoded: accepted, and returned in the client's form.

use serde_json::{Value, json};

use crate::editor::{Editor, action_literals};

const OWN: &str = "file:///w/[a] b/{c|d}/é/SKILL.md";

#[tokio::test(start_paused = true)]
async fn unencoded_uri_is_accepted_and_returned() {
    let mut editor = Editor::with(json!({"textDocument": {"codeAction": action_literals()}})).await;
    editor.open_at(OWN, 1, "---\nname: x\n---\n").await;
    let published = editor.published().await;
    assert_eq!(published["uri"], OWN);
    assert_ne!(published["diagnostics"], json!([]));

    let at = json!({"textDocument": {"uri": OWN}, "position": {"line": 1, "character": 1}});
    let hover = editor.request("textDocument/hover", at).await.expect("it answers");
    assert_ne!(hover, Value::Null);

    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params =
        json!({"textDocument": {"uri": OWN}, "range": whole, "context": {"diagnostics": []}});
    let actions = editor.request("textDocument/codeAction", params).await.expect("it answers");
    let edited = actions.to_string();
    assert!(edited.contains(OWN) && !edited.contains("%5B"), "{edited}");

    let rename = json!({"textDocument": {"uri": OWN, "version": 2},
        "contentChanges": [{"text": "---\nname: é\n---\n"}]});
    editor.note("textDocument/didChange", rename).await;
    assert_eq!(editor.published().await["uri"], OWN);
}

#[tokio::test(start_paused = true)]
async fn invalid_folders_do_not_prevent_serving() {
    for folders in [json!([{"uri": "file:///w/[x]", "name": "x"}, {"uri": "", "name": "y"}, {}])] {
        let mut editor = Editor::connect(64 * 1024);
        let params = json!({"processId": null, "rootUri": "::", "capabilities": {},
            "workspaceFolders": folders});
        let result = editor.request("initialize", params).await.expect("it is served");
        assert!(result["capabilities"].is_object());
        editor.note("initialized", json!({})).await;
        let added = json!([{"uri": 3}, {"uri": "file:///w/{y}", "name": "y"}]);
        let event = json!({"event": {"added": added, "removed": []}});
        editor.note("workspace/didChangeWorkspaceFolders", event).await;
        editor.open(1, "---\n---\n").await;
        assert_eq!(editor.published().await["version"], 1);
    }
}
