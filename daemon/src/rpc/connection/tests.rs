//! A connection over a pipe in memory: order, limits, cancelling, and clients that misbehave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skills_protocol::error::RpcError;
use skills_protocol::method::{ServerShutdown, ServerStatus, ServerSync, SkillsList, WorktreeList};
use skills_protocol::wire::{
    ListParams, ShutdownParams, StatusParams, SyncParams, WorktreeListParams,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::{MethodCall, register};

impl ClientStream for DuplexStream {}

/// State that the handlers of these tests share with the test.
#[derive(Default)]
struct Bench {
    gate: Notify,
    begun: AtomicUsize,
    dropped: Arc<AtomicUsize>,
}

/// Counts the handlers that were given up or have ended.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn immediate(_: MethodCall<Bench, StatusParams>) -> Outcome {
    Answer::new(&"status")
}

async fn gated(call: MethodCall<Bench, SyncParams>) -> Outcome {
    let bench = call.parts;
    let _dropped = Dropped(Arc::clone(&bench.dropped));
    bench.begun.fetch_add(1, Ordering::SeqCst);
    bench.gate.notified().await;
    Answer::new(&"sync")
}

async fn panicking(_: MethodCall<Bench, ShutdownParams>) -> Outcome {
    tokio::task::yield_now().await;
    panic!("on purpose");
}

async fn sized(call: MethodCall<Bench, ListParams>) -> Outcome {
    Answer::new(&"x".repeat(call.params.limit.unwrap_or_default() as usize))
}

async fn refusing(_: MethodCall<Bench, WorktreeListParams>) -> Outcome {
    Err(RpcError::skill_not_found("pfd", vec!["pdf".into()], vec![]))
}

/// A client and the connection that serves it.
struct Rig {
    client: DuplexStream,
    bench: Arc<Bench>,
    closing: CancellationToken,
    served: JoinHandle<io::Result<()>>,
}

fn rig_with(limits: Limits, buffer: usize) -> Rig {
    let bench = Arc::new(Bench::default());
    let mut methods = Methods::new();
    register::<ServerStatus, _, _, _>(&mut methods, &bench, immediate);
    register::<ServerSync, _, _, _>(&mut methods, &bench, gated);
    register::<ServerShutdown, _, _, _>(&mut methods, &bench, panicking);
    register::<SkillsList, _, _, _>(&mut methods, &bench, sized);
    register::<WorktreeList, _, _, _>(&mut methods, &bench, refusing);
    let (client, server) = duplex(buffer);
    let closing = CancellationToken::new();
    let connection =
        Connection::new(server, methods, limits, Arc::new(ClientPeer::new(1)), &closing);
    Rig { client, bench, closing, served: tokio::spawn(connection.run()) }
}

fn rig() -> Rig {
    rig_with(Limits::default(), 64 * 1024)
}

impl Rig {
    async fn say(&mut self, text: &str) {
        self.client.write_all(text.as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let call = json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params});
        self.say(&format!("{call}\n")).await;
    }

    /// Reads the next answer of a connection of lines.
    async fn hear(&mut self) -> Value {
        let mut line = Vec::new();
        loop {
            match self.client.read_u8().await.expect("an answer, not the end") {
                b'\n' => return serde_json::from_slice(&line).unwrap(),
                byte => line.push(byte),
            }
        }
    }

    async fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.client.read_to_string(&mut rest).await.unwrap();
        rest
    }

    /// Waits until this many gated handlers have begun.
    async fn until_begun(&self, count: usize) {
        while self.bench.begun.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }
}

/// Sends text as a client that then only listens, and compares everything it hears.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let heard = runtime.block_on(async {
        let mut rig = rig();
        rig.say(text).await;
        rig.client.shutdown().await.unwrap();
        let heard =
            timeout(Duration::from_secs(10), rig.rest()).await.expect("the connection ends");
        rig.served.await.unwrap().unwrap();
        heard
    });
    assert_eq!(heard.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn lines_are_answered_in_lines_after_the_client_has_said_all() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"server/status"}"#,
        &[r#"{"jsonrpc":"2.0","id":1,"result":"status"}"#],
    );
    check(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"server/status\",\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":-2,\"method\":\"server/status\",\"params\":null}\n",
        &[
            r#"{"jsonrpc":"2.0","id":"a","result":"status"}"#,
            r#"{"jsonrpc":"2.0","id":-2,"result":"status"}"#,
        ],
    );
}

