//! Framing of messages on a stream: `Content-Length` headers, or one message per line.
//!
//! Contains both framings, their detection, and the limits on received messages; does not parse the
//! messages. Invariant: after a message over the limit the stream stays in sync, because the codec
//! skips the message. If the codec cannot find the end of a message, the error is fatal and the
//! connection must be closed.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

/// Maximum length of a header block.
///
/// Real ones have 20 to 80 bytes; the limit keeps an unrelated stream from growing the buffer.
pub const MAX_HEADER: usize = 8 * 1024;

/// Maximum length of a message that is skipped because it is over the limit.
///
/// For longer messages the connection is closed.
const MAX_SKIP: u64 = 256 * 1024 * 1024;

/// Method of delimiting messages on a stream, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length: N`, an empty line, N bytes: the base protocol of LSP.
    ContentLength,
    /// One message per line, for shells. A message must not contain a line feed.
    Lines,
}

impl Framing {
    /// Writes the bytes before a message of `length` bytes.
    pub fn put_head(self, length: usize, out: &mut BytesMut) {
        match self {
            Self::ContentLength => {
                let mut digits = [0; 20];
                out.extend_from_slice(b"Content-Length: ");
                out.extend_from_slice(decimal(length, &mut digits));
                out.extend_from_slice(b"\r\n\r\n");
            }
            Self::Lines => {}
        }
    }

    /// Returns the bytes after a message.
    pub fn tail(self) -> &'static [u8] {
        match self {
            Self::ContentLength => b"",
            Self::Lines => b"\n",
        }
    }

    /// Writes a complete message with its framing.
    pub fn put(self, message: &[u8], out: &mut BytesMut) {
        debug_assert!(self == Self::ContentLength || !message.contains(&b'\n'));
        out.reserve(message.len() + 40);
        self.put_head(message.len(), out);
        out.extend_from_slice(message);
        out.extend_from_slice(self.tail());
    }
}

/// Result of decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A complete message, without its framing.
    Message(Bytes),
    /// A message over the limit. It is skipped; decoding continues after it.
    TooLong {
        /// Its announced length; for a line, the number of bytes received when it exceeded the
        /// limit.
        length: u64,
    },
}

/// Fatal error of a stream: the start of the next message is unknown.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The header block is too long.
    #[error("header is longer than {MAX_HEADER} bytes")]
    HeaderTooLong,
    /// A header line is not of the form `Name: value`.
    #[error("header line `{line}` is not of the form `Name: value`")]
    MalformedHeader {
        /// The line, shortened, with invalid UTF-8 replaced.
        line: String,
    },
    /// The value of `Content-Length` is not a number.
    #[error("Content-Length `{value}` is not a number of bytes")]
    MalformedLength {
        /// The value as written, shortened.
        value: String,
    },
    /// Two `Content-Length` headers disagree.
    #[error("header has more than one Content-Length")]
    RepeatedLength,
    /// The header block ends without a `Content-Length`.
    #[error("header has no Content-Length")]
    MissingLength,
    /// A message over the limit for skipping.
    #[error("message of {length} bytes is too long to be skipped")]
    BeyondSkipping {
        /// The announced length.
        length: u64,
    },
    /// The stream ended inside a message.
    #[error("stream ended inside a message")]
    Truncated,
    /// The stream failed.
    #[error("failed to read or write the stream")]
    Io(#[from] io::Error),
}

/// Splits a byte stream into messages, and frames outgoing messages.
#[derive(Debug)]
pub struct FrameCodec {
    /// `None` until the first byte is received.
    framing: Option<Framing>,
    max_message: usize,
    state: DecoderState,
}

/// State of the decoder.
#[derive(Debug)]
enum DecoderState {
    /// Before a header block or a line; the first `scanned` bytes contain no end of it.
    Head { scanned: usize },
    /// Inside a message of this length, none of which is consumed yet.
    Body { length: usize },
    /// Inside a message that is skipped.
    SkipBytes { left: u64 },
    /// Inside a line that is skipped.
    SkipLine,
}

impl FrameCodec {
    /// Returns a codec that detects the framing from the first byte received that is no blank and
    /// no byte order mark, for servers.
    pub fn detecting(max_message: usize) -> Self {
        Self { framing: None, max_message, state: DecoderState::Head { scanned: 0 } }
    }

