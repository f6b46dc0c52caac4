//! A blocking JSON-RPC client that shares no code with the product.
//!
//! It implements both framings independently, so that a fault in the product's codec is detected.
//! Notifications that arrive before an answer are kept for [`Wire::note`].

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::wait;

/// Framing of messages on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length: N`, a blank line, N bytes: the base protocol of LSP.
    Header,
    /// One message on each line, for shells.
    Lines,
}

/// An error response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// JSON-RPC's or skillsd's error code.
    pub code: i64,
    /// Message for people.
    pub message: String,
    /// Additional data, or null.
    pub data: Value,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}) {}", self.message, self.code, self.data)
    }
}

/// A connection to the daemon.
#[derive(Debug)]
pub struct Wire {
    socket: PathBuf,
    reader: BufReader<UnixStream>,
    framing: Framing,
    last_id: u64,
    notes: VecDeque<Value>,
}

impl Wire {
    /// Connects to the socket at `path`. Each read and write may take [`wait::DEADLINE`].
    pub fn connect(path: &Path, framing: Framing) -> io::Result<Wire> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(wait::DEADLINE))?;
        stream.set_write_timeout(Some(wait::DEADLINE))?;
        let (socket, reader) = (path.to_owned(), BufReader::new(stream));
        Ok(Wire { socket, reader, framing, last_id: 0, notes: VecDeque::new() })
    }

    /// Sets the read timeout.
    #[track_caller]
    pub fn set_timeout(&self, limit: Duration) {
        self.reader.get_ref().set_read_timeout(Some(limit)).expect("a socket takes a timeout");
    }

    /// Calls `method` and returns its result; panics on an error response.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        match self.try_call(method, params) {
            Ok(result) => result,
            Err(error) => panic!("`{method}` with {params} was refused: {error}"),
        }
    }

    /// Calls `method` and returns its result or its error.
    #[track_caller]
    pub fn try_call(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let id = self.start(method, params);
        self.answer(id)
    }

    /// Calls a granting `method` on a new connection to the consent socket; panics on an error
    /// response.
    #[track_caller]
    pub fn grant(&self, method: &str, params: &Value) -> Value {
        match self.try_grant(method, params) {
            Ok(result) => result,
            Err(error) => panic!("`{method}` with {params} was refused: {error}"),
        }
    }

    /// Calls a granting `method` on a new connection to the consent socket and returns its result
    /// or its error.
    #[track_caller]
    pub fn try_grant(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let socket = self.socket.with_file_name("v1-consent.sock");
        let mut wire = Wire::connect(&socket, Framing::Header).expect("the daemon listens there");
        wire.try_call(method, params)
    }

    /// Sends a call and returns its id, for [`answer`](Wire::answer).
    #[track_caller]
    pub fn start(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Reads until the response to call `id` arrives. Panics on a response to another call.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Result<Value, RpcError> {
        loop {
            let message = self.receive().expect("the daemon answers before it hangs up");
            if message.get("id").is_none() {
                self.notes.push_back(message);
                continue;
            }
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            assert_eq!(message["id"], id, "answers to another call: {message}");
            return outcome(&message);
        }
    }

    /// Returns the next notification: a kept one, or the next on the wire.
    #[track_caller]
    pub fn note(&mut self) -> Value {
        if let Some(note) = self.notes.pop_front() {
            return note;
        }
        let message = self.receive().expect("the daemon sends before it hangs up");
        assert!(message.get("id").is_none(), "an answer where a note was expected: {message}");
        message
    }

    /// Sends one message.
    #[track_caller]
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let framed = match self.framing {
            Framing::Header => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
            Framing::Lines => format!("{text}\n"),
        };
        self.send_bytes(framed.as_bytes()).expect("the daemon reads");
    }

    /// Sends raw bytes, for malformed messages.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Reads one message of any kind; `None` if the daemon hung up.
    #[track_caller]
    pub fn receive(&mut self) -> Option<Value> {
        let bytes = match self.framing {
            Framing::Header => self.read_headed(),
            Framing::Lines => self.read_line(),
        };
        let bytes = bytes.unwrap_or_else(|cause| panic!("failed to read an answer: {cause}"))?;
        Some(serde_json::from_slice(&bytes).expect("the daemon sends JSON"))
    }

    fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let n_read = self.reader.read_until(b'\n', &mut line)?;
        Ok((n_read > 0).then_some(line))
    }

    fn read_headed(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            assert!(line.ends_with("\r\n"), "a header line ends with CR LF: {line:?}");
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.trim_end().split_once(':').expect("a header has a colon");
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse().expect("a length is a number"));
            }
        }
        let mut body = vec![0; length.expect("a message has a length")];
        self.reader.read_exact(&mut body)?;
        Ok(Some(body))
    }
}

fn outcome(message: &Value) -> Result<Value, RpcError> {
    if let Some(result) = message.get("result") {
        assert!(message.get("error").is_none(), "both a result and an error: {message}");
        return Ok(result.clone());
    }
    let error = message.get("error").unwrap_or_else(|| panic!("neither: {message}"));
    Err(RpcError {
        code: error["code"].as_i64().expect("an error has a code"),
        message: error["message"].as_str().expect("an error has a message").to_owned(),
        data: error.get("data").cloned().unwrap_or(Value::Null),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a connection whose peer has already sent `answer`.
    fn peer(answer: &'static str) -> Wire {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
        theirs.write_all(answer.as_bytes()).expect("the pair is open");
        Wire {
            socket: PathBuf::new(),
            reader: BufReader::new(ours),
            framing: Framing::Header,
            last_id: 0,
            notes: VecDeque::new(),
        }
    }

    #[test]
    fn headers_are_read_in_any_order_and_notifications_kept() {
        let note = r#"{"jsonrpc":"2.0","method":"n"}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":3}"#;
        let text = format!(
            "Content-Type: x\r\nContent-Length: {}\r\n\r\n{note}content-length: {}\r\n\r\n{answer}",
            note.len(),
            answer.len()
        );
        let mut wire = peer(Box::leak(text.into_boxed_str()));
        wire.framing = Framing::Header;
        assert_eq!(wire.answer(1), Ok(json!(3)));
        assert_eq!(wire.note()["method"], "n");
    }

    #[test]
    fn error_response_keeps_code_and_data() {
        let mut wire =
            peer("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,\"message\":\"no\"}}\n");
        wire.framing = Framing::Lines;
        let error = wire.answer(1).expect_err("it is an error");
        assert_eq!((error.code, error.data), (-32001, Value::Null));
    }
}
