//! The frame decoder: both framings, split into arbitrary pieces.

use bytes::BytesMut;
use skills_protocol::frame::{Frame, FrameCodec, Framing};
use tokio_util::codec::Decoder as _;

/// Maximum message length of the decoder under test.
const LIMIT: usize = 64;

/// Asserts that decoded messages do not depend on how the stream is split, and stay within limits.
///
/// The first byte selects the framing, the second seeds the piece lengths.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [framing, seed, stream @ ..] = input else { return };
    let codec = || match framing % 3 {
        0 => FrameCodec::detecting(LIMIT),
        1 => FrameCodec::new(Framing::ContentLength, LIMIT),
        _ => FrameCodec::new(Framing::Lines, LIMIT),
    };
    let whole = decode(codec(), std::iter::once(stream));
    let mut rest = stream;
    let mut state = usize::from(*seed) + 1;
    let pieces = std::iter::from_fn(|| {
        state = state.wrapping_mul(6_364_136_223).wrapping_add(1_442_695_040) >> 3;
        let (piece, after) = rest.split_at(rest.len().min(state % 17));
        let is_end = rest.is_empty();
        rest = after;
        (!is_end).then_some(piece)
    });
    let pieces = decode(codec(), pieces);
    assert_eq!(whole, pieces, "pieces of {stream:?}");

    let messages = whole.iter().filter_map(|it| it.as_ref().ok().and_then(Option::as_ref));
    let mut total = 0;
    for message in messages {
        assert!(message.len() <= LIMIT, "{message:?}");
        total += message.len();
        for framing in [Framing::ContentLength, Framing::Lines] {
            if framing == Framing::Lines && message.trim_ascii_end() != message {
                continue;
            }
            let mut framed = BytesMut::new();
            if framing == Framing::Lines && (message.contains(&b'\n') || message.is_empty()) {
                continue;
            }
            framing.put(message, &mut framed);
            let again = decode(FrameCodec::new(framing, LIMIT), std::iter::once(&framed[..]));
            assert_eq!(again, [Ok(Some(message.clone()))], "{framing:?}");
        }
    }
    assert!(total <= stream.len(), "more came out of {stream:?} than went in");
}

/// Returns the messages of a stream, `None` for a message that is too long, and the final error.
fn decode<'a>(
    mut codec: FrameCodec,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Vec<Result<Option<Vec<u8>>, String>> {
    let mut buffer = BytesMut::new();
    let mut seen = Vec::new();
    let pieces = pieces.map(Some).chain([None]);
    for piece in pieces {
        buffer.extend_from_slice(piece.unwrap_or_default());
        loop {
            let next = match piece {
                Some(_) => codec.decode(&mut buffer),
                None => codec.decode_eof(&mut buffer),
            };
            match next {
                Ok(Some(Frame::Message(message))) => seen.push(Ok(Some(message.to_vec()))),
                Ok(Some(Frame::TooLong { .. })) => seen.push(Ok(None)),
                Ok(None) => break,
                Err(error) => {
                    seen.push(Err(error.to_string()));
                    return seen;
                }
            }
        }
    }
    seen
}
