//! Diagnostics for clients that do not ask for them.
//!
//! One task for each client. It sends one text at a time and always the newest state of it, so a
//! burst of changes ends in one publish, in order, however slow the client reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tower_lsp::Client;
use tower_lsp::ls_types::PublishDiagnosticsParams;
use tower_lsp::ls_types::notification::{Notification, PublishDiagnostics};

use crate::session::{Due, Session};
use crate::{from_proto, guard, handlers};

/// Publishes until nothing will come any more.
pub(crate) async fn run(session: Arc<Session>, client: Client) {
    loop {
        // First let everything be applied that has arrived already.
        tokio::task::yield_now().await;
        let Some(due) = session.next_due().await else { return };
        match catch_unwind(AssertUnwindSafe(|| params(due))) {
            Ok(Some(params)) => client.send_notification::<PublishDiagnostics>(params).await,
            Ok(None) => {}
            Err(_) => guard::log(PublishDiagnostics::METHOD),
        }
    }
}

/// Returns what to send; nothing for a text that we have no say in.
fn params(due: Due) -> Option<PublishDiagnosticsParams> {
    let Due { uri, document, settings } = due;
    if !from_proto::is_skill(&uri) {
        return None;
    }
    let Some(document) = document else {
        return Some(PublishDiagnosticsParams::new(uri, Vec::new(), None));
    };
    let diagnostics = handlers::diagnostic::diagnostics(&document, settings.encoding);
    Some(PublishDiagnosticsParams::new(uri, diagnostics, Some(document.version())))
}
