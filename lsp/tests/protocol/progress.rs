//! What takes long: that it is under way is shown by clients that can, and nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::editor::{Editor, framed};
use crate::told::Told;

async fn open(seconds: u64, able: Value) -> Editor {
    let source = Arc::new(Told { delay: Duration::from_secs(seconds), ..Told::default() });
    let mut editor = Editor::connect_over(64 * 1024, source);
    editor.initialize(able).await;
    editor.open(1, "---\nname: pdf\ndescription: Use it when asked.\n---\nb\n").await;
    editor
}

#[tokio::test(start_paused = true)]
async fn what_takes_long_is_shown_by_those_who_can() {
    let mut editor = open(9, json!({"window": {"workDoneProgress": true}})).await;
    assert_eq!(editor.published().await["diagnostics"], json!([]), "nobody waits for it");
    let create = editor.next_note().await;
    assert_eq!(create["method"], "window/workDoneProgress/create");
    let answer = json!({"jsonrpc": "2.0", "id": create["id"], "result": null});
    editor.send(&framed(&answer)).await;
    for kind in ["begin", "end"] {
        let note = editor.next_note().await;
        assert_eq!(note["params"]["token"], create["params"]["token"]);
        assert_eq!(note["params"]["value"]["kind"], kind, "{note}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_quick_or_cannot_be_shown_is_not() {
    for (seconds, able) in [(0, json!({"window": {"workDoneProgress": true}})), (9, json!({}))] {
        let editor = open(seconds, able).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        let (notes, _) = editor.hang_up().await;
        let methods: Vec<_> = notes.iter().map(|it| it["method"].clone()).collect();
        assert_eq!(methods, [json!("textDocument/publishDiagnostics")]);
    }
}
