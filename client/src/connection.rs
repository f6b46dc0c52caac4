//! Asynchronous connection ([`Connection`]): concurrent calls over one stream, answered in any
//! order.
//!
//! One task writes and one task reads; callers wait in a table of pending calls. Works over any
//! stream, including an in-memory stream to a server in this process.
//! Invariant: a call leaves the table exactly once: answered, cancelled by dropping its future, or
//! failed with the connection.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use skills_platform::lock::lock;
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
use crate::error::{params_json, parse};

/// Capacity of the queue of messages to write; callers wait when it is full.
const OUTBOX: usize = 64;

/// Connection to a daemon, or to a server in the same process. Clones share it.
///
/// Closes when the last clone is dropped.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
    outbox: mpsc::Sender<Bytes>,
}

/// Notification that the server sent.
#[derive(Debug)]
pub struct Note {
    /// Method name.
    pub method: String,
    /// Parameters as raw JSON.
    pub params: Option<Box<RawValue>>,
}

/// Key under which an unread notification replaces an older one: method, subscription and kind.
type NoteKey = (String, NoteSubject);

#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NoteSubject {
    subscription: String,
    kind: String,
}

type RawAnswer = Result<Box<RawValue>, RpcError>;

struct Shared {
    next_id: AtomicI64,
    // Never held across an await.
    state: Mutex<ConnectionState>,
    note_arrived: Notify,
    call_started: Notify,
}

#[derive(Default)]
struct ConnectionState {
    closed: bool,
    waiting: HashMap<i64, oneshot::Sender<RawAnswer>>,
    // The newest notification of each subscription and kind. A notification only says that
    // something changed, so an unread one is replaced and a slow reader costs no memory.
    notes: BTreeMap<NoteKey, Option<Box<RawValue>>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        lock(&self.state)
    }
    fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        // Dropping the senders fails every pending call.
        state.waiting.clear();
        drop(state);
        self.note_arrived.notify_waiters();
        self.call_started.notify_one();
    }
}

/// Reports whether calls of a connection are answered; does not keep the connection open.
pub(crate) struct CallMonitor(Arc<Shared>);

impl CallMonitor {
    /// Returns the id of the call that has waited longest for its answer.
    pub(crate) fn oldest_call(&self) -> Option<i64> {
        self.0.state().waiting.keys().min().copied()
    }

    /// Waits until a call is started or the connection is closed.
    pub(crate) async fn next_call(&self) {
        self.0.call_started.notified().await;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.state().closed
    }

    /// Closes the connection and fails every pending call.
    pub(crate) fn close(&self) {
        self.0.close();
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
            note_arrived: Notify::new(),
            call_started: Notify::new(),
        });
        let reading = tokio::spawn(read(reader, Arc::clone(&shared)));
        let writing = Arc::clone(&shared);
        tokio::spawn(async move {
            write(writer, queue).await;
            writing.close();
            // The queue ends when no caller is left, so no call waits for an answer either.
            reading.abort();
        });
        Self { shared, outbox }
    }

    /// Calls a method. Dropping the future cancels the call.
    pub async fn call<M: Request>(&self, params: &M::Params) -> Result<M::Result, ClientError> {
        parse::<M>(&self.call_text::<M>(params).await?)
    }

    /// Calls a method and returns its result as raw JSON. Dropping the future cancels the call.
    pub async fn call_text<M: Request>(
        &self,
        params: &M::Params,
    ) -> Result<Box<RawValue>, ClientError> {
        self.call_json(M::METHOD, &params_json::<M>(params)?).await
    }

    /// Calls a method with parameters in JSON and returns its result as raw JSON.
    pub(crate) async fn call_json(
        &self,
        method: &'static str,
        params: &RawValue,
    ) -> Result<Box<RawValue>, ClientError> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let message = framed(&Call::request(RequestId::Number(id), method, params), method)?;
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if state.closed {
                return Err(ClientError::Closed);
            }
            state.waiting.insert(id, sender);
        }
        self.shared.call_started.notify_one();
        let mut guard = CancelOnDrop { connection: self, id, sent: false };
        self.outbox.send(message).await.map_err(|_| ClientError::Closed)?;
        guard.sent = true;
        let answer = receiver.await.map_err(|_| ClientError::Closed)?;
        answer.map_err(ClientError::Rpc)
    }

    /// Waits for the next notification of this method and subscription; `None` when the connection
    /// is closed and none is left. Only the newest of several unread ones is kept.
    pub async fn next_note_of(&self, method: &str, subscription: &str) -> Option<Note> {
        self.next_of(|(its, subject)| its == method && subject.subscription == subscription).await
    }

    async fn next_of(&self, matches: impl Fn(&NoteKey) -> bool) -> Option<Note> {
        loop {
            // Created before the check, so that a notification that arrives during the check wakes
            // this.
            let arrived = self.shared.note_arrived.notified();
            {
                let mut state = self.shared.state();
                let found = state.notes.extract_if(.., |key, _| matches(key)).next();
                if let Some(((method, _), params)) = found {
                    return Some(Note { method, params });
                }
                if state.closed {
                    return None;
                }
            }
            arrived.await;
        }
    }

    /// Returns a monitor of the calls of this connection.
    pub(crate) fn monitor(&self) -> CallMonitor {
        CallMonitor(Arc::clone(&self.shared))
    }

    /// Returns whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        self.shared.state().closed
    }
}

