//! The language server for SKILL.md and for other files that mention skills.
//!
//! [`serve`] speaks LSP with one editor over any pair of streams. The crate only translates:
//! `skills_ide` computes completions, hovers and edits, and `skills_lint` computes findings. It
//! opens no file and no socket. It reads the disk through the [`Backend`] that the caller passes
//! in, and overlays the open documents.
//!
//! Reading order: `backend`, `connection`, the two layers (`catch_panic`, `document_sync`), the
//! state (`session`, `workspace`, `snapshot`, `analysis`), `server` with its `handlers`, the
//! background work (`publish`, `tasks`), and the conversions (`from_proto`, `to_proto`).

mod backend;

mod connection;

mod lenient;

mod uri_mapper;

mod catch_panic;

mod document_sync;

mod session;

mod settings;

mod editor_settings;

mod document;

mod workspace;

mod snapshot;

mod analysis;

mod skill_paths;

mod texts;

mod server;

mod handlers;

mod publish;

mod tasks;

mod from_proto;

mod options;

mod watched_files;

mod to_proto;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::LspService;

use crate::catch_panic::CatchPanicLayer;
use crate::connection::{Connection, Input, Output};
use crate::document_sync::DocumentSyncLayer;
use crate::server::Server;
use crate::session::Session;

pub use backend::{
    Answer, Backend, DocumentLocation, FactsRequest, NoBackend, OnChange, WalkOptions, WatchHandle,
    WatchTarget,
};
pub use session::Ending;

/// Serves one client until it sends `exit` or its stream ends.
///
/// `backend` answers questions about the disk. Must be polled within a tokio runtime with timers.
/// After `exit` nothing more is read, but a pending read is not cancelled: the owner of the runtime
/// must not wait for it.
pub fn serve(
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    backend: Arc<dyn Backend>,
) -> BoxFuture<'static, Ending> {
    serve_streams(Box::new(input), Box::new(output), backend)
}

/// Compiles the server once, in this crate: neither this function nor its future is generic.
fn serve_streams(
    input: Input,
    output: Output,
    backend: Arc<dyn Backend>,
) -> BoxFuture<'static, Ending> {
    Box::pin(async move {
        // Fetched before the first finding, because each finding links to this page.
        let rules_page = backend.rules_page().await;
        let session = Arc::new(Session::new(backend, rules_page));
        let (service, socket) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
        let client = service.inner().client();
        let tasks = tasks::run(Arc::clone(&session), client.clone());
        let publisher = publish::run(Arc::clone(&session), client);
        let service = CatchPanicLayer::new(DocumentSyncLayer::new(service, Arc::clone(&session)));
        let connection = Connection { input, output, socket, session: &session };
        connection.run(service, [publisher.boxed(), tasks.boxed()]).await;
        session.ending()
    })
}
