//! Refresh requests: one for several changes, not one for each.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::editor::Editor;
use crate::mock_backend::MockBackend;

const FOLDERS: [&str; 5] = ["/a", "/b", "/c", "/d", "/e"];

/// Opens five folders, each of which answers after `seconds`.
async fn start(seconds: u64) -> (Editor, Arc<MockBackend>) {
    let roots = FOLDERS.map(|it| (it, &[("pdf", "pdf")][..])).into();
    let delay = Duration::from_secs(seconds);
    let backend = Arc::new(MockBackend { delay, roots, ..MockBackend::default() });
    let mut editor = Editor::connect_over(64 * 1024, Arc::clone(&backend) as _);
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {
            "diagnostics": {"refreshSupport": true},
            "codeLens": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
            "semanticTokens": {"refreshSupport": true},
        },
    });
    editor.initialize_in(&FOLDERS, capabilities).await;
    (editor, backend)
}

/// Returns the methods of all requests to the client.
async fn client_requests(editor: Editor) -> Vec<String> {
    let (notes, _) = editor.hang_up().await;
    notes.iter().map(|it| it["method"].as_str().expect("a method").to_owned()).collect()
}

const ONCE: [&str; 4] = [
    "workspace/diagnostic/refresh",
    "workspace/codeLens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/semanticTokens/refresh",
];

#[tokio::test(start_paused = true)]
async fn changes_together_cause_one_refresh() {
    let (editor, backend) = start(0).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    backend.notify_change();
    backend.notify_change();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(
        client_requests(editor).await,
        [ONCE, ONCE].concat(),
        "at the start, and after all changes"
    );
}

#[tokio::test(start_paused = true)]
async fn continuous_fetches_cause_periodic_refreshes() {
    let (editor, _) = start(1).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(
        client_requests(editor).await,
        [ONCE, ONCE].concat(),
        "after three of five, and at the end"
    );
}

#[tokio::test(start_paused = true)]
async fn clients_without_refresh_support_get_no_requests() {
    let backend =
        Arc::new(MockBackend { roots: [("/a", &[][..])].into(), ..MockBackend::default() });
    let mut editor = Editor::connect_over(64 * 1024, backend);
    editor.initialize_in(&["/a"], json!({})).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(client_requests(editor).await.is_empty());
}
