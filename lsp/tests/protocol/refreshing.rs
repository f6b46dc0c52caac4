//! What a client is asked to ask for anew: once for all that was learnt, not for each piece of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::editor::Editor;
use crate::told::Told;

const FOLDERS: [&str; 5] = ["/a", "/b", "/c", "/d", "/e"];

/// Begins in five folders, each of which answers after a while.
async fn begin(seconds: u64) -> (Editor, Arc<Told>) {
    let places = FOLDERS.map(|it| (it, &[("pdf", "pdf")][..])).into();
    let delay = Duration::from_secs(seconds);
    let source = Arc::new(Told { delay, places, ..Told::default() });
    let mut editor = Editor::connect_over(64 * 1024, Arc::clone(&source) as _);
    let able = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {
            "diagnostics": {"refreshSupport": true},
            "codeLens": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
            "semanticTokens": {"refreshSupport": true},
        },
    });
    editor.initialize_in(&FOLDERS, able).await;
    (editor, source)
}

/// Returns what was asked of the client until it hangs up.
async fn asked(editor: Editor) -> Vec<String> {
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
async fn what_comes_together_is_asked_for_once() {
    let (editor, source) = begin(0).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    source.ring();
    source.ring();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(asked(editor).await, [ONCE, ONCE].concat(), "at the start, and for all bells");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_asked_for_every_now_and_then() {
    let (editor, _) = begin(1).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(asked(editor).await, [ONCE, ONCE].concat(), "after three of five, and at the end");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_of_those_who_cannot() {
    let source = Arc::new(Told { places: [("/a", &[][..])].into(), ..Told::default() });
    let mut editor = Editor::connect_over(64 * 1024, source);
    editor.initialize_in(&["/a"], json!({})).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(asked(editor).await.is_empty());
}
