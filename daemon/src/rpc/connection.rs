//! [`Connection`]: one client's stream, its calls in flight and its unsent output.
//!
//! A connection is one task that reads, polls its calls and writes, each without waiting. A call
//! that is ready immediately is answered in the same poll; slow calls run concurrently and are
//! answered as they finish. Long computations belong on the blocking pool.
//!
//! Invariants: the number of calls in flight stays within the limit, and no answer is produced
//! while the peer leaves a full outbox unread.

use std::future::{self, Future};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use futures_util::future::{BoxFuture, FutureExt};
use jsonrpsee::Methods;
use skills_protocol::frame::{Frame, FrameCodec};
use skills_protocol::limits::Limits;
use skills_protocol::method::EventsEvent;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::Decoder;
use tokio_util::io::poll_read_buf;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::rpc::dispatch;
use crate::rpc::dispatch::{Call, Message, Reply};
use crate::rpc::outbox::Outbox;
use crate::rpc::peer::ClientPeer;
use crate::rpc::refusal;

/// Size of one read in bytes, unless a frame announces more.
const READ: usize = 8 * 1024;

/// Size in bytes above which the input buffer is freed after a message.
const MAX_KEPT_BUFFER: usize = 64 * 1024;

/// A stream that connections run over.
pub(crate) trait ClientStream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Returns a future that completes when the peer can neither send nor receive. End of input
    /// alone does not complete it: a shell pipe closes its input and waits for the answer.
    fn hang_up(&self) -> BoxFuture<'static, ()> {
        future::pending().boxed()
    }
}

pub(crate) struct Connection<S> {
    stream: S,
    methods: Methods,
    limits: Limits,
    peer: Arc<ClientPeer>,
    /// Completes when the daemon is about to exit.
    closing: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Polled only while nothing is read, since a read detects a hang-up as well.
    hang_up: Option<BoxFuture<'static, ()>>,
    codec: FrameCodec,
    input: BytesMut,
    source: InputState,
    calls: Vec<Call>,
    outbox: Outbox,
    /// True if the peer has closed its input but may still receive events.
    only_listens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputState {
    /// The peer can send.
    Open,
    /// The peer has closed its input; buffered messages are still handled.
    Ended,
    /// No further message is handled.
    Closed,
}

impl<S: ClientStream> Connection<S> {
    pub(crate) fn new(
        stream: S,
        methods: Methods,
        limits: Limits,
        peer: Arc<ClientPeer>,
        closing: &CancellationToken,
    ) -> Self {
        Self {
            methods,
            limits,
            peer,
            closing: Box::pin(closing.clone().cancelled_owned()),
            hang_up: None,
            stream,
            codec: FrameCodec::detecting(limits.message_bytes_in as usize),
            input: BytesMut::new(),
            source: InputState::Open,
            calls: Vec::new(),
            outbox: Outbox::default(),
            only_listens: false,
        }
    }

    /// Serves the connection until either side ends it; dropping the future hangs up.
    pub(crate) async fn run(mut self) -> io::Result<()> {
        let peer = EndsSubscriptions(Arc::clone(&self.peer));
        let ended = future::poll_fn(|cx| self.poll(cx)).await;
        drop(peer);
        ended
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ends = self.source != InputState::Closed || self.only_listens;
        if ends && self.closing.as_mut().poll(cx).is_ready() {
            self.source = InputState::Closed;
            self.only_listens = false;
        }
        loop {
            self.drive_calls(cx);
            self.begin_calls(cx);
            let held_back = !self.has_room();
            let written = self.outbox.poll_write_out(&mut self.stream, cx)?;
            // Events of a peer that does not read stay in the mailbox, where later ones replace
            // them.
            if written.is_ready() && self.send_events(cx) {
                continue;
            }
            let is_done = self.source == InputState::Closed
                && self.calls.is_empty()
                && !(self.only_listens && self.peer.mailbox().is_subscribed());
            if written.is_ready() && is_done {
                return Poll::Ready(Ok(()));
            }
            if held_back && self.has_room() {
                continue;
            }
            if self.source == InputState::Open && self.has_room() {
                ready!(self.poll_read(cx))?;
            } else {
                let hang_up = self.hang_up.get_or_insert_with(|| self.stream.hang_up());
                return hang_up.as_mut().poll(cx).map(Ok);
            }
        }
    }

