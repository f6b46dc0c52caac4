//! The language server for SKILL.md.
//!
//! Speaks LSP with one editor over any pair of streams. It translates and decides nothing: what a
//! text means and what is wrong with it is for `skills_ide` and `skills_lint` to say. It opens no file and no socket:
//! what is on the disk it asks of a [`Source`] that it is handed, and lays the open texts over it.
//!
//! Read it in this order: the source, a connection, what is done with a message before any handler
//! sees it, the state, what is known of the disk, the server with its handlers, what is sent and
//! fetched unasked, and the two conversions.

mod source;

mod connection;

mod spelling;

mod guard;

mod arrival;

mod session;

mod settings;

mod document;

mod world;

mod known;

mod scene;

mod texts;

mod server;

mod handlers;

mod publish;

mod errands;

mod from_proto;

mod options;

mod to_proto;

#[cfg(test)]
mod ordering;

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::LspService;

use crate::arrival::Arrival;
use crate::connection::Connection;
use crate::guard::Guard;
use crate::server::Server;
use crate::session::Session;

pub use source::{Answer, Bell, Extent, Nearby, Nothing, Source, Whereabouts};

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
pub async fn serve<I, O>(input: I, output: O, source: Arc<dyn Source>) -> Ending
where
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    // Before the first finding, each of which leads there.
    let rules_page = source.rules_page().await;
    let session = Arc::new(Session::new(source, rules_page));
    let (service, socket) = LspService::new(|client| Server::new(client, Arc::clone(&session)));
    let client = service.inner().client();
    let errands = errands::run(Arc::clone(&session), client.clone());
    let publisher = publish::run(Arc::clone(&session), client);
    let service = Guard::new(Arrival::new(service, Arc::clone(&session)));
    let connection = Connection { input, output, socket, session: &session };
    connection.run(service, [publisher.boxed(), errands.boxed()]).await;
    session.ending()
}
