//! A test editor: an LSP client over a `skillsd lsp` process or the editor socket.

#![expect(clippy::needless_pass_by_value, reason = "parameters are made where they are sent")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::Home;

use crate::support::skillsd;

const TIMEOUT: Duration = Duration::from_secs(30);

/// An LSP client with its own server.
pub(crate) struct Editor {
    child: Option<Child>,
    input: Box<dyn Write>,
    messages: Receiver<Value>,
    last_id: u64,
    versions: BTreeMap<PathBuf, i32>,
    /// The last published diagnostics of each file.
    published: BTreeMap<PathBuf, Value>,
    /// The answer to `workspace/configuration`.
    pub(crate) configured: Value,
    /// Methods of the server's requests and notifications, in order of arrival.
    pub(crate) received_methods: Vec<String>,
    /// Timeout for an answer or for expected diagnostics.
    timeout: Duration,
}

/// Returns the URI of a file.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Client capability for code action literals.
pub(crate) fn code_action_literals() -> Value {
    json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}}})
}

/// Capabilities of an editor that supports everything.
pub(crate) fn full_capabilities() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16"]},
        "textDocument": {"codeAction": code_action_literals()},
        "workspace": {
            "configuration": true,
            "applyEdit": true,
            "didChangeWatchedFiles": {"dynamicRegistration": true},
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "changeAnnotationSupport": {},
            },
        },
    })
}

impl Editor {
    /// Starts `skillsd lsp` for an editor with these folders and capabilities.
    #[track_caller]
    pub(crate) fn start(home: &Home, args: &[&str], folders: &[&Path], able: Value) -> Editor {
        let mut editor = Editor::spawn(home, args);
        editor.initialize(folders, able);
        editor
    }

    /// Starts `skillsd lsp`; the caller initializes.
    #[track_caller]
    pub(crate) fn spawn(home: &Home, args: &[&str]) -> Editor {
        Editor::run(&mut skillsd(home, &[&["lsp"], args].concat()))
    }

    /// Runs a command that serves on its standard streams; the caller initializes.
    #[track_caller]
    pub(crate) fn run(command: &mut Command) -> Editor {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("our program can be run");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let mut editor = Editor::over(Box::new(input), Box::new(output));
        editor.child = Some(child);
        editor
    }

    /// Connects over any pair of streams; the caller initializes.
    pub(crate) fn over(input: Box<dyn Write>, output: Box<dyn Read + Send>) -> Editor {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Editor {
            child: None,
            input,
            messages,
            last_id: 0,
            versions: BTreeMap::new(),
            published: BTreeMap::new(),
            configured: Value::Null,
            received_methods: Vec::new(),
            timeout: TIMEOUT,
        }
    }

    /// Sets the timeout.
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    #[track_caller]
    pub(crate) fn initialize(&mut self, folders: &[&Path], able: Value) {
        self.initialize_with(folders, able, Value::Null);
    }

