//! Blocking connection ([`BlockingConnection`]) for a process that makes a few calls and exits.
//!
//! Requests are collected and written together when the first answer is awaited, so that several
//! calls cost one round trip. Uses no thread and no runtime.
//! Invariant: answers that arrive early are kept, so callers may receive them in any order.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;
use serde::Serialize;
use serde_json::value::RawValue;
use skills_protocol::error::RpcError;
use skills_protocol::frame::{Frame, FrameCodec, FrameError, Framing};
use skills_protocol::message::{Call, Incoming, RequestId};
use skills_protocol::method::Request;
use tokio_util::codec::Decoder;

use crate::ClientError;
use crate::error::{params_json, parse};

/// Default time limit for an answer. Indexing a very large worktree takes seconds.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// Size limit of an answer in bytes; the daemon's own limit is far lower.
pub(crate) const MAX_ANSWER: usize = 64 * 1024 * 1024;

const CHUNK: usize = 64 * 1024;

/// A stream in both directions.
pub trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// A connection to a daemon, or to a server in the same process.
pub struct BlockingConnection<S> {
    stream: S,
    codec: FrameCodec,
    // Bytes read but not decoded.
    incoming: BytesMut,
    // Bytes queued but not written.
    outgoing: BytesMut,
    next_id: i64,
    answers: HashMap<i64, Result<Box<RawValue>, RpcError>>,
}

/// Queued call that awaits its answer.
#[must_use = "the answer is only read by `receive`"]
#[derive(Debug)]
pub struct Sent {
    id: i64,
    method: &'static str,
}

impl Sent {
    /// Returns the name of the method.
    pub fn method(&self) -> &'static str {
        self.method
    }
}

impl BlockingConnection<UnixStream> {
    /// Returns a connection over a socket, with [`TIMEOUT`] as the time limit of every answer.
    pub fn over_socket(stream: UnixStream) -> Result<Self, ClientError> {
        set_timeout(&stream, Some(TIMEOUT))?;
        Ok(Self::new(stream))
    }
}

/// Sets the time limit of reads and writes of a socket; `None` waits for ever.
pub fn set_timeout(stream: &UnixStream, timeout: Option<Duration>) -> io::Result<()> {
    stream.set_read_timeout(timeout)?;
    stream.set_write_timeout(timeout)
}

