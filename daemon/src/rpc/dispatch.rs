//! Dispatch of one message: decodes a request, starts its handler and turns the outcome into a
//! reply.
//!
//! jsonrpsee owns the method table and the callbacks; this module connects it to our framing and
//! knows no stream.
//!
//! Invariant: each request gets exactly one reply, also if its handler panics; a notification gets
//! none.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::future::{BoxFuture, FutureExt};
use jsonrpsee::types::params::TwoPointZero;
use jsonrpsee::types::{Id, Params};
use jsonrpsee::{Extensions, MethodCallback, MethodResponse, Methods, ResponsePayload};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use skills_protocol::bounds;
use skills_protocol::error::RpcError;
use skills_protocol::message::RequestId;
use skills_protocol::method::{self, CancelRequest, Notification as _};
use skills_protocol::wire::CancelParams;
use tracing::Span;

use crate::rpc::answer::Outcome;
use crate::rpc::peer::ClientPeer;
use crate::rpc::refusal;

/// A decoded message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    /// The sender no longer wants the answer to this request.
    Cancel(RequestId),
    /// An unknown notification. JSON-RPC forbids a reply.
    Notification(Cow<'a, str>),
    /// An invalid message, with the error reply for it.
    Malformed(Reply),
}

/// A request, borrowed from the message.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    id: RequestId,
    method: Cow<'a, str>,
    params: Option<&'a RawValue>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    /// Id of the request; `None` if it could not be read.
    pub(crate) id: Option<RequestId>,
    pub(crate) outcome: Outcome,
}

/// A call in flight.
pub(crate) struct Call {
    id: RequestId,
    future: BoxFuture<'static, MethodResponse>,
    span: Span,
    started: Instant,
}

/// A decoded call, as its handler gets it.
pub(crate) struct MethodCall<Cx, P> {
    pub(crate) parts: Arc<Cx>,
    pub(crate) peer: Arc<ClientPeer>,
    pub(crate) params: P,
}

/// Registers a handler in jsonrpsee's method table; panics if the method is registered already.
pub(crate) fn register<R, Cx, H, F>(methods: &mut Methods, parts: &Arc<Cx>, handler: H)
where
    R: method::Request,
    Cx: Send + Sync + 'static,
    H: Fn(MethodCall<Cx, R::Params>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    let parts = Arc::clone(parts);
    // jsonrpsee's `RpcModule` would clone the extensions and wrap the result of every call.
    let callback = move |_, params: Params<'static>, _, max_size, mut extensions: Extensions| {
        let parts = Arc::clone(&parts);
        async move {
            let peer = extensions.remove::<Arc<ClientPeer>>().expect("`Call::begin` put it there");
            let outcome: Outcome = match R::parse_params(params.as_str()) {
                Ok(_) if R::GRANTS && !peer.may_grant() => {
                    Err(refusal::needs_consent(&format!("`{}`", R::METHOD)))
                }
                Ok(params) => handler(MethodCall { parts, peer, params }).await,
                Err(error) => Err(error),
            };
            extensions.insert(outcome);
            let placeholder = ResponsePayload::success(());
            MethodResponse::response(Id::Null, placeholder, max_size).with_extensions(extensions)
        }
        .boxed()
    };
    let added = methods.verify_and_insert(R::METHOD, MethodCallback::Async(Arc::new(callback)));
    added.expect("each method is registered once");
}

/// Returns the table with every method except those in `kept` answering `error`.
pub(crate) fn refusing(methods: &Methods, kept: &[&str], error: &RpcError) -> Methods {
    let mut refusing = Methods::new();
    for name in methods.method_names() {
        let kept = methods.method(name).filter(|_| kept.contains(&name)).cloned();
        let callback = kept.unwrap_or_else(|| {
            let error = error.clone();
            MethodCallback::Async(Arc::new(move |_, _, _, max_size, mut extensions| {
                extensions.insert::<Outcome>(Err(error.clone()));
                let placeholder = ResponsePayload::success(());
                let response = MethodResponse::response(Id::Null, placeholder, max_size);
                std::future::ready(response.with_extensions(extensions)).boxed()
            }))
        });
        let added = refusing.verify_and_insert(name, callback);
        added.expect("the names of a table are different");
    }
    refusing
}