    fn has_room(&self) -> bool {
        // Calls that wait for approval do not count against the limit.
        let n_working = self.calls.len().saturating_sub(self.peer.waiting());
        n_working < self.limits.requests_in_flight as usize && !self.outbox.is_full()
    }

    /// Polls the calls in flight and queues their replies.
    fn drive_calls(&mut self, cx: &mut Context<'_>) {
        let mut call_idx = 0;
        while call_idx < self.calls.len() && !self.outbox.is_full() {
            match self.calls[call_idx].poll(cx) {
                Poll::Pending => call_idx += 1,
                Poll::Ready(reply) => {
                    self.calls.swap_remove(call_idx);
                    self.send(reply);
                }
            }
        }
    }

    /// Decodes buffered messages and begins their calls.
    fn begin_calls(&mut self, cx: &mut Context<'_>) {
        while self.has_room() {
            let decoded = match self.source {
                InputState::Open => self.codec.decode(&mut self.input),
                InputState::Ended => self.codec.decode_eof(&mut self.input),
                InputState::Closed => return,
            };
            match decoded {
                Ok(Some(Frame::Message(message))) => {
                    self.take(&message, cx);
                    if message.len() > MAX_KEPT_BUFFER {
                        self.input = BytesMut::from(&self.input[..]);
                    }
                }
                Ok(Some(Frame::TooLong { length })) => {
                    self.send(Reply::error(
                        None,
                        refusal::request_too_long(length, self.limits.message_bytes_in),
                    ));
                }
                Ok(None) => {
                    if self.source == InputState::Ended {
                        self.source = InputState::Closed;
                        self.only_listens = true;
                    }
                    return;
                }
                Err(error) => {
                    tracing::debug!(%error, "invalid frame");
                    self.send(Reply::error(
                        None,
                        refusal::bad_frame(&error, self.limits.message_bytes_in),
                    ));
                    self.source = InputState::Closed;
                }
            }
        }
    }

    fn take(&mut self, message: &[u8], cx: &mut Context<'_>) {
        match dispatch::read(message) {
            Message::Request(request) => {
                let max_size = self.limits.message_bytes_out as usize;
                match Call::begin(request, &self.methods, &self.peer, max_size) {
                    Ok(mut call) => match call.poll(cx) {
                        Poll::Ready(reply) => self.send(reply),
                        Poll::Pending => self.calls.push(call),
                    },
                    Err(reply) => self.send(reply),
                }
            }
            // A request that was answered already is ignored.
            Message::Cancel(id) => {
                if let Some(call_idx) = self.calls.iter().position(|call| *call.id() == id) {
                    let reply = self.calls.swap_remove(call_idx).cancel();
                    self.send(reply);
                }
            }
            Message::Notification(method) => tracing::debug!(%method, "notification ignored"),
            Message::Malformed(reply) => self.send(reply),
        }
    }

    fn send(&mut self, reply: Reply) {
        let limit = self.limits.message_bytes_out;
        let reply = match &reply.outcome {
            Ok(answer) if answer.len() as u64 > limit => {
                Reply::error(reply.id, refusal::answer_too_long(answer.len() as u64, limit))
            }
            Ok(_) | Err(_) => reply,
        };
        self.outbox.push(self.codec.framing(), reply);
    }

    /// Queues pending events. Returns true if there were any.
    fn send_events(&mut self, cx: &mut Context<'_>) -> bool {
        let Poll::Ready(events) = self.peer.mailbox().poll_take(cx) else { return false };
        for event in events {
            self.outbox.push_note::<EventsEvent>(self.codec.framing(), &event);
        }
        true
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.input.capacity() - self.input.len() < READ / 8 {
            self.input.reserve(READ);
        }
        if ready!(poll_read_buf(Pin::new(&mut self.stream), cx, &mut self.input))? == 0 {
            self.source = InputState::Ended;
        }
        Poll::Ready(Ok(()))
    }
}

/// Ends the subscriptions of a connection when dropped. Calls that are still being cancelled on
/// other threads may keep the [`ClientPeer`] alive a little longer.
struct EndsSubscriptions(Arc<ClientPeer>);

impl Drop for EndsSubscriptions {
    fn drop(&mut self) {
        self.0.unsubscribe_all();
    }
}

#[cfg(test)]
mod tests;
