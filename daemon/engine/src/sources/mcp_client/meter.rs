//! [`Meter`]: enforces the limits on data sent by an MCP server.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use skills_platform::lock::lock;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::sources::source_limits::{
    MCP_BYTES, MCP_MESSAGE_BYTES, MCP_MESSAGES, MCP_PAGES, MCP_PERIOD, MCP_PROMPTS,
};

/// A limit that a server exceeded.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum ExceededLimit {
    #[error("sent a message of more than {MCP_MESSAGE_BYTES} bytes")]
    MessageBytes,
    #[error("sent more than {MCP_BYTES} bytes in {MINUTES} minute")]
    Bytes,
    #[error("sent more than {MCP_MESSAGES} messages in {MINUTES} minute")]
    Messages,
    #[error("wrote more than {MCP_BYTES} bytes of errors in {MINUTES} minute")]
    ErrorBytes,
    #[error("lists its prompts on more than {MCP_PAGES} pages")]
    Pages,
    #[error("lists more than {MCP_PROMPTS} prompts")]
    Prompts,
}

const MINUTES: u64 = MCP_PERIOD.as_secs() / 60;

/// Counts the data that one running server sends on both outputs.
#[derive(Debug, Default)]
pub(super) struct Meter {
    counts: Mutex<MeterCounts>,
    exceeded: Notify,
}

#[derive(Debug, Default)]
struct MeterCounts {
    began: Option<Instant>,
    bytes: u64,
    messages: u64,
    error_bytes: u64,
    /// Length so far of the current message; not reset by periods.
    message_bytes: u64,
    excess: Option<ExceededLimit>,
}

impl MeterCounts {
    /// Starts a new period if the last one is over.
    fn renew(&mut self, now: Instant) {
        let began = *self.began.get_or_insert(now);
        if now.duration_since(began) >= MCP_PERIOD {
            (self.began, self.bytes, self.messages, self.error_bytes) = (Some(now), 0, 0, 0);
        }
    }

    fn count_output(&mut self, bytes: &[u8], now: Instant) {
        self.renew(now);
        self.bytes += bytes.len() as u64;
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            self.message_bytes += piece.len() as u64;
            if self.message_bytes > MCP_MESSAGE_BYTES {
                self.excess.get_or_insert(ExceededLimit::MessageBytes);
            }
            if piece.ends_with(b"\n") {
                self.message_bytes = 0;
                self.messages += 1;
            }
        }
        if self.bytes > MCP_BYTES {
            self.excess.get_or_insert(ExceededLimit::Bytes);
        }
        if self.messages > MCP_MESSAGES {
            self.excess.get_or_insert(ExceededLimit::Messages);
        }
    }

    fn count_errors(&mut self, length: usize, now: Instant) {
        self.renew(now);
        self.error_bytes += length as u64;
        if self.error_bytes > MCP_BYTES {
            self.excess.get_or_insert(ExceededLimit::ErrorBytes);
        }
    }
}

impl Meter {
    /// Returns the first limit that was exceeded.
    pub(super) fn excess(&self) -> Option<ExceededLimit> {
        lock(&self.counts).excess
    }

    /// Records a limit exceeded elsewhere than on an output.
    pub(super) fn record_excess(&self, excess: ExceededLimit) {
        lock(&self.counts).excess.get_or_insert(excess);
        self.exceeded.notify_one();
    }

    /// Waits until a limit is exceeded.
    pub(super) async fn wait_for_excess(&self) -> ExceededLimit {
        loop {
            if let Some(excess) = self.excess() {
                return excess;
            }
            self.exceeded.notified().await;
        }
    }

    /// Counts bytes of standard error. Returns whether more may be read.
    pub(super) fn count_errors(&self, length: usize) -> bool {
        let excess = {
            let mut counts = lock(&self.counts);
            counts.count_errors(length, Instant::now());
            counts.excess
        };
        if excess.is_some() {
            self.exceeded.notify_one();
        }
        excess.is_none()
    }

    fn count_output(&self, bytes: &[u8]) -> Result<(), ExceededLimit> {
        let excess = {
            let mut counts = lock(&self.counts);
            counts.count_output(bytes, Instant::now());
            counts.excess
        };
        let Some(excess) = excess else { return Ok(()) };
        self.exceeded.notify_one();
        Err(excess)
    }
}

/// An output of a server; reads fail once the server has exceeded a limit.
#[derive(Debug)]
pub(super) struct Metered<R> {
    inner: R,
    meter: Arc<Meter>,
}

impl<R> Metered<R> {
    pub(super) fn new(inner: R, meter: Arc<Meter>) -> Self {
        Self { inner, meter }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(excess) = self.meter.excess() {
            return Poll::Ready(Err(io::Error::other(excess.to_string())));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        match self.meter.count_output(&buffer.filled()[before..]) {
            Ok(()) => read,
            Err(excess) => Poll::Ready(Err(io::Error::other(excess.to_string()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn long_message_exceeds_its_limit_across_periods() {
        let now = Instant::now();
        let mut counts = MeterCounts::default();
        let half = vec![b'x'; MCP_MESSAGE_BYTES as usize / 2];
        counts.count_output(&half, now);
        counts.count_output(&half, now + MCP_PERIOD * 2);
        assert_eq!(counts.excess, None);
        counts.count_output(b"x", now + MCP_PERIOD * 2);
        assert_eq!(counts.excess, Some(ExceededLimit::MessageBytes));
    }

    #[test]
    fn messages_are_counted_per_period() {
        let now = Instant::now();
        let mut counts = MeterCounts::default();
        let lines = "{}\n".repeat(MCP_MESSAGES as usize);
        counts.count_output(lines.as_bytes(), now);
        counts.count_output(lines.as_bytes(), now + MCP_PERIOD);
        assert_eq!(counts.excess, None);
        counts.count_output(b"{}\n", now + MCP_PERIOD + Duration::from_secs(1));
        assert_eq!(counts.excess, Some(ExceededLimit::Messages));
    }

    #[test]
    fn errors_are_counted_apart_from_messages() {
        let now = Instant::now();
        let mut counts = MeterCounts::default();
        counts.count_errors(MCP_BYTES as usize, now);
        counts.count_output(b"{}\n", now);
        assert_eq!(counts.excess, None);
        counts.count_errors(1, now);
        assert_eq!(counts.excess, Some(ExceededLimit::ErrorBytes));
    }
}
