//! Tests that document changes are applied in order while handlers take random time.
//!
//! Sends ten thousand changes through a whole connection. The second test applies changes after an
//! await, to prove that the first test would detect wrong order.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use skills_protocol::frame::Framing;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower::Service;
use tower_lsp::LspService;
use tower_lsp::jsonrpc::{Request, Response};

use crate::connection::Connection;
use crate::document::Document;
use crate::document_sync::DocumentSyncLayer;
use crate::publish;
use crate::server::Server;
use crate::session::Session;

const URI: &str = "file:///w/SKILL.md";
const N_CHANGES: i32 = 10_000;

/// A deterministic pseudo-random number generator.
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Yields zero to three times, and rarely sleeps.
    fn dawdle(&mut self) -> impl Future<Output = ()> + Send + use<> {
        let (n_moments, is_long) = (self.roll(4), self.roll(200) == 0);
        async move {
            for _ in 0..n_moments {
                tokio::task::yield_now().await;
            }
            if is_long {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

/// When the inner service is called.
#[derive(Clone, Copy)]
enum When {
    /// Immediately; only the response is delayed.
    AtOnce,
    /// After a delay.
    Late,
}

/// A service that delays its responses.
struct Slow<S> {
    inner: Arc<Mutex<S>>,
    when: When,
    dice: Dice,
}

impl<S> Service<Request> for Slow<S>
where
    S: Service<Request, Response = Option<Response>> + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Option<Response>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.lock().unwrap().poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let while_ = self.dice.dawdle();
        let inner = Arc::clone(&self.inner);
        let call = move || inner.lock().unwrap().call(request);
        match self.when {
            When::AtOnce => {
                let answer = call();
                async move {
                    while_.await;
                    answer.await
                }
                .boxed()
            }
            When::Late => async move {
                while_.await;
                let answer = call();
                answer.await
            }
            .boxed(),
        }
    }
}

/// Returns the messages of an editor that types fast, and the resulting text.
fn typed() -> (Vec<Value>, String) {
    let mut dice = Dice(7);
    let mut text: Vec<char> = "---\nname: a\n---\n".chars().collect();
    let item = json!({"uri": URI, "languageId": "markdown", "version": 0, "text": text.iter().collect::<String>()});
    let initialize = json!({"capabilities": {"general": {"positionEncodings": ["utf-32"]}}});
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}),
    ];
    for version in 1..=N_CHANGES {
        let n_changes = 1 + dice.roll(2);
        let changes: Vec<Value> = (0..n_changes).map(|_| change(&mut text, &mut dice)).collect();
        let params =
            json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": changes});
        messages
            .push(json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
    }
    (messages, text.into_iter().collect())
}

/// Makes a random change to `text` and returns the LSP content change.
fn change(text: &mut Vec<char>, dice: &mut Dice) -> Value {
    let start = dice.roll(text.len() + 1);
    let end = (start + dice.roll(4)).min(text.len());
    let position = |offset: usize| {
        let before = &text[..offset];
        let line = before.iter().filter(|&&it| it == '\n').count();
        let character = before.iter().rev().take_while(|&&it| it != '\n').count();
        json!({"line": line, "character": character})
    };
    let range = json!({"start": position(start), "end": position(end)});
    let n_new = if text.len() > 200 { 0 } else { dice.roll(4) };
    let new: String = (0..n_new).map(|_| ['a', ':', '漢', '🦀', '\n', ' '][dice.roll(6)]).collect();
    text.splice(start..end, new.chars());
    json!({"range": range, "text": new})
}

/// Sends all messages; returns the server's final document and its output.
async fn served(messages: &[Value], when: When) -> (Document, Vec<u8>) {
    let session = Arc::new(Session::default());
    let (service, socket) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
    let publisher = publish::run(Arc::clone(&session), service.inner().client());
    let inner = Arc::new(Mutex::new(DocumentSyncLayer::new(service, Arc::clone(&session))));
    let service = Slow { inner, when, dice: Dice(3) };

    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (mut from_server, mut to_server) = tokio::io::split(ours);
    let (input, output) = tokio::io::split(theirs);
    let reading = tokio::spawn(async move {
        let mut bytes = Vec::new();
        from_server.read_to_end(&mut bytes).await.map(|_| bytes)
    });
    let mut framed = BytesMut::new();
    for message in messages {
        Framing::ContentLength.put(message.to_string().as_bytes(), &mut framed);
    }
    let mut dice = Dice(5);
    let writing = async move {
        // Split without regard to message boundaries.
        for piece in framed.chunks(977) {
            to_server.write_all(piece).await.unwrap();
            dice.dawdle().await;
        }
        to_server.shutdown().await.unwrap();
    };
    let connection =
        Connection { input: Box::new(input), output: Box::new(output), socket, session: &session };
    tokio::join!(connection.run(service, [publisher.boxed()]), writing);
    let document = session.document(URI).expect("it was opened");
    (Document::clone(&document), reading.await.unwrap().unwrap())
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_changes_are_applied_in_order() {
    let (messages, expected) = typed();
    let (document, written) = served(&messages, When::AtOnce).await;
    assert_eq!(document.text(), expected);
    assert_eq!(document.version(), Some(N_CHANGES));

    let written = String::from_utf8(written).unwrap();
    let published: Vec<i32> = written
        .split("\"version\":")
        .skip(1)
        .filter_map(|rest| rest.split(['}', ',']).next()?.parse().ok())
        .collect();
    assert!(published.is_sorted_by(|one, next| one < next), "{published:?}");
    assert_eq!(published.last(), Some(&N_CHANGES));
}

#[tokio::test(start_paused = true)]
async fn change_after_an_await_breaks_the_order() {
    let (messages, expected) = typed();
    let (document, _) = served(&messages, When::Late).await;
    assert_ne!(document.text(), expected);
}
