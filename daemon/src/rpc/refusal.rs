//! Errors of the transport: invalid, oversized and forbidden messages.
//!
//! Each error has a message and, if the caller can do something, a hint. Handlers define their own
//! errors.

use skills_engine::Health;
use skills_protocol::error::{NEEDS_ASKING, PARSE_ERROR, RpcError};
use skills_protocol::frame::FrameError;

pub(crate) fn not_a_request(cause: &serde_json::Error) -> RpcError {
    RpcError::invalid_request(format!("the message is not a JSON-RPC 2.0 request: {cause}")).with_hint(
        "A request has `jsonrpc` \"2.0\", an `id` that is a text or a whole number, a `method`, and perhaps `params`.",
    )
}

/// Returns the error for a call that only the consent socket answers, as code in a sentence.
pub(crate) fn needs_consent(call: &str) -> RpcError {
    let message = format!("{call} needs the consent socket; this connection cannot call it");
    RpcError::new(NEEDS_ASKING, message).with_hint(
        "Ask the user to run `skillsd trust` or `skillsd permission reply` in a terminal; editors connect to `v1-consent.sock`.",
    )
}

/// Returns the error for a decision of the user that cannot be saved, with the advice of the health
/// that has the same cause.
pub(crate) fn not_kept(what: &str, error: &impl ToString, health: &[Health]) -> RpcError {
    let cause = error.to_string();
    let refused = RpcError::not_kept(format!("{what}: {cause}"));
    match health.iter().find(|it| it.message == cause) {
        Some(known) => refused.with_hint(known.hint),
        None => refused,
    }
}

/// Returns the error for an answer from the connection that asked.
pub(crate) fn own_question(id: &str) -> RpcError {
    let message = format!("this connection sent request `{id}` and cannot answer it");
    RpcError::new(NEEDS_ASKING, message)
        .with_hint("Ask the user to run `skillsd permission reply` in a terminal.")
}

pub(crate) fn panicked() -> RpcError {
    RpcError::internal("the call failed because of a bug in skillsd")
        .with_hint("Run `skillsd logs` to see the cause.")
}

pub(crate) fn request_too_long(length: u64, limit: u64) -> RpcError {
    RpcError::too_large(
        format!("the message of {length} bytes or more is over the limit of {limit}"),
        limit,
    )
    .with_hint("Send less in one request; this one was skipped.")
}

pub(crate) fn answer_too_long(length: u64, limit: u64) -> RpcError {
    RpcError::too_large(format!("the answer of {length} bytes is over the limit of {limit}"), limit)
        .with_hint("Ask for less at a time, for example with `limit` and `cursor`.")
}

pub(crate) fn bad_frame(cause: &FrameError, limit: u64) -> RpcError {
    if let FrameError::BeyondSkipping { length } = cause {
        return RpcError::too_large(
            format!("the message of {length} bytes is over the limit of {limit}"),
            limit,
        )
        .with_hint("Connect again and send less in one request.");
    }
    RpcError::new(PARSE_ERROR, cause.to_string())
        .with_hint("Send `Content-Length: N`, an empty line and N bytes of JSON; or one line of JSON per message.")
}
