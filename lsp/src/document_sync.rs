//! The service layer that applies document changes in wire order.
//!
//! Handlers may overtake each other at every await. [`DocumentSyncLayer`] therefore opens, changes
//! and closes documents synchronously inside `call`, which the reader invokes message by message;
//! no handler receives these notifications. It also rejects responses whose document changed after
//! the request arrived.

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
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, Uri,
};

use crate::document::{Document, Revision};
use crate::session::Session;
use crate::settings::Settings;
use crate::{from_proto, lenient};

/// A service that keeps the session's documents in sync.
pub(crate) struct DocumentSyncLayer<S> {
    inner: S,
    session: Arc<Session>,
}

impl<S> DocumentSyncLayer<S> {
    pub(crate) fn new(inner: S, session: Arc<Session>) -> Self {
        Self { inner, session }
    }

    /// Applies a document notification; returns every other message unchanged.
    fn apply_sync(&self, request: Request) -> Option<Request> {
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
        let mut params = params.unwrap_or_default();
        let fault = lenient::change_fault(&params);
        lenient::clamp_numbers(&mut params);
        let uri: Option<Uri> =
            params["textDocument"]["uri"].as_str().and_then(|it| it.parse().ok());
        if !self.session.is_serving() {
            tracing::warn!(%method, "ignored a notification before `initialize` or after `shutdown`");
        } else if let Some((fault, uri)) = fault.zip(uri.as_ref()) {
            tracing::error!(?fault, "received a change that cannot be applied with certainty");
            self.session.close_out_of_sync(uri);
        } else if let Err(error) = handler(&self.session, params) {
            tracing::error!(%method, %error, "received a notification with invalid parameters");
            if let Some(uri) = uri.filter(|_| method == DidChangeTextDocument::METHOD) {
                self.session.close_out_of_sync(&uri);
            }
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
        let Some(request) = self.apply_sync(request) else { return future::ok(None).boxed() };
        if let Some(id) = request.id().filter(|_| request.method().starts_with("$/")) {
            // Optional `$/` notifications may be ignored, but requests need a response.
            let refused = Response::from_error(id.clone(), Error::method_not_found());
            return future::ok(Some(refused)).boxed();
        }
        let Some(requested) = RequestedRevision::of(&request, &self.session) else {
            return self.inner.call(request).boxed();
        };
        let session = Arc::clone(&self.session);
        let answer = self.inner.call(request);
        async move { Ok(answer.await?.map(|response| requested.reject_if_modified(response, &session))) }.boxed()
    }
}

/// Opens a document.
fn did_open(session: &Session, params: DidOpenTextDocumentParams) {
    let item = params.text_document;
    session.open(item.uri, item.version, item.text);
}

/// Applies all changes, each to the text after the previous one.
fn did_change(session: &Session, params: DidChangeTextDocumentParams) {
    let mut changes = params.content_changes;
    let (uri, version) = (params.text_document.uri, params.text_document.version);
    // A whole text brings a document back whose change could not be read.
    if session.is_out_of_sync(&uri)
        && let Some(at) = changes.iter().rposition(|it| it.range.is_none())
    {
        let later = changes.split_off(at + 1);
        let text = changes.pop().map(|it| it.text).unwrap_or_default();
        session.open(uri.clone(), version, text);
        changes = later;
    }
    let edits = changes.into_iter().map(|change| {
        move |document: &Document, settings: Settings| {
            from_proto::edit(document, change, settings.encoding)
        }
    });
    session.change(uri, version, edits);
}

/// Closes a document.
fn did_close(session: &Session, params: DidCloseTextDocumentParams) {
    session.close(params.text_document.uri);
}

/// The document of a request, and its revision when the request arrived.
struct RequestedRevision {
    uri: String,
    revision: Revision,
}

impl RequestedRevision {
    /// Returns `None` if the message is not a request about an open document.
    fn of(request: &Request, session: &Session) -> Option<Self> {
        request.id()?;
        if request.method() == DocumentDiagnosticRequest::METHOD {
            // The newest findings are always a valid answer. Clients whose pull request is rejected
            // show no diagnostics until the next change.
            return None;
        }
        let uri = request.params()?.get("textDocument")?.get("uri")?.as_str()?;
        Some(Self { uri: uri.to_owned(), revision: session.document(uri)?.revision() })
    }

    /// Returns the response, or `ContentModified` if the document has changed.
    fn reject_if_modified(&self, response: Response, session: &Session) -> Response {
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

    fn notification(method: &'static str, params: Value) -> Request {
        Request::build(method).params(params).finish()
    }

    fn open(text: &str) -> Request {
        let item = json!({"uri": URI, "languageId": "markdown", "version": 1, "text": text});
        notification("textDocument/didOpen", json!({"textDocument": item}))
    }

    fn change(version: i32, text: &str) -> Request {
        let document = json!({"uri": URI, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        notification("textDocument/didChange", params)
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
    async fn document_changes_before_the_first_await() {
        let (mut service, session) = initialized().await;
        let text = || session.document(URI).map(|document| document.text().to_owned());
        drop(service.call(open("one")));
        assert_eq!(text().as_deref(), Some("one"));
        drop(service.call(change(2, "two")));
        assert_eq!(text().as_deref(), Some("two"));
        let close = json!({"textDocument": {"uri": URI}});
        drop(service.call(notification("textDocument/didClose", close)));
        assert_eq!(text(), None);
    }

    #[tokio::test]
    async fn response_about_a_changed_document_is_rejected() {
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
    async fn invalid_notification_changes_nothing() {
        let (mut service, session) = initialized().await;
        drop(service.call(open("one")));
        drop(service.call(notification("textDocument/didChange", json!({"textDocument": 3}))));
        assert_eq!(session.document(URI).expect("it is open").text(), "one");
    }

    #[tokio::test]
    async fn documents_are_kept_only_between_initialize_and_shutdown() {
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
