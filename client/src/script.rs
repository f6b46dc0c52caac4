//! Scripted server for tests: answers each message with the replies that a closure returns.
//!
//! Uses the real framing and envelopes, and passes on every message that it received.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;

use bytes::BytesMut;
use serde_json::{Value, json};
use skills_protocol::frame::{Frame, FrameCodec, Framing};
use tokio_util::codec::Decoder;

/// Messages that a script sends back for one message, in order.
pub type Reply = Vec<Value>;

/// Serves one connection on a thread of its own and returns the client's end.
///
/// The second value receives every message that came in.
///
/// # Panics
///
/// On the serving thread, if the client sends no valid frames.
pub fn serve(
    mut script: impl FnMut(&Value) -> Reply + Send + 'static,
) -> (UnixStream, mpsc::Receiver<Value>) {
    let (client, mut server) = UnixStream::pair().expect("a pair");
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        let mut codec = FrameCodec::new(Framing::ContentLength, usize::MAX >> 1);
        let mut buffer = BytesMut::new();
        let mut chunk = [0; 4096];
        loop {
            while let Some(frame) = codec.decode(&mut buffer).expect("a client frames well") {
                let Frame::Message(bytes) = frame else { panic!("too long") };
                let message: Value = serde_json::from_slice(&bytes).expect("JSON");
                let replies = script(&message);
                let mut out = BytesMut::new();
                for reply in &replies {
                    Framing::ContentLength.put(reply.to_string().as_bytes(), &mut out);
                }
                // A test may have dropped the receiver.
                let _ = sender.send(message);
                if server.write_all(&out).is_err() {
                    return;
                }
            }
            match server.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(n) => buffer.extend_from_slice(&chunk[..n]),
            }
        }
    });
    (client, asked)
}

/// Returns the answer to a request.
pub fn answer(request: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

/// Returns an error response to a request.
pub fn refusal(request: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
}
