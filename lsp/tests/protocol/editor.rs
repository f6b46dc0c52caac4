//! [`Editor`]: an LSP client for tests that sends messages, collects responses and renders them.
//!
//! It has its own framing, so that errors in the server's framing are found. Every wait has a time
//! limit; on the paused clock of these tests it ends at once when nothing is running.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skills_lsp::{Backend, Ending};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The URI of the document under test.
pub(crate) const URI: &str = "file:///w/skills/pdf/SKILL.md";

const TIMEOUT: Duration = Duration::from_mins(1);

/// An editor connected to its own server.
pub(crate) struct Editor {
    to_server: Option<WriteHalf<DuplexStream>>,
    from_server: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<Ending>,
    last_id: u64,
    notes: VecDeque<Value>,
}

/// Returns the capability for code action literals.
pub(crate) fn action_literals() -> Value {
    json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}}})
}

/// Returns a request or, without an id, a notification.
pub(crate) fn message(id: Option<u64>, method: &str, params: &Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    if let Some(id) = id {
        message["id"] = id.into();
    }
    message
}

/// Returns `message` with its header.
pub(crate) fn framed(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

/// Returns a change of the whole text.
pub(crate) fn whole(text: &str) -> Value {
    json!({"text": text})
}

/// Returns a change of the text between two positions.
pub(crate) fn part(start: (u32, u32), end: (u32, u32), text: &str) -> Value {
    let position = |(line, character)| json!({"line": line, "character": character});
    json!({"range": {"start": position(start), "end": position(end)}, "text": text})
}

/// Returns the parameters of `didChange`.
pub(crate) fn did_change(version: i32, changes: &[Value]) -> Value {
    json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": changes})
}

impl Editor {
    /// Connects to a new server. `capacity` limits the bytes in transit in each direction.
    pub(crate) fn connect(capacity: usize) -> Self {
        Self::connect_over(capacity, Arc::new(skills_lsp::NoBackend))
    }

    /// Connects to a new server with a backend.
    pub(crate) fn connect_over(capacity: usize, backend: Arc<dyn Backend>) -> Self {
        let (ours, theirs) = tokio::io::duplex(capacity);
        let (input, output) = tokio::io::split(theirs);
        let server = tokio::spawn(skills_lsp::serve(input, output, backend));
        let (from_server, to_server) = tokio::io::split(ours);
        Self {
            to_server: Some(to_server),
            from_server: BufReader::new(from_server),
            server,
            last_id: 0,
            notes: VecDeque::new(),
        }
    }

    /// Connects and initializes with `capabilities`.
    pub(crate) async fn with(capabilities: Value) -> Self {
        let mut editor = Self::connect(64 * 1024);
        editor.initialize(capabilities).await;
        editor
    }

    /// Initializes and returns the result.
    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        self.initialize_in(&[], capabilities).await
    }

    /// Initializes with these folders and returns the result.
    pub(crate) async fn initialize_in(&mut self, folders: &[&str], capabilities: Value) -> Value {
        let folders = folders.iter().map(|it| json!({"uri": format!("file://{it}"), "name": it}));
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities,
            "workspaceFolders": folders.collect::<Value>()});
        let result = self.request("initialize", params).await.expect("it is the first request");
        self.note("initialized", json!({})).await;
        result
    }

    /// Sends raw bytes.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let stream = self.to_server.as_mut().expect("it has not hung up");
        timeout(TIMEOUT, stream.write_all(bytes)).await.expect("it reads").expect("it is there");
    }

    /// Sends a notification.
    pub(crate) async fn note(&mut self, method: &str, params: Value) {
        self.send(&framed(&message(None, method, &params))).await;
    }

    /// Sends a request and returns its result or its error code.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value, i64> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&framed(&message(Some(id), method, &params))).await;
        self.answer(&json!(id)).await
    }

    /// Reads until the response to `id` arrives, and keeps notifications that arrive before it.
    pub(crate) async fn answer(&mut self, id: &Value) -> Result<Value, i64> {
        loop {
            let answer = self.receive().await.expect("it answers before it hangs up");
            if answer.get("method").is_some() {
                self.notes.push_back(answer);
                continue;
            }
            assert_eq!(&answer["id"], id, "{answer}");
            let error = answer.get("error").map(|error| error["code"].as_i64().expect("a code"));
            return error.map_or_else(|| Ok(answer["result"].clone()), Err);
        }
    }

    /// Returns the id of the next response.
    pub(crate) async fn next_answer(&mut self) -> u64 {
        loop {
            let answer = self.receive().await.expect("it answers before it hangs up");
            if answer.get("method").is_none() {
                return answer["id"].as_u64().expect("a number");
            }
            self.notes.push_back(answer);
        }
    }

    /// Returns the next notification or request of the server.
    pub(crate) async fn next_message(&mut self) -> Value {
        if let Some(note) = self.notes.pop_front() {
            return note;
        }
        let note = self.receive().await.expect("it sends before it hangs up");
        assert!(note.get("method").is_some(), "an answer where a note was expected: {note}");
        note
    }

    /// Returns the notifications received so far.
    pub(crate) fn take_messages(&mut self) -> Vec<Value> {
        self.notes.drain(..).collect()
    }

    /// Waits until the server has done its pending work, and returns the notifications received so
    /// far.
    pub(crate) async fn settle(&mut self) -> Vec<Value> {
        tokio::time::sleep(Duration::from_mins(2)).await;
        // A response comes after all earlier notifications.
        let _ = self.ask("textDocument/foldingRange").await;
        self.take_messages()
    }

    /// Returns the parameters of the next notification, which must be diagnostics.
    pub(crate) async fn published(&mut self) -> Value {
        let note = self.next_message().await;
        assert_eq!(note["method"], "textDocument/publishDiagnostics", "{note}");
        note["params"].clone()
    }

    /// Opens the document under test.
    pub(crate) async fn open(&mut self, version: i32, text: &str) {
        self.open_at(URI, version, text).await;
    }

    /// Opens a document.
    pub(crate) async fn open_at(&mut self, uri: &str, version: i32, text: &str) {
        let item = json!({"uri": uri, "languageId": "markdown", "version": version, "text": text});
        self.note("textDocument/didOpen", json!({"textDocument": item})).await;
    }

    /// Changes the document under test.
    pub(crate) async fn change(&mut self, version: i32, changes: &[Value]) {
        self.note("textDocument/didChange", did_change(version, changes)).await;
    }

    /// Closes a document.
    pub(crate) async fn close(&mut self, uri: &str) {
        self.note("textDocument/didClose", json!({"textDocument": {"uri": uri}})).await;
    }

    /// Sends a request about the document under test.
    pub(crate) async fn ask(&mut self, method: &str) -> Result<Value, i64> {
        self.request(method, json!({"textDocument": {"uri": URI}})).await
    }

    /// Stops sending; returns the remaining messages and how the server ends.
    pub(crate) async fn hang_up(mut self) -> (Vec<Value>, Ending) {
        let mut stream = self.to_server.take().expect("it has not hung up");
        stream.shutdown().await.expect("the stream is open");
        let mut rest: Vec<Value> = self.notes.drain(..).collect();
        while let Some(message) = self.receive().await {
            rest.push(message);
        }
        (rest, self.ended().await)
    }

    /// Waits for the server to end while the stream is still open.
    pub(crate) async fn ended(self) -> Ending {
        timeout(TIMEOUT, self.server).await.expect("it ends").expect("it does not panic")
    }

    /// Reads one message; `None` if the server has disconnected.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        timeout(TIMEOUT, self.read()).await.expect("a message comes, or the end")
    }

    async fn read(&mut self) -> Option<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.from_server.read_line(&mut line).await.expect("it can be read") == 0 {
                return None;
            }
            let line = line.strip_suffix("\r\n").expect("a header line ends with CR LF");
            if line.is_empty() {
                break;
            }
            let value = line.strip_prefix("Content-Length: ").expect("the one header we need");
            length = Some(value.parse().expect("a length is a number"));
        }
        let mut body = vec![0; length.expect("a message has a length")];
        self.from_server.read_exact(&mut body).await.expect("a message comes whole");
        Some(serde_json::from_slice(&body).expect("the server sends JSON"))
    }
}

/// Renders published diagnostics: the version, then one line for each.
pub(crate) fn render_published(params: &Value) -> String {
    let version =
        params.get("version").map_or("no version".to_owned(), |it| format!("version {it}"));
    let items = params["diagnostics"].as_array().expect("a list of diagnostics");
    version + "\n" + &list(items)
}

/// Renders diagnostics, one line for each, with its help below.
pub(crate) fn list(items: &[Value]) -> String {
    items.iter().map(line).collect()
}

fn line(item: &Value) -> String {
    let severity = ["error", "warning", "information", "hint"]
        [item["severity"].as_u64().expect("a severity") as usize - 1];
    let text = |key: &str| item[key].as_str().expect("a text").to_owned();
    let message = text("message").replace('\n', "\n  ");
    format!("{} {severity} {} {}: {message}\n", range(&item["range"]), text("source"), text("code"))
}

/// Renders a range as `line:column-line:column`, counted from zero.
pub(crate) fn range(range: &Value) -> String {
    let place = |key: &str| format!("{}:{}", range[key]["line"], range[key]["character"]);
    format!("{}-{}", place("start"), place("end"))
}