#[test]
fn headers_are_answered_with_headers() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"server/status"}"#;
    check(
        &format!("Content-Type: application/json\r\ncontent-length: {}\r\n\r\n{call}", call.len()),
        &["Content-Length: 42", "", r#"{"jsonrpc":"2.0","id":1,"result":"status"}"#],
    );
}

#[test]
fn invalid_request_is_answered_with_the_reason() {
    let heard = |text: &str| {
        let reply = malformed_reply(text);
        format!(
            "{} {} {}",
            reply["id"],
            reply["error"]["code"],
            reply["error"]["message"].as_str().unwrap()
        )
    };
    assert_eq!(heard("{]\n"), "null -32700 the message is not valid JSON");
    assert_eq!(heard("{\"jsonrpc\":\"2.0\"\n"), "null -32700 the message is not valid JSON");
    assert_eq!(
        heard("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/status\"}]\n"),
        "null -32600 batches are not supported"
    );
    let expected = "7 -32600 the message is not a JSON-RPC 2.0 request: missing field `jsonrpc` at line 1 column 33";
    assert_eq!(heard(r#"{"id":7,"method":"server/status"}"#), expected);
    assert!(heard(r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#).starts_with("7 -32600"));
    assert!(heard(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#).starts_with("null -32600"));
    assert!(heard(r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#).starts_with("null -32600"));
    assert!(heard(r#"{"jsonrpc":"2.0","id":3}"#).starts_with("3 -32600"));
    assert_eq!(
        heard(r#"{"jsonrpc":"2.0","id":3,"method":"nonsense"}"#),
        "3 -32601 there is no method `nonsense`"
    );
    assert!(
        heard(r#"{"jsonrpc":"2.0","id":3,"method":"skills/list","params":[1]}"#)
            .starts_with("3 -32602")
    );
    assert!(
        heard(r#"{"jsonrpc":"2.0","id":3,"method":"skills/list","params":{"limit":"x"}}"#)
            .starts_with("3 -32602")
    );
    assert!(
        heard("Content-Length: x\r\n\r\n").starts_with("null -32700 Content-Length `x` is not")
    );
}

fn malformed_reply(text: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let heard = runtime.block_on(async {
        let mut rig = rig();
        rig.say(text).await;
        rig.client.shutdown().await.unwrap();
        rig.rest().await
    });
    serde_json::from_str(heard.lines().last().expect("a reply")).unwrap()
}

#[test]
fn notifications_are_never_answered() {
    check(
        concat!(
            "{\"jsonrpc\":\"2.0\",\"method\":\"server/status\"}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"nonsense\",\"params\":7}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":99}}\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{}}\n",
        ),
        &[],
    );
}

#[tokio::test]
async fn answers_come_as_calls_finish() {
    let mut rig = rig();
    rig.call(1, "server/sync", json!({})).await;
    rig.call(2, "server/status", json!({})).await;
    assert_eq!(rig.hear().await["id"], 2);
    rig.bench.gate.notify_one();
    assert_eq!(rig.hear().await, json!({"jsonrpc": "2.0", "id": 1, "result": "sync"}));
}

#[tokio::test]
async fn error_of_a_handler_keeps_its_data() {
    let mut rig = rig();
    rig.call(1, "worktree/list", json!({})).await;
    let reply = rig.hear().await;
    assert_eq!(reply["error"]["code"], -32001);
    assert_eq!(reply["error"]["data"]["nearest"], json!(["pdf"]));
}

#[tokio::test]
async fn cancelled_call_is_given_up_and_answered() {
    let mut rig = rig();
    rig.call("a", "server/sync", json!({})).await;
    rig.call("b", "server/sync", json!({})).await;
    rig.until_begun(2).await;
    rig.say("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":\"a\"}}\n")
        .await;
    let reply = rig.hear().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!("a"), &json!(-32800)));
    assert_eq!(rig.bench.dropped.load(Ordering::SeqCst), 1);
    rig.bench.gate.notify_one();
    assert_eq!(rig.hear().await["id"], "b");
}

#[tokio::test]
async fn panic_costs_one_answer() {
    let mut rig = rig();
    rig.call(1, "server/shutdown", json!({})).await;
    let reply = rig.hear().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(1), &json!(-32603)));
    rig.call(2, "server/status", json!({})).await;
    assert_eq!(rig.hear().await["result"], "status");
}

#[tokio::test]
async fn reading_stops_with_too_many_calls_in_flight() {
    let limits = Limits { requests_in_flight: 2, ..Limits::default() };
    let mut rig = rig_with(limits, 64 * 1024);
    for id in 1..=3 {
        rig.call(id, "server/sync", json!({})).await;
    }
    rig.call(4, "server/status", json!({})).await;
    rig.until_begun(2).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.bench.begun.load(Ordering::SeqCst), 2);
    rig.bench.gate.notify_one();
    rig.until_begun(3).await;
    rig.bench.gate.notify_one();
    rig.bench.gate.notify_one();
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(rig.hear().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
}

#[tokio::test]
async fn message_over_the_limit_is_refused_and_the_next_one_served() {
    let mut rig = rig_with(Limits { message_bytes_in: 200, ..Limits::default() }, 64 * 1024);
    rig.call(1, "skills/list", json!({"cwd": "x".repeat(300)})).await;
    rig.call(2, "server/status", json!({})).await;
    let reply = rig.hear().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32007)));
    assert_eq!(reply["error"]["data"]["limit"], 200);
    assert_eq!(rig.hear().await["id"], 2);
}

#[tokio::test]
async fn answer_over_the_limit_is_refused() {
    let mut rig = rig_with(Limits { message_bytes_out: 100, ..Limits::default() }, 64 * 1024);
    rig.call(1, "skills/list", json!({"limit": 98})).await;
    assert!(rig.hear().await["result"].is_string());
    rig.call(2, "skills/list", json!({"limit": 99})).await;
    assert_eq!(rig.hear().await["error"]["code"], -32007);
}

#[tokio::test]
async fn large_answers_arrive_whole_through_a_narrow_pipe() {
    let mut rig = rig_with(Limits::default(), 1000);
    let sizes = [20_000, 3, 100_000, 16_382, 16_383, 0];
    for (id, size) in sizes.iter().enumerate() {
        rig.call(id, "skills/list", json!({"limit": size})).await;
    }
    for (id, size) in sizes.iter().enumerate() {
        let reply = rig.hear().await;
        assert_eq!((&reply["id"], reply["result"].as_str().unwrap().len()), (&json!(id), *size));
    }
}

#[tokio::test]
async fn peer_that_does_not_read_gets_no_further_answers_made() {
    let limits = Limits { requests_in_flight: 4, ..Limits::default() };
    let Rig { client, served, .. } = rig_with(limits, 1000);
    let (mut read, mut write) = tokio::io::split(client);
    let writer = tokio::spawn(async move {
        for id in 0..200 {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"skills/list\",\"params\":{{\"limit\":20000}}}}\n"
            );
            write.write_all(call.as_bytes()).await.unwrap();
        }
        write.shutdown().await.unwrap();
    });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!writer.is_finished(), "4 MB of answers were made for a peer that has read none");
    let mut heard = String::new();
    read.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard.lines().count(), 200);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn dropped_connection_gives_its_calls_up() {
    let mut rig = rig();
    rig.call(1, "server/sync", json!({})).await;
    rig.until_begun(1).await;
    rig.served.abort();
    assert!(rig.served.await.unwrap_err().is_cancelled());
    assert_eq!(rig.bench.dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn closing_answers_what_has_begun_and_reads_no_more() {
    let mut rig = rig();
    rig.call(1, "server/sync", json!({})).await;
    rig.until_begun(1).await;
    rig.closing.cancel();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    rig.call(2, "server/status", json!({})).await;
    rig.bench.gate.notify_one();
    assert_eq!(rig.rest().await, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"sync\"}\n");
    rig.served.await.unwrap().unwrap();
}