/// Sends `$/cancelRequest` if the caller drops the future of a call.
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
            // With a full outbox the cancellation is lost and the server finishes the call in vain;
            // `drop` cannot wait.
            if let Ok(message) = framed(&call, CancelRequest::METHOD) {
                let _ = self.connection.outbox.try_send(message);
            }
        }
    }
}

fn framed<P: serde::Serialize + ?Sized>(
    call: &Call<'_, P>,
    method: &'static str,
) -> Result<Bytes, ClientError> {
    let mut message = BytesMut::new();
    put(call, method, &mut message)?;
    Ok(message.freeze())
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut queue: mpsc::Receiver<Bytes>) {
    while let Some(message) = queue.recv().await {
        // The reading task notices a broken stream too and fails the calls.
        if writer.write_all(&message).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    // An error is ignored: the other side sees the end of the stream in any case.
    let _ = writer.shutdown().await;
}

async fn read<R: AsyncRead + Unpin>(reader: R, shared: Arc<Shared>) {
    let codec = FrameCodec::new(Framing::ContentLength, MAX_ANSWER);
    let mut frames = FramedRead::new(reader, codec);
    // An answer that is too long has an unreadable id, so the connection is closed: its caller
    // would wait for ever.
    while let Some(Ok(Frame::Message(message))) = frames.next().await {
        let Ok(incoming) = serde_json::from_slice::<Incoming>(&message) else { break };
        deliver(incoming, &shared);
    }
    shared.close();
}

fn deliver(incoming: Incoming, shared: &Shared) {
    if let Some(method) = incoming.method {
        let subject = incoming.params.as_deref().and_then(subject).unwrap_or_default();
        shared.state().notes.insert((method, subject), incoming.params);
        shared.note_arrived.notify_waiters();
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
                // The receiver is gone if the caller was dropped at this moment.
                let _ = sender.send(answer);
            }
        }
        // An error without an id could belong to any request, so every caller gets it.
        (_, Err(error)) => {
            let waiting = std::mem::take(&mut shared.state().waiting);
            for sender in waiting.into_values() {
                let _ = sender.send(Err(error.clone()));
            }
        }
        (_, Ok(_)) => {}
    }
}

