//! The language server for SKILL.md.
//!
//! Speaks LSP with one editor over any pair of streams. It translates and decides nothing: what a
//! text means and what is wrong with it is for `skills_ide` and `skills_lint` to say. It opens no file and no socket:
//! what is on the disk it asks of a [`Backend`] that it is handed, and lays the open texts over it.
//!
//! Read it in this order: the source, a connection, what is done with a message before any handler
//! sees it, the state, what is known of the disk, the server with its handlers, what is sent and
//! fetched unasked, and the two conversions.

mod backend;

mod connection;

mod uri_mapper;

mod catch_panic;

mod document_sync;

mod session;

mod settings;

mod document;

mod workspace;

mod snapshot;

mod analysis;

mod texts;

mod server;

mod handlers;

mod publish;

mod tasks;

mod from_proto;

mod options;

mod to_proto;

#[cfg(test)]
mod ordering;

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::LspService;

use crate::catch_panic::CatchPanicLayer;
use crate::connection::Connection;
use crate::document_sync::DocumentSyncLayer;
use crate::server::Server;
use crate::session::Session;

pub use backend::{Answer, Backend, DocumentLocation, Nothing, OnChange, WalkOptions, WatchTarget};

/// How a client took its leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It asked for `shutdown` first.
    Orderly,
    /// It said `exit`, or its stream ended, without `shutdown` before.
    Abrupt,
}

/// Serves one client until it says `exit` or its stream ends.
///
/// `source` answers for the disk. Must be called within a tokio runtime with timers. After `exit`
/// nothing more is read, but a read that has begun is left to itself: whoever owns the runtime must
/// not wait for it.
pub async fn serve<I, O>(input: I, output: O, source: Arc<dyn Backend>) -> Ending
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    // Before the first finding, each of which leads there.
    let rules_page = source.rules_page().await;
    let session = Arc::new(Session::new(source, rules_page));
    let (service, socket) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
    let client = service.inner().client();
    let errands = tasks::run(Arc::clone(&session), client.clone());
    let publisher = publish::run(Arc::clone(&session), client);
    let service = CatchPanicLayer::new(DocumentSyncLayer::new(service, Arc::clone(&session)));
    let connection = Connection { input, output, socket, session: &session };
    connection.run(service, [publisher.boxed(), errands.boxed()]).await;
    session.ending()
}