    /// Returns a codec with a fixed framing, for clients.
    pub fn new(framing: Framing, max_message: usize) -> Self {
        Self { framing: Some(framing), ..Self::detecting(max_message) }
    }

    /// Returns the framing in use; header framing before the first byte.
    pub fn framing(&self) -> Framing {
        self.framing.unwrap_or(Framing::ContentLength)
    }

    fn decode_headed(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        loop {
            match self.state {
                DecoderState::Head { .. } => {
                    let Some(header) = header_end(src)? else { return Ok(None) };
                    let length = content_length(&src[..header])?;
                    src.advance(header);
                    if length <= self.max_message as u64 {
                        self.state = DecoderState::Body { length: length as usize };
                    } else if length <= MAX_SKIP {
                        self.state = DecoderState::SkipBytes { left: length };
                        return Ok(Some(Frame::TooLong { length }));
                    } else {
                        return Err(FrameError::BeyondSkipping { length });
                    }
                }
                DecoderState::Body { length } => {
                    if src.len() < length {
                        src.reserve(length - src.len());
                        return Ok(None);
                    }
                    self.state = DecoderState::Head { scanned: 0 };
                    return Ok(Some(Frame::Message(src.split_to(length).freeze())));
                }
                DecoderState::SkipBytes { left } => {
                    let skipped = left.min(src.len() as u64);
                    src.advance(skipped as usize);
                    if skipped < left {
                        self.state = DecoderState::SkipBytes { left: left - skipped };
                        return Ok(None);
                    }
                    self.state = DecoderState::Head { scanned: 0 };
                }
                DecoderState::SkipLine => unreachable!("lines are skipped by the other framing"),
            }
        }
    }

    fn decode_line(&mut self, src: &mut BytesMut) -> Option<Frame> {
        loop {
            let scanned = match self.state {
                DecoderState::Head { scanned } => scanned,
                _ => 0,
            };
            let end = src[scanned..].iter().position(|&byte| byte == b'\n').map(|at| scanned + at);
            match (&self.state, end) {
                (DecoderState::SkipLine, None) => {
                    src.clear();
                    return None;
                }
                (DecoderState::SkipLine, Some(end)) => {
                    src.advance(end + 1);
                    self.state = DecoderState::Head { scanned: 0 };
                }
                (_, None) if src.len() > self.max_message => {
                    let length = src.len() as u64;
                    src.clear();
                    self.state = DecoderState::SkipLine;
                    return Some(Frame::TooLong { length });
                }
                (_, None) => {
                    self.state = DecoderState::Head { scanned: src.len() };
                    return None;
                }
                (_, Some(end)) => {
                    let line = src.split_to(end + 1).freeze();
                    self.state = DecoderState::Head { scanned: 0 };
                    // Counts trailing spaces, so that the result does not depend on how the line is
                    // received.
                    if end > self.max_message {
                        return Some(Frame::TooLong { length: end as u64 });
                    }
                    let message = line.slice(..line.trim_ascii_end().len());
                    // A user at a terminal sends blank lines.
                    if !message.is_empty() {
                        return Some(Frame::Message(message));
                    }
                }
            }
        }
    }
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = FrameError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if self.framing.is_none() && !skip_preamble(src) {
            return Ok(None);
        }
        let framing = match (self.framing, src.first()) {
            (Some(framing), _) => framing,
            (None, None) => return Ok(None),
            // A header never starts with these characters. `[` is a batch, which is refused in its
            // own framing.
            (None, Some(b'{' | b'[')) => *self.framing.insert(Framing::Lines),
            (None, Some(_)) => *self.framing.insert(Framing::ContentLength),
        };
        match framing {
            Framing::ContentLength => self.decode_headed(src),
            Framing::Lines => Ok(self.decode_line(src)),
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        if let Some(frame) = self.decode(src)? {
            return Ok(Some(frame));
        }
        match (self.framing, &self.state) {
            // `printf` may omit the last line feed.
            (Some(Framing::Lines), DecoderState::Head { .. }) if !src.is_empty() => {
                src.extend_from_slice(b"\n");
                Ok(self.decode_line(src))
            }
            (_, DecoderState::Head { .. }) if src.is_empty() => Ok(None),
            (_, DecoderState::SkipLine) => Ok(None),
            (
                _,
                DecoderState::Head { .. }
                | DecoderState::Body { .. }
                | DecoderState::SkipBytes { .. },
            ) => Err(FrameError::Truncated),
        }
    }
}

