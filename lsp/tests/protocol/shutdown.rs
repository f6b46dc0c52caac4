//! Server shutdown: at once on `exit`, in order at the end of input, and never otherwise.

use serde_json::{Value, json};
use skills_lsp::Ending;

use crate::editor::{Editor, URI, framed, message};

#[tokio::test(start_paused = true)]
async fn exit_ends_the_server_while_the_stream_is_open() {
    let mut editor = Editor::with(json!({})).await;
    assert_eq!(editor.request("shutdown", Value::Null).await, Ok(Value::Null));
    editor.note("exit", Value::Null).await;
    assert_eq!(editor.ended().await, Ending::Orderly);
}

#[tokio::test(start_paused = true)]
async fn exit_without_shutdown_is_abrupt() {
    let mut editor = Editor::with(json!({})).await;
    editor.note("exit", Value::Null).await;
    assert_eq!(editor.ended().await, Ending::Abrupt);

    let mut editor = Editor::connect(4096);
    editor.note("exit", Value::Null).await;
    assert_eq!(editor.ended().await, Ending::Abrupt);
}

#[tokio::test(start_paused = true)]
async fn after_shutdown_requests_are_refused_and_nothing_is_sent() {
    let mut editor = Editor::with(json!({})).await;
    editor.request("shutdown", Value::Null).await.expect("it is served");
    editor.open(1, "").await;
    assert_eq!(editor.ask("textDocument/documentSymbol").await, Err(-32600));
    assert_eq!(editor.hang_up().await, (vec![], Ending::Orderly));
}

#[tokio::test(start_paused = true)]
async fn pending_requests_are_answered_at_the_end_of_input() {
    let mut editor = Editor::with(json!({})).await;
    editor.open(1, "").await;
    let ask = message(Some(9), "textDocument/foldingRange", &json!({"textDocument": {"uri": URI}}));
    editor.send(&framed(&ask)).await;
    let (rest, ending) = editor.hang_up().await;
    assert_eq!(ending, Ending::Abrupt);
    assert!(rest.iter().any(|it| it["id"] == 9 && it.get("result").is_some()), "{rest:?}");
    assert!(rest.iter().any(|it| it["params"]["version"] == 1), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn client_that_does_not_read_does_not_block_exit() {
    let mut editor = Editor::connect(2048);
    editor.initialize(json!({})).await;
    for version in 0..200 {
        editor.open(version, "").await;
        editor.close(URI).await;
    }
    editor.note("exit", Value::Null).await;
    assert_eq!(editor.ended().await, Ending::Abrupt);
}

#[tokio::test(start_paused = true)]
async fn stream_without_lsp_framing_ends_the_server() {
    let mut editor = Editor::with(json!({})).await;
    editor.send(b"GET / HTTP/1.1\r\n\r\n").await;
    assert_eq!(editor.ended().await, Ending::Abrupt);
}
