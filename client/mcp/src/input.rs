//! [`StdioTransport`]: messages on standard input and output, one a line.
//!
//! The library's own transport drops lines that are not JSON or too long, and answers others
//! without their id, so that a client would wait forever.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Stdout,
};
use tokio::sync::{Mutex, mpsc};

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Maximum number of lines that are read ahead.
const MAX_LINES_AHEAD: usize = 16;

type Message = RxJsonRpcMessage<RoleServer>;

/// The error for a line that is not a message, and the id of the request.
type Refused = (ErrorData, Option<RequestId>);

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The transport of the server.
pub(crate) struct StdioTransport {
    lines: mpsc::Receiver<Result<Message, Refused>>,
    output: Arc<Mutex<Stdout>>,
    /// The answer to a line that was not a message. The library may drop a call of `receive`
    /// before it ends.
    sending: Option<Sending>,
}

impl StdioTransport {
    /// Begins to read standard input.
    pub(crate) fn start() -> Self {
        let (sender, lines) = mpsc::channel(MAX_LINES_AHEAD);
        tokio::spawn(async move {
            let mut input = BufReader::new(tokio::io::stdin());
            let mut line = Vec::new();
            while let Ok(Some(is_whole)) = next_line(&mut input, &mut line).await {
                let read = if is_whole { read(&line) } else { Some(Err(too_long())) };
                if let Some(read) = read
                    && sender.send(read).await.is_err()
                {
                    return;
                }
            }
        });
        let output = Arc::new(Mutex::new(tokio::io::stdout()));
        Self { lines, output, sending: None }
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                sent.ok()?;
            }
            match self.lines.recv().await? {
                Ok(message) => return Some(message),
                Err((error, id)) => {
                    self.sending =
                        Some(Box::pin(self.send(TxJsonRpcMessage::<RoleServer>::error(error, id))));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close();
        Ok(())
    }
}

/// Reads the next line without its end. Returns false for one that is too long, whose rest is
/// dropped, and none at the end of the input.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    line.clear();
    let mut is_whole = true;
    loop {
        let mut part = (&mut *input).take(MAX_LINE as u64);
        if part.read_until(b'\n', line).await? == 0 {
            // The last line has no end, so it may be incomplete.
            return Ok(None);
        }
        if line.ends_with(b"\n") {
            line.pop();
            return Ok(Some(is_whole));
        }
        is_whole &= line.len() < MAX_LINE;
        if !is_whole {
            line.clear();
        }
    }
}

/// Reads a line; none if no answer is due.
fn read(line: &[u8]) -> Option<Result<Message, Refused>> {
    // A client may begin with a byte order mark.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(Ok(message)),
        Err(error) => refused(line, &error).map(Err),
    }
}

/// Members by which a message is answered. The others may be of any form and depth.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<IgnoredAny>,
}

fn refused(line: &[u8], error: &serde_json::Error) -> Option<Refused> {
    let invalid = format!("the message is not a valid MCP message: {error}");
    match serde_json::from_slice::<Envelope>(line) {
        // A notification of another protocol.
        Ok(Envelope { id: None, method: Some(_) }) => {
            tracing::debug!(%error, "ignoring a notification");
            None
        }
        Ok(Envelope { id, method }) => {
            // The id of a response is one of the server's own.
            let id = id.filter(|_| method.is_some());
            let id = id.and_then(|it| serde_json::from_value(it).ok());
            Some((ErrorData::invalid_request(invalid, None), id))
        }
        Err(other) if other.is_data() => Some((ErrorData::invalid_request(invalid, None), None)),
        Err(other) => {
            let text = format!("the message is not JSON: {other}");
            Some((ErrorData::parse_error(text, None), None))
        }
    }
}

fn too_long() -> Refused {
    let text = format!("the message is longer than {MAX_LINE} bytes");
    (ErrorData::invalid_request(text, None), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, code: i32, id: Option<RequestId>) {
        let Some(Err(found)) = read(line.as_bytes()) else { panic!("{line} is a message") };
        assert_eq!((found.0.code.0, found.1), (code, id), "{line}");
    }

    #[test]
    fn lines_that_are_no_messages_are_answered_with_the_id_of_the_request() {
        let id = |it: &str| Some(RequestId::String(it.into()));
        check("{bad json}", -32700, None);
        check("{\"jsonrpc\":\"2.0\",\"id\":1", -32700, None);
        check("5", -32600, None);
        check("[]", -32600, None);
        check(r#"{"jsonrpc":"2.0","id":"k","method":5}"#, -32600, id("k"));
        check(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None);
        check(r#"{"id":"k","method":"ping"}"#, -32600, id("k"));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let deep = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{deep},"id":"k"}}"#);
        check(&deep, -32600, id("k"));
    }

    #[test]
    fn notifications_and_blank_lines_are_not_answered() {
        assert!(read(b" \r").is_none());
        assert!(read(br#"{"method":"$/progress","params":5}"#).is_none());
        assert!(matches!(read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Some(Ok(_))));
    }

    #[tokio::test]
    async fn line_over_the_limit_is_dropped_and_the_next_one_is_read() {
        let text = format!("{}\nnext\nrest", "x".repeat(MAX_LINE + 1));
        let (mut input, mut line) = (text.as_bytes(), Vec::new());
        assert_eq!(next_line(&mut input, &mut line).await.unwrap(), Some(false));
        assert_eq!(next_line(&mut input, &mut line).await.unwrap(), Some(true));
        assert_eq!(line, b"next");
        assert_eq!(next_line(&mut input, &mut line).await.unwrap(), None);
    }
}
