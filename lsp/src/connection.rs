//! The connection to one client: reads its messages and writes responses and notifications.
//!
//! Messages are passed to the service one at a time, in wire order; the resulting futures run
//! concurrently. tower-lsp's own loop is not used because it ends at the first message that is not
//! JSON, and at `exit` waits for a client that no longer reads. Reading does not wait for a client
//! that does not read yet: such a client may itself be waiting to write.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::BoxFuture;
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use skills_protocol::frame::{Frame, FrameCodec, Framing};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::codec::FramedRead;
use tower::Service;
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::ls_types::notification::{Exit, Notification};
use tower_lsp::ls_types::request::{Initialize, Request as _};

use crate::lenient;
use crate::session::Session;
use crate::uri_mapper::UriMapper;

/// The maximum length of a message. An editor sends whole documents, but none of 50 MB is a skill.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// The maximum number of requests in flight; reading stops while there are more.
const MAX_IN_FLIGHT: usize = 256;

/// The maximum size of the responses queued for a client that does not read, in bytes; then their
/// requests stay in flight.
const OUTBOX_BYTES: usize = 64 * 1024 * 1024;

/// Time limit for the client to read the remaining messages at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) type Input = Box<dyn AsyncRead + Unpin + Send>;
pub(crate) type Output = Box<dyn AsyncWrite + Unpin + Send>;

/// A client's two streams and the session they serve.
pub(crate) struct Connection<'s> {
    pub(crate) input: Input,
    pub(crate) output: Output,
    pub(crate) socket: ClientSocket,
    pub(crate) session: &'s Session,
}

/// The reason why reading stopped.
enum Stop {
    /// The client sent `exit`.
    Exit,
    /// The stream ended or failed, or the client's process has ended.
    EndOfInput,
}

impl Connection<'_> {
    /// Serves until the client sends `exit` or disconnects. Runs the `background` tasks meanwhile.
    pub(crate) async fn run<S>(
        self,
        service: S,
        background: impl IntoIterator<Item = BoxFuture<'static, ()>>,
    ) where
        S: Service<Request, Response = Option<Response>>,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
    {
        let (notes, answers) = self.socket.split();
        let uris = Arc::<UriMapper>::default();
        let (outbox, responses) = Outbox::new(Arc::clone(&uris));
        let mut writer = tokio::spawn(write(self.output, responses, notes, Arc::clone(&uris)));
        let mut tasks = JoinSet::new();
        for task in background {
            tasks.spawn(task);
        }
        let mut reader = MessageReader { service, answers, outbox, tasks, uris };
        let stop = tokio::select! {
            stop = reader.read(self.input) => stop,
            () = self.session.client_process_ended() => Stop::EndOfInput,
            // The client does not read any more, so there is nothing left to do.
            _ = &mut writer => return,
        };
        let MessageReader { service, answers, outbox, mut tasks, .. } = reader;
        // The writer ends when all senders are dropped.
        drop((service, answers, outbox));
        match stop {
            Stop::Exit => tasks.abort_all(),
            Stop::EndOfInput => self.session.finish(),
        }
        let last = async {
            while tasks.join_next().await.is_some() {}
            // The writer has already logged its error.
            let _ = (&mut writer).await;
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, last).await.is_err() {
            tracing::warn!("the client disconnected before it read all messages");
        }
        writer.abort();
    }
}

/// The reading half of a connection.
struct MessageReader<S, A> {
    service: S,
    /// Receives the client's responses to the server's requests.
    answers: A,
    outbox: Outbox,
    tasks: JoinSet<()>,
    /// Maps between the client's URIs and percent-encoded ones.
    uris: Arc<UriMapper>,
}

impl<S, A> MessageReader<S, A>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    A: futures_util::Sink<Response> + Unpin,
{
    async fn read(&mut self, input: impl AsyncRead + Unpin) -> Stop {
        let mut frames =
            FramedRead::new(input, FrameCodec::new(Framing::ContentLength, MAX_MESSAGE));
        while let Some(frame) = frames.next().await {
            let message = match frame {
                Ok(Frame::Message(bytes)) => parse(&bytes, &self.uris),
                Ok(Frame::TooLong { length }) => {
                    tracing::warn!(length, "skipped a message above the length limit");
                    ClientMessage::Invalid(Response::from_error(Id::Null, Error::invalid_request()))
                }
                Err(error) => {
                    tracing::error!(%error, "failed to read from the client");
                    return Stop::EndOfInput;
                }
            };
            match message {
                ClientMessage::Call(request) => {
                    if let Some(stop) = self.call(request).await {
                        return stop;
                    }
                }
                // Fails only after `exit`, when reading has stopped.
                ClientMessage::Answer(response) => drop(self.answers.send(response).await),
                ClientMessage::Invalid(response) => self.outbox.send(&response).await,
            }
        }
        Stop::EndOfInput
    }

