//! The layer that changes texts, in the order of the wire.
//!
//! Handlers overtake one another at every await. So opening, changing and closing are done here,
//! inside `call`, which the reader invokes message by message; no handler ever sees them. It also
//! tells when an answer came too late: the text was changed after the request had arrived.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use serde_json::Value;
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Request, Response};
use tower_lsp::ls_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification,
};
use tower_lsp::ls_types::request::{DocumentDiagnosticRequest, Request as _};

use crate::handlers::synchronization::{did_change, did_close, did_open};
use crate::session::{Revision, Session};

/// A service around which texts are kept.
pub(crate) struct DocumentSyncLayer<S> {
    inner: S,
    session: Arc<Session>,
}

impl<S> DocumentSyncLayer<S> {
    pub(crate) fn new(inner: S, session: Arc<Session>) -> Self {
        Self { inner, session }
    }

    /// Does what a note about a text says; gives a message back that is something else.
    fn note(&self, request: Request) -> Option<Request> {
        let handler: fn(&Session, Value) -> serde_json::Result<()> = match request.method() {
            DidOpenTextDocument::METHOD => |session, params| {
                serde_json::from_value(params).map(|params| did_open(session, params))
            },
            DidChangeTextDocument::METHOD => |session, params| {
                serde_json::from_value(params).map(|params| did_change(session, params))
            },
            DidCloseTextDocument::METHOD => |session, params| {
                serde_json::from_value(params).map(|params| did_close(session, params))
            },
            _ => return Some(request),
        };
        let (method, _, params) = request.into_parts();
        if !self.session.is_serving() {
            tracing::warn!(%method, "ignored before `initialize` or after `shutdown`");
        } else if let Err(error) = handler(&self.session, params.unwrap_or_default()) {
            tracing::error!(%method, %error, "received a note that cannot be read");
        }
        None
    }
}

impl<S> Service<Request> for DocumentSyncLayer<S>
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
        let Some(request) = self.note(request) else { return future::ok(None).boxed() };
        if let Some(id) = request.id().filter(|_| request.method().starts_with("$/")) {
            // What is optional is not ignored where an answer is waited for.
            let refused = Response::from_error(id.clone(), Error::method_not_found());
            return future::ok(Some(refused)).boxed();
        }
        let Some(asked) = Asked::about(&request, &self.session) else {
            return self.inner.call(request).boxed();
        };
        let session = Arc::clone(&self.session);
        let answer = self.inner.call(request);
        async move { Ok(answer.await?.map(|response| asked.check(response, &session))) }.boxed()
    }
}

/// What a request is about, as it stood when the request arrived.
struct Asked {
    uri: String,
    revision: Revision,
}

impl Asked {
    /// Returns nothing for what is not a request about an open text.
    fn about(request: &Request, session: &Session) -> Option<Self> {
        request.id()?;
        if request.method() == DocumentDiagnosticRequest::METHOD {
            // The newest findings are the right answer whenever they come; clients that are
            // refused here show none until the next change.
            return None;
        }
        let uri = request.params()?.get("textDocument")?.get("uri")?.as_str()?;
        Some(Self { uri: uri.to_owned(), revision: session.document(uri)?.revision() })
    }

    /// Returns the answer, or that it is about a text that is no more.
    fn check(&self, response: Response, session: &Session) -> Response {
        let now = session.document(&self.uri).map(|document| document.revision());
        if response.is_error() || now == Some(self.revision) {
            return response;
        }
        let (id, _) = response.into_parts();
        Response::from_error(id, Error::new(ErrorCode::ContentModified))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tower_lsp::LspService;
    use tower_lsp::jsonrpc::Id;

    use super::*;
    use crate::server::Server;

    const URI: &str = "file:///w/SKILL.md";

    fn note(method: &'static str, params: Value) -> Request {
        Request::build(method).params(params).finish()
    }

    fn open(text: &str) -> Request {
        let item = json!({"uri": URI, "languageId": "markdown", "version": 1, "text": text});
        note("textDocument/didOpen", json!({"textDocument": item}))
    }

    fn change(version: i32, text: &str) -> Request {
        let document = json!({"uri": URI, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        note("textDocument/didChange", params)
    }

    fn request(method: &'static str) -> Request {
        let params = json!({"textDocument": {"uri": URI}});
        Request::build(method).params(params).id(1).finish()
    }

    async fn initialized() -> (DocumentSyncLayer<LspService<Server>>, Arc<Session>) {
        let session = Arc::new(Session::default());
        let (service, _) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
        let mut service = DocumentSyncLayer::new(service, Arc::clone(&session));
        let initialize = Request::build("initialize").id(0);
        let capabilities = json!({"textDocument": {"diagnostic": {}}});
        let initialize = initialize.params(json!({"capabilities": capabilities})).finish();
        service.call(initialize).await.expect("it has not exited").expect("it is a request");
        (service, session)
    }

    #[tokio::test]
    async fn a_text_has_changed_before_anything_is_awaited() {
        let (mut service, session) = initialized().await;
        let text = || session.document(URI).map(|document| document.text().to_owned());
        drop(service.call(open("one")));
        assert_eq!(text().as_deref(), Some("one"));
        drop(service.call(change(2, "two")));
        assert_eq!(text().as_deref(), Some("two"));
        let close = json!({"textDocument": {"uri": URI}});
        drop(service.call(note("textDocument/didClose", close)));
        assert_eq!(text(), None);
    }

    #[tokio::test]
    async fn an_answer_about_a_text_that_is_no_more_is_refused() {
        let (mut service, _) = initialized().await;
        drop(service.call(open("---\nname: a\n---\n")));
        let in_time = service.call(request("textDocument/documentSymbol")).await;
        assert!(in_time.expect("served").expect("answered").is_ok());

        let late = service.call(request("textDocument/documentSymbol"));
        drop(service.call(change(2, "other")));
        let modified = Response::from_error(Id::Number(1), Error::new(ErrorCode::ContentModified));
        assert_eq!(late.await.expect("served"), Some(modified));

        let findings = service.call(request("textDocument/diagnostic"));
        drop(service.call(change(3, "other")));
        assert!(findings.await.expect("served").expect("answered").is_ok());
    }

    #[tokio::test]
    async fn a_note_that_cannot_be_read_changes_nothing() {
        let (mut service, session) = initialized().await;
        drop(service.call(open("one")));
        drop(service.call(note("textDocument/didChange", json!({"textDocument": 3}))));
        assert_eq!(session.document(URI).expect("it is open").text(), "one");
    }

    #[tokio::test]
    async fn texts_are_kept_between_initialize_and_shutdown_only() {
        let session = Arc::new(Session::default());
        let (service, _) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
        let mut early = DocumentSyncLayer::new(service, Arc::clone(&session));
        drop(early.call(open("one")));
        assert!(session.document(URI).is_none());

        let (mut service, session) = initialized().await;
        let shutdown = Request::build("shutdown").id(9).finish();
        service.call(shutdown).await.expect("served");
        drop(service.call(open("one")));
        assert!(session.document(URI).is_none());
    }
}
