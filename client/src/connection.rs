//! An asynchronous connection: many calls at once over one stream, in any order.
//!
//! One task writes, one task reads; callers meet them through a table of waiting calls. Works over
//! anything that reads and writes, so also over an in-memory stream to a server in this process.
//! Invariant: a call leaves the table exactly once: answered, cancelled by dropping its future, or
//! failed with the connection.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use skills_protocol::error::RpcError;
use skills_protocol::frame::{Frame, FrameCodec, Framing};
use skills_protocol::message::{Call, Incoming, RequestId};
use skills_protocol::method::{CancelRequest, Notification, Request};
use skills_protocol::wire::CancelParams;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::codec::FramedRead;

use crate::ClientError;
use crate::blocking::{MAX_ANSWER, put};

/// Messages that wait to be written; beyond it callers wait.
const OUTBOX: usize = 64;

/// A connection to a daemon, or to a server in the same process. Clones share it.
///
/// It closes when the last clone is dropped.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<Bytes>,
}

/// A notification that the server sent.
#[derive(Debug)]
pub struct Note {
    /// Its name.
    pub method: String,
    /// What it says.
    pub params: Option<Box<RawValue>>,
}

type Answer = Result<Box<RawValue>, RpcError>;

struct Shared {
    next_id: AtomicI64,
    // Never held across an await.
    state: Mutex<State>,
    noted: Notify,
}

#[derive(Default)]
struct State {
    closed: bool,
    waiting: HashMap<i64, oneshot::Sender<Answer>>,
    // The newest note of each subscription: notes only say that something changed, so an unread
    // one is replaced and a reader that lags costs no memory.
    notes: BTreeMap<(String, String), Option<Box<RawValue>>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change below is complete in itself, so a panic elsewhere breaks nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        // Dropping the senders tells every waiting call.
        state.waiting.clear();
        drop(state);
        self.noted.notify_waiters();
        self.noted.notify_one();
    }
}

impl Connection {
    /// Returns a connection over this stream. Needs a running tokio runtime.
    pub fn new<S>(stream: S) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (reader, writer) = tokio::io::split(stream);
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let shared = Arc::new(Shared {
            next_id: AtomicI64::new(1),
            state: Mutex::default(),
            noted: Notify::new(),
        });
        let reading = tokio::spawn(read(reader, Arc::clone(&shared)));
        let writing = Arc::clone(&shared);
        tokio::spawn(async move {
            write(writer, queue).await;
            writing.close();
            // The queue ends when nobody can call any more, so nobody waits for answers either.
            reading.abort();
        });
        Self { shared, outbox }
    }

    /// Calls a method. Dropping the future cancels the call.
    pub async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        let result = self.call_text::<M>(params).await?;
        serde_json::from_str(result.get())
            .map_err(|source| ClientError::Form { method: M::METHOD, source })
    }

    /// Calls a method and returns its result as it came. Dropping the future cancels the call.
    pub async fn call_text<M: Request>(
        &self,
        params: &M::Params,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let message = framed(&Call::request(RequestId::Number(id), M::METHOD, params), M::METHOD)?;
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if state.closed {
                return Err(ClientError::Closed);
            }
            state.waiting.insert(id, sender);
        }
        let mut guard = CancelOnDrop { connection: self, id, sent: false };
        self.outbox.send(message).await.map_err(|_| ClientError::Closed)?;
        guard.sent = true;
        let answer = receiver.await.map_err(|_| ClientError::Closed)?;
        answer.map_err(ClientError::Rpc)
    }

    /// Sends a notification.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), ClientError> {
        let message = framed(&Call::notification(N::METHOD, params), N::METHOD)?;
        self.outbox.send(message).await.map_err(|_| ClientError::Closed)
    }

    /// Waits for the next notification; `None` when the connection is closed and none is left.
    ///
    /// Of several unread ones of the same subscription only the newest is kept.
    pub async fn next_note(&self) -> Option<Note> {
        loop {
            {
                let mut state = self.shared.state();
                if let Some(((method, _), params)) = state.notes.pop_first() {
                    return Some(Note { method, params });
                }
                if state.closed {
                    return None;
                }
            }
            self.shared.noted.notified().await;
        }
    }

    /// Returns whether the other side has gone.
    pub fn is_closed(&self) -> bool {
        self.shared.state().closed
    }
}

/// Tells the server that nobody waits for an answer any more.
struct CancelOnDrop<'a> {
    connection: &'a Connection,
    id: i64,
    sent: bool,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let waited = self.connection.shared.state().waiting.remove(&self.id).is_some();
        if waited && self.sent {
            let params = CancelParams { id: RequestId::Number(self.id) };
            let call = Call::notification(CancelRequest::METHOD, &params);
            // With a full outbox the server works for nothing, which is all that a lost
            // cancellation costs; a drop cannot wait.
            if let Ok(message) = framed(&call, CancelRequest::METHOD) {
                let _ = self.connection.outbox.try_send(message);
            }
        }
    }
}

fn framed<P: serde::Serialize>(
    call: &Call<'_, P>,
    method: &'static str,
) -> Result<Bytes, ClientError> {
    let mut message = BytesMut::new();
    put(call, method, &mut message)?;
    Ok(message.freeze())
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut queue: mpsc::Receiver<Bytes>) {
    while let Some(message) = queue.recv().await {
        // A reader that fails as well tells the callers.
        if writer.write_all(&message).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    // The other side sees the end of the stream in any case.
    let _ = writer.shutdown().await;
}

async fn read<R: AsyncRead + Unpin>(reader: R, shared: Arc<Shared>) {
    let codec = FrameCodec::new(Framing::ContentLength, MAX_ANSWER);
    let mut frames = FramedRead::new(reader, codec);
    // An answer that is too long has an id that nobody can read: its caller could wait for ever.
    while let Some(Ok(Frame::Message(message))) = frames.next().await {
        let Ok(incoming) = serde_json::from_slice::<Incoming>(&message) else { break };
        deliver(incoming, &shared);
    }
    shared.close();
}

fn deliver(incoming: Incoming, shared: &Shared) {
    if let Some(method) = incoming.method {
        let subscription = incoming.params.as_deref().and_then(subscription).unwrap_or_default();
        shared.state().notes.insert((method, subscription), incoming.params);
        shared.noted.notify_one();
        return;
    }
    let answer = match (incoming.result, incoming.error) {
        (_, Some(error)) => Err(error),
        (Some(result), None) => Ok(result),
        (None, None) => return,
    };
    match (incoming.id, answer) {
        (Some(RequestId::Number(id)), answer) => {
            let waiting = shared.state().waiting.remove(&id);
            if let Some(sender) = waiting {
                // The caller has just gone.
                let _ = sender.send(answer);
            }
        }
        // The server could not tell which request it refuses, so every caller hears it.
        (_, Err(error)) => {
            let waiting = std::mem::take(&mut shared.state().waiting);
            for sender in waiting.into_values() {
                let _ = sender.send(Err(error.clone()));
            }
        }
        (_, Ok(_)) => {}
    }
}

fn subscription(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Subscribed {
        subscription: RequestId,
    }

    let subscribed: Subscribed = serde_json::from_str(params.get()).ok()?;
    Some(subscribed.subscription.to_string())
}