pub(crate) fn read(message: &[u8]) -> Message<'_> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(rename = "jsonrpc")]
        _version: TwoPointZero,
        // `None` if there is no id, so this is a notification; a null id is an error.
        #[serde(default, deserialize_with = "present")]
        id: Option<RequestId>,
        #[serde(borrow)]
        method: Cow<'a, str>,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }

    fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RequestId>, D::Error> {
        RequestId::deserialize(deserializer).map(Some)
    }

    match serde_json::from_slice(message) {
        Ok(Envelope { id: Some(id), method, params, .. }) => match bounds::check_id(&id) {
            Ok(()) => Message::Request(Request { id, method, params }),
            // An id over its limit is not echoed.
            Err(error) => Message::Malformed(Reply::error(None, error)),
        },
        Ok(Envelope { id: None, method, params, .. }) if method == CancelRequest::METHOD => {
            // Parameters without an id cancel nothing.
            match serde_json::from_str(params.map_or("null", RawValue::get)) {
                Ok(CancelParams { id }) => Message::Cancel(id),
                Err(_) => Message::Notification(method),
            }
        }
        Ok(Envelope { id: None, method, .. }) => Message::Notification(method),
        Err(error) => Message::Malformed(malformed(message, &error)),
    }
}

/// Returns the error reply for a message that is not a request.
fn malformed(message: &[u8], error: &serde_json::Error) -> Reply {
    #[derive(Deserialize)]
    struct OnlyId {
        id: RequestId,
    }

    if !error.is_data() {
        return Reply::error(None, RpcError::parse_error(error.to_string()));
    }
    if message.trim_ascii_start().starts_with(b"[") {
        return Reply::error(None, RpcError::batch());
    }
    // With its id the reply reaches the caller that waits for it.
    let id = serde_json::from_slice(message).ok().map(|OnlyId { id }| id);
    Reply::error(id, refusal::not_a_request(error))
}

impl Call {
    /// Begins a call. The handler runs from the first poll on.
    pub(crate) fn begin(
        request: Request<'_>,
        methods: &Methods,
        peer: &Arc<ClientPeer>,
        max_size: usize,
    ) -> Result<Self, Reply> {
        let Request { id, method, params } = request;
        let Some((name, MethodCallback::Async(callback))) = methods.method_with_name(&method)
        else {
            return Err(Reply::error(Some(id), RpcError::method_not_found(&method)));
        };
        let mut extensions = Extensions::new();
        extensions.insert(Arc::clone(peer));
        let params = Params::new(params.map(RawValue::get)).into_owned();
        Ok(Self {
            id,
            future: callback(Id::Null, params, peer.id(), max_size, extensions),
            span: tracing::debug_span!("request", method = name, connection = peer.id().0),
            started: Instant::now(),
        })
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    /// Polls the call. A panic of the handler becomes an error reply.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let _entered = self.span.enter();
        // Unwind safety: after a panic the future is dropped and never polled again.
        let outcome = match catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(response)) => {
                let (_, _, mut extensions) = response.into_parts();
                extensions.remove().expect("`register` put it there")
            }
            Err(_) => {
                tracing::error!("the handler panicked");
                Err(refusal::panicked())
            }
        };
        tracing::debug!(elapsed = ?self.started.elapsed(), ok = outcome.is_ok(), "answered");
        Poll::Ready(Reply { id: Some(self.id.clone()), outcome })
    }

    /// Cancels the call and returns the reply for it.
    pub(crate) fn cancel(self) -> Reply {
        let _entered = self.span.enter();
        tracing::debug!(elapsed = ?self.started.elapsed(), "cancelled");
        Reply::error(Some(self.id), RpcError::cancelled())
    }
}

impl Reply {
    pub(crate) fn error(id: Option<RequestId>, error: RpcError) -> Self {
        Self { id, outcome: Err(error) }
    }
}
