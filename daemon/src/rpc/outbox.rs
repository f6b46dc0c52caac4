//! [`Outbox`]: the unsent output of one connection.
//!
//! Small messages share one buffer, so that answers that are ready together leave in one write. The
//! text of a large answer is not copied: it is queued, shared with other connections that send it,
//! and written with its head and tail in one vectored write. The outbox has no limit of its own;
//! the connection produces no answers while [`Outbox::is_full`].

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use serde::Serialize;
use skills_protocol::frame::Framing;
use skills_protocol::message::Call;
use skills_protocol::method::Notification;
use tokio::io::AsyncWrite;

use crate::rpc::dispatch::Reply;

/// Size in bytes from which a text is queued instead of copied. At this size copying costs about as
/// much as the allocation and the extra slice of queueing.
const LARGE: usize = 16 * 1024;

/// Number of unsent bytes at which no further answers are produced.
const MAX_UNSENT_BYTES: usize = 1024 * 1024;

/// Capacity in bytes above which an empty buffer is freed.
const KEPT: usize = 64 * 1024;

/// Number of slices in one write: four large answers, each with head and tail.
const SLICES: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Output before `tail`: large texts and the bytes between them.
    chunks: VecDeque<Bytes>,
    /// The end of the output, still growing.
    tail: BytesMut,
    /// Bytes in `chunks`.
    queued: usize,
    /// Scratch buffer for envelopes, kept for its capacity.
    envelope: Vec<u8>,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.queued == 0 && self.tail.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.queued + self.tail.len() >= MAX_UNSENT_BYTES
    }

    pub(crate) fn push(&mut self, framing: Framing, reply: Reply) {
        const END: &[u8] = b"}";
        self.envelope.clear();
        self.envelope.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        self.put_json(&reply.id);
        let text = match reply.outcome {
            Ok(answer) => {
                self.envelope.extend_from_slice(br#","result":"#);
                answer.into_text()
            }
            Err(error) => {
                self.envelope.extend_from_slice(br#","error":"#);
                self.put_json(&error);
                Bytes::new()
            }
        };
        framing.put_head(self.envelope.len() + text.len() + END.len(), &mut self.tail);
        self.tail.extend_from_slice(&self.envelope);
        if text.len() < LARGE {
            self.tail.extend_from_slice(&text);
        } else {
            self.queued += self.tail.len() + text.len();
            self.chunks.push_back(self.tail.split().freeze());
            self.chunks.push_back(text);
        }
        self.tail.extend_from_slice(END);
        self.tail.extend_from_slice(framing.tail());
    }

    pub(crate) fn push_note<N: Notification>(&mut self, framing: Framing, params: &N::Params) {
        self.envelope.clear();
        self.put_json(&Call::notification(N::METHOD, params));
        framing.put_head(self.envelope.len(), &mut self.tail);
        self.tail.extend_from_slice(&self.envelope);
        self.tail.extend_from_slice(framing.tail());
    }

    fn put_json(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.envelope, value)
            .expect("ids, errors and events are plain text and numbers");
    }

    /// Writes until the outbox is empty.
    pub(crate) fn poll_write_out<S>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>>
    where
        S: AsyncWrite + Unpin,
    {
        while !self.is_empty() {
            let mut stream = Pin::new(&mut *stream);
            let written = if self.chunks.is_empty() {
                ready!(stream.as_mut().poll_write(cx, &self.tail))?
            } else {
                let mut slices = [IoSlice::new(&[]); SLICES];
                let pieces = self.chunks.iter().map(|chunk| &chunk[..]).chain([&self.tail[..]]);
                let n_slices = slices
                    .iter_mut()
                    .zip(pieces)
                    .map(|(slice, piece)| *slice = IoSlice::new(piece))
                    .count();
                ready!(stream.as_mut().poll_write_vectored(cx, &slices[..n_slices]))?
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut written: usize) {
        while let Some(chunk) = self.chunks.front_mut() {
            let part = written.min(chunk.len());
            chunk.advance(part);
            written -= part;
            self.queued -= part;
            if !chunk.is_empty() {
                return;
            }
            self.chunks.pop_front();
        }
        if written == self.tail.len() && self.tail.capacity() > KEPT {
            self.tail = BytesMut::new();
        } else if written == self.tail.len() {
            // `advance` would lose the capacity before the cursor.
            self.tail.clear();
        } else {
            self.tail.advance(written);
        }
    }
}