impl Encoder<&[u8]> for FrameCodec {
    type Error = FrameError;

    fn encode(&mut self, message: &[u8], out: &mut BytesMut) -> Result<(), FrameError> {
        self.framing().put(message, out);
        Ok(())
    }
}

/// Skips a byte order mark and blanks before the first message, which some shells and editors
/// write. Returns whether the next byte starts a message.
fn skip_preamble(src: &mut BytesMut) -> bool {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    loop {
        let n_blanks = src.len() - src.trim_ascii_start().len();
        src.advance(n_blanks);
        match src.strip_prefix(MARK) {
            Some(_) => src.advance(MARK.len()),
            None => return !MARK.starts_with(src),
        }
    }
}

/// Returns the length of the header block including its empty line; `None` if it is incomplete.
fn header_end(src: &[u8]) -> Result<Option<usize>, FrameError> {
    let block = &src[..src.len().min(MAX_HEADER)];
    let mut start = 0;
    while let Some(length) = block[start..].iter().position(|&byte| byte == b'\n') {
        if matches!(&block[start..start + length], b"" | b"\r") {
            return Ok(Some(start + length + 1));
        }
        start += length + 1;
    }
    if src.len() >= MAX_HEADER { Err(FrameError::HeaderTooLong) } else { Ok(None) }
}

/// Reads `Content-Length`; other headers, such as `Content-Type`, are ignored.
fn content_length(header: &[u8]) -> Result<u64, FrameError> {
    let mut found = None;
    for line in
        header.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Err(FrameError::MalformedHeader { line: shown(line) });
        };
        if !line[..colon].trim_ascii().eq_ignore_ascii_case(b"Content-Length") {
            continue;
        }
        let value = line[colon + 1..].trim_ascii();
        let length = Some(value)
            // `parse` would accept a plus sign.
            .filter(|value| value.iter().all(u8::is_ascii_digit))
            .and_then(|value| str::from_utf8(value).ok())
            .and_then(|value| value.parse().ok())
            .ok_or_else(|| FrameError::MalformedLength { value: shown(value) })?;
        if found.replace(length).is_some_and(|other| other != length) {
            return Err(FrameError::RepeatedLength);
        }
    }
    found.ok_or(FrameError::MissingLength)
}

/// Returns received bytes in a form suitable for an error message.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).escape_debug().collect()
}