    async fn call(&mut self, request: Request) -> Option<Stop> {
        let is_exit = request.method() == Exit::METHOD;
        let is_initialize = request.method() == Initialize::METHOD;
        if poll_fn(|cx| self.service.poll_ready(cx)).await.is_err() {
            return Some(Stop::Exit);
        }
        let invalid = request.id().and_then(|_| lenient::invalid_param(request.params()?));
        // Called in wire order: a change is applied when this returns.
        let answer = self.service.call(request);
        if is_exit {
            return Some(Stop::Exit);
        }
        let outbox = self.outbox.clone();
        let work = async move {
            if let Ok(Some(response)) = answer.await {
                outbox.send(&name_invalid_param(invalid.as_deref(), response)).await;
            }
        };
        if is_initialize {
            // A client may send more requests before the response; they depend on the settings
            // agreed in `initialize`.
            work.await;
        } else {
            self.tasks.spawn(work);
        }
        while self.tasks.try_join_next().is_some() {}
        while self.tasks.len() > MAX_IN_FLIGHT {
            self.tasks.join_next().await;
        }
        None
    }
}

/// Adds the name of the invalid parameter to an error response, which the library's text lacks.
fn name_invalid_param(invalid: Option<&str>, response: Response) -> Response {
    let (id, result) = response.into_parts();
    let result = result.map_err(|error| match invalid {
        Some(param) if error.code == ErrorCode::InvalidParams => {
            let message = format!("`{param}` is invalid: {}", error.message);
            Error { message: message.into(), ..error }
        }
        _ => error,
    });
    Response::from_parts(id, result)
}

/// A message from the client.
enum ClientMessage {
    Call(Request),
    Answer(Response),
    /// Not a valid message; holds the error response.
    Invalid(Response),
}

fn parse(bytes: &[u8], uris: &UriMapper) -> ClientMessage {
    let mut message = match lenient::parse(bytes) {
        Ok(message) => message,
        Err(error) => {
            tracing::warn!(%error, "received a message that is not JSON");
            return ClientMessage::Invalid(Response::from_error(Id::Null, Error::parse_error()));
        }
    };
    uris.map_incoming(&mut message);
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_answer = message.get("method").is_none();
    let read = if is_answer {
        serde_json::from_value(message).map(ClientMessage::Answer)
    } else {
        serde_json::from_value(message).map(ClientMessage::Call)
    };
    read.unwrap_or_else(|error| {
        tracing::warn!(%error, "received JSON that is not an LSP message");
        ClientMessage::Invalid(Response::from_error(
            id.unwrap_or_default(),
            Error::invalid_request(),
        ))
    })
}

/// A serialized response, and its share of the outbox.
type QueuedResponse = (Vec<u8>, OwnedSemaphorePermit);

/// The queue of responses, bounded by their size.
#[derive(Clone)]
struct Outbox {
    responses: mpsc::UnboundedSender<QueuedResponse>,
    free_bytes: Arc<Semaphore>,
    uris: Arc<UriMapper>,
}

impl Outbox {
    fn new(uris: Arc<UriMapper>) -> (Self, mpsc::UnboundedReceiver<QueuedResponse>) {
        let (responses, queued) = mpsc::unbounded_channel();
        (Self { responses, free_bytes: Arc::new(Semaphore::new(OUTBOX_BYTES)), uris }, queued)
    }

    /// Queues a response; waits only while the queue is full.
    async fn send(&self, response: &Response) {
        let message = serialize(response, &self.uris);
        // A response above the limit takes the whole queue.
        let size = message.len().min(OUTBOX_BYTES) as u32;
        // Never closed.
        let Ok(share) = Arc::clone(&self.free_bytes).acquire_many_owned(size).await else { return };
        // Fails only if the writer has failed; the connection then ends.
        let _ = self.responses.send((message, share));
    }
}

/// Writes responses and notifications until all senders are dropped.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut responses: mpsc::UnboundedReceiver<QueuedResponse>,
    mut notes: impl futures_util::Stream<Item = Request> + Unpin,
    uris: Arc<UriMapper>,
) {
    let mut buffer = BytesMut::new();
    loop {
        let (message, _share) = tokio::select! {
            // Partial results and progress must be written before the response they belong to.
            biased;
            Some(note) = notes.next() => (serialize(&note, &uris), None),
            Some((message, share)) = responses.recv() => (message, Some(share)),
            else => break,
        };
        buffer.clear();
        Framing::ContentLength.put(&message, &mut buffer);
        let written = async {
            output.write_all(&buffer).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "failed to write to the client");
            return;
        }
    }
}

/// Serializes a message, with URIs in the client's form.
fn serialize(message: &impl Serialize, uris: &UriMapper) -> Vec<u8> {
    let serialized = if uris.has_mappings() {
        serde_json::to_value(message).and_then(|mut message| {
            uris.map_outgoing(&mut message);
            serde_json::to_vec(&message)
        })
    } else {
        serde_json::to_vec(message)
    };
    serialized.expect("a message is made of JSON values")
}
