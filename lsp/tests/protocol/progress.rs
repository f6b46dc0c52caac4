//! Progress of slow fetches, for clients that support it; no request waits for them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::editor::{Editor, framed};
use crate::mock_backend::MockBackend;

async fn open(seconds: u64, capabilities: Value) -> Editor {
    let backend =
        Arc::new(MockBackend { delay: Duration::from_secs(seconds), ..MockBackend::default() });
    let mut editor = Editor::connect_over(64 * 1024, backend);
    editor.initialize(capabilities).await;
    editor.open(1, "---\nname: pdf\ndescription: Use it when asked.\n---\nb\n").await;
    editor
}

#[tokio::test(start_paused = true)]
async fn slow_fetch_shows_progress() {
    let mut editor = open(9, json!({"window": {"workDoneProgress": true}})).await;
    assert_eq!(
        editor.published().await["diagnostics"],
        json!([]),
        "publishing does not wait for the fetch"
    );
    let create = editor.next_message().await;
    assert_eq!(create["method"], "window/workDoneProgress/create");
    let answer = json!({"jsonrpc": "2.0", "id": create["id"], "result": null});
    editor.send(&framed(&answer)).await;
    for kind in ["begin", "end"] {
        let note = editor.next_message().await;
        assert_eq!(note["params"]["token"], create["params"]["token"]);
        assert_eq!(note["params"]["value"]["kind"], kind, "{note}");
    }
}

#[tokio::test(start_paused = true)]
async fn fast_fetch_or_unsupporting_client_shows_no_progress() {
    for (seconds, capabilities) in
        [(0, json!({"window": {"workDoneProgress": true}})), (9, json!({}))]
    {
        let editor = open(seconds, capabilities).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
        let (notes, _) = editor.hang_up().await;
        let methods: Vec<_> = notes.iter().map(|it| it["method"].clone()).collect();
        assert_eq!(methods, [json!("textDocument/publishDiagnostics")]);
    }
}
