//! One client's connection: messages from its stream to the service, answers and notes back.
//!
//! Messages are handed to the service one by one, in the order of the wire; what comes of them is
//! worked on at the same time. In place of tower-lsp's own loop, because that one ends at the first
//! message that is not JSON, and at `exit` waits for a client that no longer reads.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::BoxFuture;
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde_json::Value;
use skills_protocol::frame::{Frame, FrameCodec, Framing};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::codec::FramedRead;
use tower::Service;
use tower_lsp::ClientSocket;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::ls_types::notification::{Exit, Notification};
use tower_lsp::ls_types::request::{Initialize, Request as _};

use crate::session::Session;
use crate::uri_mapper::UriMapper;

/// The longest message taken; an editor sends whole texts, and texts of 50 MB are no skills.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How many requests are worked on at once; with more of them reading stops.
const MAX_IN_FLIGHT: usize = 256;

/// How many answers wait for a client that does not read before work on others stops.
const OUTBOX: usize = 64;

/// How long the client may take to read what is left when it ends.
const GRACE: Duration = Duration::from_secs(1);

/// A client's two streams, and what they are connected to.
pub(crate) struct Connection<'s, I, O> {
    pub(crate) input: I,
    pub(crate) output: O,
    pub(crate) socket: ClientSocket,
    pub(crate) session: &'s Session,
}

/// Why reading stopped.
enum Stop {
    /// The client said `exit`.
    Exit,
    /// The stream ended or broke.
    EndOfInput,
}

impl<I, O> Connection<'_, I, O>
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    /// Serves until the client says `exit` or hangs up. `beside` runs beside it.
    pub(crate) async fn run<S>(
        self,
        service: S,
        beside: impl IntoIterator<Item = BoxFuture<'static, ()>>,
    ) where
        S: Service<Request, Response = Option<Response>>,
        S::Future: Send + 'static,
        S::Error: Send + 'static,
    {
        let (notes, answers) = self.socket.split();
        let (outbox, posted) = mpsc::channel(OUTBOX);
        let spelling = Arc::<UriMapper>::default();
        let mut writer = tokio::spawn(write(self.output, posted, notes, Arc::clone(&spelling)));
        let mut tasks = JoinSet::new();
        for task in beside {
            tasks.spawn(task);
        }
        let mut reader = Reader { service, answers, outbox, tasks, spelling };
        let stop = tokio::select! {
            stop = reader.read(self.input) => stop,
            // The client reads no more, so there is nothing left to do for it.
            _ = &mut writer => return,
        };
        let Reader { service, answers, outbox, mut tasks, .. } = reader;
        // The writer ends when all who could send something have gone.
        drop((service, answers, outbox));
        match stop {
            Stop::Exit => tasks.abort_all(),
            Stop::EndOfInput => self.session.finish(),
        }
        let last = async {
            while tasks.join_next().await.is_some() {}
            // It has logged already why it failed.
            let _ = (&mut writer).await;
        };
        if tokio::time::timeout(GRACE, last).await.is_err() {
            tracing::warn!("the client did not read everything before it ended");
        }
        writer.abort();
    }
}

/// The half of a connection that takes messages in.
struct Reader<S, A> {
    service: S,
    /// Takes the client's answers to requests of ours.
    answers: A,
    outbox: mpsc::Sender<Response>,
    tasks: JoinSet<()>,
    /// How the client spells addresses.
    spelling: Arc<UriMapper>,
}

impl<S, A> Reader<S, A>
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
                Ok(Frame::Message(bytes)) => parse(&bytes, &self.spelling),
                Ok(Frame::TooLong { length }) => {
                    tracing::warn!(length, "skipped a message that is too long");
                    Incoming::Bad(Response::from_error(Id::Null, Error::invalid_request()))
                }
                Err(error) => {
                    tracing::error!(%error, "failed to read from the client");
                    return Stop::EndOfInput;
                }
            };
            match message {
                Incoming::Call(request) => {
                    if let Some(stop) = self.call(request).await {
                        return stop;
                    }
                }
                // Fails after `exit` only, and reading stops there.
                Incoming::Answer(response) => drop(self.answers.send(response).await),
                Incoming::Bad(response) => post(&self.outbox, response).await,
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
        // In the order of the wire: what changes a text has changed it when this returns.
        let answer = self.service.call(request);
        if is_exit {
            return Some(Stop::Exit);
        }
        let outbox = self.outbox.clone();
        let work = async move {
            if let Ok(Some(response)) = answer.await {
                post(&outbox, response).await;
            }
        };
        if is_initialize {
            // What a hasty client sends behind it depends on what is agreed in it.
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

/// A message of the client.
enum Incoming {
    Call(Request),
    Answer(Response),
    /// Not a message; what to say to it.
    Bad(Response),
}

fn parse(bytes: &[u8], spelling: &UriMapper) -> Incoming {
    let mut message: Value = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) => {
            tracing::warn!(%error, "received a message that is not JSON");
            return Incoming::Bad(Response::from_error(Id::Null, Error::parse_error()));
        }
    };
    spelling.take_in(&mut message);
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_answer = message.get("method").is_none();
    let read = if is_answer {
        serde_json::from_value(message).map(Incoming::Answer)
    } else {
        serde_json::from_value(message).map(Incoming::Call)
    };
    read.unwrap_or_else(|error| {
        tracing::warn!(%error, "received JSON that is not a message");
        Incoming::Bad(Response::from_error(id.unwrap_or_default(), Error::invalid_request()))
    })
}

async fn post(outbox: &mpsc::Sender<Response>, response: Response) {
    // Fails when the writer has, and then the connection ends.
    let _ = outbox.send(response).await;
}

/// Writes answers and notes until nobody is left to send any.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut posted: mpsc::Receiver<Response>,
    mut notes: impl futures_util::Stream<Item = Request> + Unpin,
    spelling: Arc<UriMapper>,
) {
    let mut buffer = BytesMut::new();
    loop {
        let message = tokio::select! {
            // Parts of an answer, and what is told of the work on it, come before it.
            biased;
            Some(note) = notes.next() => bytes(&note, &spelling),
            Some(response) = posted.recv() => bytes(&response, &spelling),
            else => break,
        };
        let message = message.expect("a message is made of JSON values");
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

/// Returns a message as it goes to the client.
fn bytes(message: &impl Serialize, spelling: &UriMapper) -> serde_json::Result<Vec<u8>> {
    if !spelling.is_own() {
        return serde_json::to_vec(message);
    }
    let mut message = serde_json::to_value(message)?;
    spelling.put_out(&mut message);
    serde_json::to_vec(&message)
}