/// Formats a number without `fmt`, which costs more than the rest of a header.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 32;

    /// Decodes a stream in pieces of every size; the result must not depend on the pieces.
    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        for piece in (1..=input.len().min(64)).chain([input.len()]) {
            let mut codec = FrameCodec::detecting(LIMIT);
            let mut buffer = BytesMut::new();
            let mut seen = Vec::new();
            let mut pieces = input.as_bytes().chunks(piece.max(1));
            loop {
                let piece = pieces.next();
                buffer.extend_from_slice(piece.unwrap_or_default());
                let mut decode = || {
                    if piece.is_some() {
                        codec.decode(&mut buffer)
                    } else {
                        codec.decode_eof(&mut buffer)
                    }
                };
                let error = loop {
                    match decode() {
                        Ok(Some(Frame::Message(bytes))) => {
                            seen.push(String::from_utf8(bytes.to_vec()).unwrap());
                        }
                        // The number of received bytes of a long line depends on the pieces.
                        Ok(Some(Frame::TooLong { .. })) => seen.push("(too long)".to_owned()),
                        Ok(None) => break false,
                        Err(error) => {
                            seen.push(format!("error: {error}"));
                            break true;
                        }
                    }
                };
                if error || piece.is_none() {
                    break;
                }
            }
            assert_eq!(seen, expected, "in pieces of {piece} bytes");
        }
    }

    #[test]
    fn headers_in_any_order_and_case_are_decoded() {
        check("Content-Length: 2\r\n\r\n{}", &["{}"]);
        check("content-length:3\r\nContent-Type: application/json\r\n\r\n[1]", &["[1]"]);
        check("Content-Type: x; charset=utf-8\r\nCONTENT-LENGTH :  2 \r\n\r\n{}", &["{}"]);
        check(
            "Content-Length: 2\n\n{}Content-Length: 0\r\n\r\nContent-Length: 1\r\n\r\n1",
            &["{}", "", "1"],
        );
    }

    #[test]
    fn first_byte_brace_selects_line_framing() {
        check("{}\n{\"a\":1}\r\n\n  \n[]\n", &["{}", "{\"a\":1}", "[]"]);
        check("{\"unterminated\":1}", &["{\"unterminated\":1}"]);
        check("[{}]\n", &["[{}]"]);
    }

    #[test]
    fn blanks_and_a_byte_order_mark_before_the_first_message_are_skipped() {
        for preamble in [" ", "\n", "\r\n\t ", "\u{feff}", "\n\u{feff} \r\n"] {
            check(&format!("{preamble}{{}}\n {{\"a\":1}}\n"), &["{}", " {\"a\":1}"]);
            check(&format!("{preamble}Content-Length: 2\r\n\r\n{{}}"), &["{}"]);
            check(preamble, &[]);
        }
        check("\r\n\r\n{}", &["{}"]);
    }

    #[test]
    fn message_over_the_limit_is_skipped() {
        let long = "x".repeat(LIMIT + 1);
        check(
            &format!("Content-Length: {}\r\n\r\n{long}Content-Length: 2\r\n\r\n{{}}", LIMIT + 1),
            &["(too long)", "{}"],
        );
        check(&format!("{{\"{long}\"}}\n{{}}\n"), &["(too long)", "{}"]);
        let longest = "x".repeat(LIMIT);
        check(&format!("Content-Length: {LIMIT}\r\n\r\n{longest}"), &[&longest]);
        check(&format!("{{{}\n", &longest[1..]), &[&format!("{{{}", &longest[1..])]);
        let blanks = " ".repeat(LIMIT);
        check(&format!("{{}}{blanks}\n{{}}\n"), &["(too long)", "{}"]);
    }

    #[test]
    fn header_without_length_is_fatal() {
        check(
            "GET / HTTP/1.1\r\n\r\n",
            &["error: header line `GET / HTTP/1.1` is not of the form `Name: value`"],
        );
        check("Content-Type: x\r\n\r\n{}", &["error: header has no Content-Length"]);
        for value in ["", "-1", "+1", "2x", "99999999999999999999"] {
            let expected = format!("error: Content-Length `{value}` is not a number of bytes");
            check(&format!("Content-Length: {value}\r\n\r\n{{}}"), &[&expected]);
        }
        check(
            "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
            &["error: header has more than one Content-Length"],
        );
        check(
            &format!("X: {}\r\n", "y".repeat(MAX_HEADER)),
            &["error: header is longer than 8192 bytes"],
        );
        let length = MAX_SKIP + 1;
        let expected = format!("error: message of {length} bytes is too long to be skipped");
        check(&format!("Content-Length: {length}\r\n\r\n"), &[&expected]);
    }

    #[test]
    fn end_of_stream_inside_a_message_is_an_error() {
        check("Content-Length: 5\r\n\r\n{}", &["error: stream ended inside a message"]);
        check("Content-Len", &["error: stream ended inside a message"]);
        check("", &[]);
    }

    #[test]
    fn encoded_messages_decode_to_the_same_bytes() {
        for framing in [Framing::ContentLength, Framing::Lines] {
            let mut codec = FrameCodec::new(framing, 1 << 20);
            let mut buffer = BytesMut::new();
            let messages = [b"{}".to_vec(), vec![b'7'; 12_345], b"{\"x\":[]}".to_vec()];
            for message in &messages {
                codec.encode(message, &mut buffer).unwrap();
            }
            for message in messages {
                assert_eq!(
                    codec.decode(&mut buffer).unwrap(),
                    Some(Frame::Message(message.into()))
                );
            }
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn head_announces_the_length() {
        for length in [0, 9, 10, 1_048_576, usize::MAX] {
            let mut out = BytesMut::new();
            Framing::ContentLength.put_head(length, &mut out);
            assert_eq!(out, format!("Content-Length: {length}\r\n\r\n").as_bytes());
        }
    }
}
