//! The outermost service layer: a panic fails one request instead of the process.
//!
//! [`CatchPanicLayer`] wraps a service, catches panics of its handlers, synchronous or
//! asynchronous, logs them and answers the request with an internal error. It does not repair
//! shared state; [`crate::session`] never leaves its state half changed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tower::Service;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

/// A service that turns a panic into an error response.
pub(crate) struct CatchPanicLayer<S> {
    inner: S,
}

impl<S> CatchPanicLayer<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S> Service<Request> for CatchPanicLayer<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Option<Response>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let method = request.method().to_owned();
        let id = request.id().cloned();
        match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(answer) => AssertUnwindSafe(answer)
                .catch_unwind()
                .map(move |answer| answer.unwrap_or_else(|_| Ok(internal_error(&method, id))))
                .boxed(),
            Err(_) => future::ok(internal_error(&method, id)).boxed(),
        }
    }
}

fn internal_error(method: &str, id: Option<Id>) -> Option<Response> {
    log(method);
    id.map(|id| Response::from_error(id, Error::internal_error()))
}

/// Logs that a panic was caught during `what`.
pub(crate) fn log(what: &str) {
    // The panic's message is not logged: the message of a failed slice quotes the document.
    tracing::error!(what, "a handler panicked");
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    /// Panics before it returns, after it has returned, or never, depending on the method.
    struct Fragile;

    impl Service<Request> for Fragile {
        type Response = Option<Response>;
        type Error = Infallible;
        type Future = BoxFuture<'static, Result<Option<Response>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            let (method, id, _) = request.into_parts();
            assert!(method != "at once", "asked to");
            Box::pin(async move {
                tokio::task::yield_now().await;
                assert!(method != "later", "asked to");
                Ok(id.map(|id| Response::from_ok(id, json!("fine"))))
            })
        }
    }

    async fn check(
        service: &mut CatchPanicLayer<Fragile>,
        method: &'static str,
    ) -> Option<Response> {
        let answer = service.call(Request::build(method).id(7).finish()).await;
        let notification = service.call(Request::build(method).finish()).await;
        assert_eq!(notification, Ok(None), "a notification has no response");
        answer.expect("it is infallible")
    }

    #[tokio::test]
    async fn panic_fails_one_request() {
        let mut service = CatchPanicLayer::new(Fragile);
        let error = Response::from_error(Id::Number(7), Error::internal_error());
        for method in ["at once", "later"] {
            assert_eq!(check(&mut service, method).await.as_ref(), Some(&error));
            let fine = Response::from_ok(Id::Number(7), json!("fine"));
            assert_eq!(check(&mut service, "well").await, Some(fine));
        }
    }
}