    /// Initializes with `initializationOptions`.
    #[track_caller]
    pub(crate) fn initialize_with(&mut self, folders: &[&Path], able: Value, options: Value) {
        let folders: Vec<_> =
            folders.iter().map(|it| json!({"uri": uri(it), "name": "w"})).collect();
        let params = json!({"processId": null, "rootUri": null, "workspaceFolders": folders, "capabilities": able, "initializationOptions": options});
        self.request("initialize", params).expect("it is served");
        self.note("initialized", json!({}));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    pub(crate) fn note(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its result, or the error's message.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.begin(method, params);
        self.answer(id).map_err(|error| error["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a request and returns its id without waiting.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the response to this request: its result, or its error.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let deadline = Instant::now() + self.timeout;
        loop {
            let message = self.receive(deadline).unwrap_or_else(|| panic!("no answer to {id}"));
            if message.get("method").is_none() && message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// Reads the next message, answers it if it is a request, and stores published diagnostics.
    fn receive(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).ok()?;
        if let Some(method) = message["method"].as_str() {
            self.received_methods.push(method.to_owned());
            if method == "textDocument/publishDiagnostics" {
                let uri = message["params"]["uri"].as_str().expect("an address");
                let path = PathBuf::from(uri.trim_start_matches("file://"));
                self.published.insert(path, message["params"].clone());
            }
            if let Some(id) = message.get("id") {
                let result = match method {
                    "workspace/configuration" => json!([self.configured]),
                    _ => Value::Null,
                };
                self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
        }
        Some(message)
    }

    /// Opens a file with its content on disk.
    #[track_caller]
    pub(crate) fn open(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("it is there");
        self.open_new(path, &text);
    }

    /// Opens a document with any text.
    #[track_caller]
    pub(crate) fn open_new(&mut self, path: &Path, text: &str) {
        self.versions.insert(path.to_owned(), 1);
        let item = json!({"uri": uri(path), "languageId": "markdown", "version": 1, "text": text});
        self.note("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Replaces the text of an open document.
    #[track_caller]
    pub(crate) fn edit(&mut self, path: &Path, text: &str) {
        let version = self.versions.get_mut(path).expect("it is open");
        *version += 1;
        let document = json!({"uri": uri(path), "version": *version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.note("textDocument/didChange", params);
    }

    /// Writes an open document to disk and sends `didSave`.
    #[track_caller]
    pub(crate) fn save(&mut self, path: &Path, text: &str) {
        fs::write(path, text).expect("it can be written");
        self.note("textDocument/didSave", json!({"textDocument": {"uri": uri(path)}}));
    }

    /// Sends a request about a position in a file.
    #[track_caller]
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &Path,
        place: (u32, u32),
        more: Value,
    ) -> Result<Value, String> {
        let position = json!({"line": place.0, "character": place.1});
        let mut params = json!({"textDocument": {"uri": uri(path)}, "position": position});
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        self.request(method, params)
    }

    /// Waits until the diagnostics of these rule families for a file are exactly these. A
    /// diagnostic is its code, followed by the directory of each related file.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, path: &Path, families: &[&str], expected: &[&str]) {
        let deadline = Instant::now() + self.timeout;
        loop {
            let found = self.findings(path, families);
            if found == expected {
                return;
            }
            let is_more = self.receive(deadline).is_some();
            assert!(is_more, "{}: expected {expected:?}, not {found:?}", path.display());
        }
    }

    /// Waits until the server has sent this method.
    #[track_caller]
    pub(crate) fn wait_for_method(&mut self, method: &str) {
        self.wait_for_method_times(method, 1);
    }

    /// Waits until the server has sent this method `times` times.
    #[track_caller]
    pub(crate) fn wait_for_method_times(&mut self, method: &str, times: usize) {
        let deadline = Instant::now() + self.timeout;
        while self.received_methods.iter().filter(|it| *it == method).count() < times {
            assert!(self.receive(deadline).is_some(), "no {method}: {:?}", self.received_methods);
        }
    }

    /// Returns the last published diagnostics of these families for a file.
    pub(crate) fn findings(&self, path: &Path, families: &[&str]) -> Vec<String> {
        let Some(published) = self.published.get(path) else { return vec!["nothing yet".into()] };
        let items = published["diagnostics"].as_array().expect("a list");
        let shown = items.iter().filter_map(|it| {
            let code = it["code"].as_str().expect("a text");
            if !families.iter().any(|family| code.starts_with(family)) {
                return None;
            }
            let related = it["relatedInformation"].as_array().into_iter().flatten();
            let related = related.map(|it| {
                let uri = it["location"]["uri"].as_str().expect("an address");
                format!(" -> {}", uri.rsplit('/').nth(1).expect("it has a directory"))
            });
            Some(format!("{code}{}", related.collect::<String>()))
        });
        shown.collect()
    }

    /// Returns the last published diagnostics of a file.
    pub(crate) fn diagnostics(&self, path: &Path) -> Vec<Value> {
        let found = self.published.get(path).and_then(|it| it["diagnostics"].as_array());
        found.cloned().unwrap_or_default()
    }

    /// Returns the position one column into the first occurrence of `text` in a file on disk.
    #[track_caller]
    pub(crate) fn place(path: &Path, text: &str) -> (u32, u32) {
        let whole = fs::read_to_string(path).expect("it is there");
        let at = whole.find(text).unwrap_or_else(|| panic!("no {text:?} in {}", path.display()));
        let line = whole[..at].matches('\n').count();
        let column = whole[..at].rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        (u32::try_from(line).expect("few"), u32::try_from(column + 1).expect("few"))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Both fail if the process has already exited, which is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        length = line.trim_end().strip_prefix("Content-Length: ")?.parse().ok()?;
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