impl<S: Stream> BlockingConnection<S> {
    /// Returns a connection over this stream.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            codec: FrameCodec::new(Framing::ContentLength, MAX_ANSWER),
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            next_id: 1,
            answers: HashMap::new(),
        }
    }

    /// Calls a method and returns its result.
    pub fn call<M: Request>(&mut self, params: &M::Params) -> Result<M::Result, ClientError> {
        let sent = self.send::<M>(params)?;
        self.receive::<M>(sent)
    }

    /// Queues a call; it is written when an answer is awaited.
    pub fn send<M: Request>(&mut self, params: &M::Params) -> Result<Sent, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let params = params_json::<M>(params)?;
        put(
            &Call::request(RequestId::Number(id), M::METHOD, &*params),
            M::METHOD,
            &mut self.outgoing,
        )?;
        Ok(Sent { id, method: M::METHOD })
    }

    /// Waits for the answer to a call.
    pub fn receive<M: Request>(&mut self, sent: Sent) -> Result<M::Result, ClientError> {
        parse::<M>(&self.receive_text(sent)?)
    }

    /// Waits for the answer to a call and returns its result as raw JSON.
    pub fn receive_text(&mut self, sent: Sent) -> Result<Box<RawValue>, ClientError> {
        self.receive_text_with(sent, &mut || ())
    }

    /// Waits for an answer like [`Self::receive_text`], and calls `before_read` before each read of
    /// the stream, which may wait.
    #[expect(clippy::needless_pass_by_value, reason = "an answer comes once")]
    pub fn receive_text_with(
        &mut self,
        sent: Sent,
        before_read: &mut dyn FnMut(),
    ) -> Result<Box<RawValue>, ClientError> {
        self.flush()?;
        loop {
            if let Some(answer) = self.answers.remove(&sent.id) {
                return answer.map_err(ClientError::Rpc);
            }
            let message = self.read_message(before_read)?;
            let incoming: Incoming = serde_json::from_slice(&message)
                .map_err(|source| ClientError::Form { method: sent.method, source })?;
            self.store_answer(incoming)?;
        }
    }

    /// Waits until the other side closes the connection.
    pub fn wait_for_end(&mut self) -> Result<(), ClientError> {
        self.flush()?;
        loop {
            match self.read_message(&mut || ()) {
                Ok(_) => {}
                Err(error) if error.is_broken_connection() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn store_answer(&mut self, incoming: Incoming) -> Result<(), ClientError> {
        let outcome = match (incoming.result, incoming.error) {
            (_, Some(error)) => Err(error),
            (Some(result), None) => Ok(result),
            // Notifications are ignored.
            (None, None) => return Ok(()),
        };
        match (incoming.id, outcome) {
            (Some(RequestId::Number(id)), outcome) => {
                self.answers.insert(id, outcome);
                Ok(())
            }
            // An error without an id: the daemon could not read the request.
            (_, Err(error)) => Err(error.into()),
            (_, Ok(_)) => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        if self.outgoing.is_empty() {
            return Ok(());
        }
        let written = self.stream.write_all(&self.outgoing).and_then(|()| self.stream.flush());
        self.outgoing.clear();
        match written.map_err(connection_error) {
            // The server may have sent an error before it closed the connection; reading finds out.
            Ok(()) | Err(ClientError::Closed) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read_message(&mut self, before_read: &mut dyn FnMut()) -> Result<bytes::Bytes, ClientError> {
        loop {
            match self.codec.decode(&mut self.incoming)? {
                Some(Frame::Message(message)) => return Ok(message),
                Some(Frame::TooLong { length }) => return Err(ClientError::TooLarge { length }),
                None => {}
            }
            let filled = self.incoming.len();
            self.incoming.resize(filled + CHUNK, 0);
            before_read();
            let read = self.stream.read(&mut self.incoming[filled..]);
            self.incoming.truncate(filled + read.as_ref().map_or(0, |n| *n));
            match read {
                Ok(0) if self.incoming.is_empty() => return Err(ClientError::Closed),
                Ok(0) => return Err(FrameError::Truncated.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(connection_error(error)),
            }
        }
    }
}

/// Appends a framed message to `out`.
pub(crate) fn put<P: Serialize + ?Sized>(
    call: &Call<'_, P>,
    method: &'static str,
    out: &mut BytesMut,
) -> Result<(), ClientError> {
    let message =
        serde_json::to_vec(call).map_err(|source| ClientError::Form { method, source })?;
    Framing::ContentLength.put(&message, out);
    Ok(())
}

fn connection_error(error: io::Error) -> ClientError {
    match error.kind() {
        // Error kinds of a socket timeout; they differ between systems.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            ClientError::Silent { pid: None, waited: None }
        }
        io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::UnexpectedEof => ClientError::Closed,
        _ => ClientError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skills_protocol::error::{SKILL_NOT_FOUND, TOO_LARGE};
    use skills_protocol::method::{ServerSync, SkillsGet};
    use skills_protocol::wire::{GetParams, SyncParams};

    use super::*;
    use crate::script::{answer, refusal, serve};

    #[test]
    fn answers_out_of_order_reach_their_calls() {
        let mut first = None;
        let (stream, asked) = serve(move |message| {
            // The first is answered after the second, with a notification between them.
            let clock = json!({"clock": format!("c{}", message["id"])});
            match first.take() {
                None => {
                    first = Some(answer(message, &clock));
                    Vec::new()
                }
                Some(first) => vec![
                    answer(message, &clock),
                    json!({"jsonrpc": "2.0", "method": "events/event", "params": {}}),
                    first,
                ],
            }
        });
        let mut connection = BlockingConnection::over_socket(stream).expect("a socket");
        let one = connection.send::<ServerSync>(&SyncParams::default()).expect("queued");
        let two = connection.send::<ServerSync>(&SyncParams::default()).expect("queued");
        assert_eq!(connection.receive::<ServerSync>(one).expect("answered").clock, "c1");
        assert_eq!(connection.receive::<ServerSync>(two).expect("answered").clock, "c2");
        let methods: Vec<_> = asked.try_iter().map(|message| message["method"].clone()).collect();
        assert_eq!(methods, ["server/sync", "server/sync"]);
    }

    #[test]
    fn error_response_keeps_its_code() {
        let (stream, _asked) = serve(|message| vec![refusal(message, SKILL_NOT_FOUND, "none")]);
        let mut connection = BlockingConnection::new(stream);
        let error = connection.call::<SkillsGet>(&GetParams::default());
        assert!(matches!(error, Err(ClientError::Rpc(error)) if error.code == SKILL_NOT_FOUND));
    }

    #[test]
    fn error_response_without_id_ends_the_wait() {
        let (stream, _asked) = serve(|_| {
            vec![
                json!({"jsonrpc": "2.0", "id": null, "error": {"code": TOO_LARGE, "message": "m"}}),
            ]
        });
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(error, Err(ClientError::Rpc(error)) if error.code == TOO_LARGE));
    }

    #[test]
    fn malformed_answer_names_the_method() {
        let (stream, _asked) = serve(|message| vec![answer(message, &json!([]))]);
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(error, Err(ClientError::Form { method: "server/sync", .. })));
    }

    #[test]
    fn closed_stream_is_reported_as_closed() {
        let (stream, server) = UnixStream::pair().expect("a pair");
        drop(server);
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(error, Err(ClientError::Closed)), "{error:?}");

        let (stream, mut server) = UnixStream::pair().expect("a pair");
        server.write_all(b"Content-Length: 9\r\n\r\n{").expect("written");
        server.shutdown(std::net::Shutdown::Write).expect("shut");
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(error, Err(ClientError::Frame(FrameError::Truncated))), "{error:?}");
    }

    #[test]
    fn error_response_before_close_is_received() {
        let (stream, mut server) = UnixStream::pair().expect("a pair");
        let refusal = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32010,"message":"full"}}"#;
        let mut text = BytesMut::new();
        Framing::ContentLength.put(refusal, &mut text);
        server.write_all(&text).expect("written");
        drop(server);
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(&error, Err(ClientError::Rpc(it)) if it.code == -32010), "{error:?}");
    }

    #[test]
    fn silent_server_times_out() {
        let (stream, _server) = UnixStream::pair().expect("a pair");
        stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket");
        let error = BlockingConnection::new(stream).call::<ServerSync>(&SyncParams::default());
        assert!(matches!(error, Err(ClientError::Silent { .. })), "{error:?}");
    }

    #[test]
    fn wait_for_end_ignores_late_messages() {
        let (stream, mut server) = UnixStream::pair().expect("a pair");
        let mut note = BytesMut::new();
        Framing::ContentLength.put(br#"{"method":"x"}"#, &mut note);
        server.write_all(&note).expect("written");
        drop(server);
        BlockingConnection::new(stream).wait_for_end().expect("an end");
    }
}