fn subject(params: &RawValue) -> Option<NoteSubject> {
    #[derive(Deserialize)]
    struct Subscribed {
        subscription: RequestId,
        #[serde(default)]
        result: Kind,
    }

    #[derive(Default, Deserialize)]
    struct Kind {
        #[serde(default)]
        kind: String,
    }

    let Subscribed { subscription, result } = serde_json::from_str(params.get()).ok()?;
    Some(NoteSubject { subscription: subscription.to_string(), kind: result.kind })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use serde_json::{Value, json};
    use skills_protocol::error::SKILL_NOT_FOUND;
    use skills_protocol::method::{ServerSync, SkillsGet};
    use skills_protocol::wire::{GetParams, SyncParams};

    use super::*;
    use crate::script::{answer, refusal, serve};

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn over(stream: UnixStream) -> Connection {
        stream.set_nonblocking(true).expect("a socket");
        Connection::new(tokio::net::UnixStream::from_std(stream).expect("in a runtime"))
    }

    fn next(asked: &Receiver<Value>) -> Value {
        asked.recv_timeout(TIMEOUT).expect("the client sent it")
    }

    #[tokio::test]
    async fn concurrent_calls_get_their_own_answers() {
        let mut held = Vec::new();
        let (stream, _asked) = serve(move |message| {
            held.push(answer(message, &json!({"clock": format!("c{}", message["id"])})));
            if held.len() < 3 { Vec::new() } else { held.drain(..).rev().collect() }
        });
        let connection = over(stream);
        let params = SyncParams::default();
        let call = || connection.call::<ServerSync>(&params);
        let (one, two, three) = tokio::join!(call(), call(), call());
        let clocks = [one, two, three].map(|result| result.expect("answered").clock);
        assert_eq!(clocks, ["c1", "c2", "c3"]);
    }

    #[tokio::test]
    async fn error_response_keeps_the_connection_open() {
        let (stream, _asked) = serve(|message| vec![refusal(message, SKILL_NOT_FOUND, "none")]);
        let connection = over(stream);
        for _ in 0..2 {
            let error = connection.call::<SkillsGet>(&GetParams::default()).await;
            assert!(matches!(error, Err(ClientError::Rpc(error)) if error.code == SKILL_NOT_FOUND));
        }
    }

    #[tokio::test]
    async fn dropped_call_sends_a_cancel_request() {
        let (stream, asked) = serve(|_| Vec::new());
        let connection = over(stream);
        let params = SyncParams::default();
        let call = connection.call::<ServerSync>(&params);
        let dropped = tokio::time::timeout(Duration::from_millis(5), call).await;
        assert!(dropped.is_err(), "no answer is sent");
        assert!(connection.shared.state().waiting.is_empty());
        let sent = tokio::task::spawn_blocking(move || [next(&asked), next(&asked)]).await;
        let [request, cancel] = sent.expect("both were sent");
        assert_eq!(request["method"], "server/sync");
        assert_eq!(cancel["method"], "$/cancelRequest");
        assert_eq!(cancel["params"], json!({"id": request["id"]}));
    }

    #[tokio::test]
    async fn end_of_stream_fails_every_call() {
        let (stream, server) = UnixStream::pair().expect("a pair");
        let connection = over(stream);
        let params = SyncParams::default();
        let call = connection.call::<ServerSync>(&params);
        let end = async {
            tokio::task::yield_now().await;
            drop(server);
        };
        let (outcome, ()) = tokio::join!(call, end);
        assert!(matches!(outcome, Err(ClientError::Closed)), "{outcome:?}");
        let again = connection.call::<ServerSync>(&params).await;
        assert!(matches!(again, Err(ClientError::Closed)), "{again:?}");
        assert!(connection.is_closed());
        assert!(connection.next_note_of("events/event", "a").await.is_none());
    }

    #[tokio::test]
    async fn newest_unread_note_of_a_subscription_is_kept() {
        let note = |subscription: &str, clock: &str| {
            let params = json!({"subscription": subscription, "result": {"clock": clock}});
            json!({"jsonrpc": "2.0", "method": "events/event", "params": params})
        };
        let (stream, _asked) = serve(move |message| {
            let clock = json!({"clock": "c"});
            vec![note("a", "1"), note("b", "2"), note("a", "3"), answer(message, &clock)]
        });
        let connection = over(stream);
        connection.call::<ServerSync>(&SyncParams::default()).await.expect("answered");
        let mut seen = Vec::new();
        for subscription in ["a", "b"] {
            let note = connection.next_note_of("events/event", subscription).await.expect("a note");
            let params = serde_json::from_str::<Value>(note.params.expect("some").get());
            seen.push(params.expect("JSON")["result"]["clock"].clone());
        }
        assert_eq!(seen, ["3", "2"]);
    }

    #[tokio::test]
    async fn in_memory_stream_gives_the_same_answer_as_a_socket() {
        let reply = |message: &Value| vec![answer(message, &json!({"clock": "c", "health": []}))];
        let (mut near, far) = tokio::io::duplex(64);
        let connection = Connection::new(far);
        let server = async {
            let mut frames = FramedRead::new(&mut near, FrameCodec::detecting(1 << 20));
            let Some(Ok(Frame::Message(message))) = frames.next().await else { panic!("none") };
            let message: Value = serde_json::from_slice(&message).expect("JSON");
            let mut out = BytesMut::new();
            for reply in reply(&message) {
                Framing::ContentLength.put(reply.to_string().as_bytes(), &mut out);
            }
            near.write_all(&out).await.expect("read by the connection");
        };
        let params = SyncParams::default();
        let (called, ()) = tokio::join!(connection.call_text::<ServerSync>(&params), server);
        let called = called.expect("answered");

        let (stream, _asked) = serve(reply);
        let mut blocking = crate::blocking::BlockingConnection::new(stream);
        let sent = blocking.send::<ServerSync>(&params).expect("queued");
        assert_eq!(blocking.receive_text(sent).expect("answered").get(), called.get());
    }
}
