//! Diagnostics for clients that do not ask for them.
//!
//! One task for each client. It sends one text at a time and always the newest state of it, so a
//! burst of changes ends in one publish, in order, however slow the client reads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tower_lsp::Client;
use tower_lsp::ls_types::notification::{Notification, PublishDiagnostics};
use tower_lsp::ls_types::{Diagnostic, PublishDiagnosticsParams, Uri};

use crate::session::{PendingDiagnostics, Revision, Session};
use crate::{catch_panic, from_proto, handlers};

/// Publishes until nothing will come any more.
pub(crate) async fn run(session: Arc<Session>, client: Client) {
    // What was said of each text last, and of which state of it.
    let mut last: HashMap<Uri, (Revision, Vec<Diagnostic>)> = HashMap::new();
    loop {
        // First let everything be applied that has arrived already.
        tokio::task::yield_now().await;
        let Some(due) = session.next_due().await else { return };
        match catch_unwind(AssertUnwindSafe(|| params(&session, due, &mut last))) {
            Ok(Some(params)) => client.send_notification::<PublishDiagnostics>(params).await,
            Ok(None) => {}
            Err(_) => catch_panic::log(PublishDiagnostics::METHOD),
        }
    }
}

/// Returns what to send; nothing for a text that we have no say in, or where another file has
/// changed and nothing follows from it.
fn params(
    session: &Session,
    due: PendingDiagnostics,
    last: &mut HashMap<Uri, (Revision, Vec<Diagnostic>)>,
) -> Option<PublishDiagnosticsParams> {
    let PendingDiagnostics { uri, document, settings } = due;
    if !from_proto::is_checked(&uri) {
        return None;
    }
    let Some(document) = document else {
        last.remove(&uri);
        session.tell_others();
        return Some(PublishDiagnosticsParams::new(uri, Vec::new(), None));
    };
    session.tell_others();
    let diagnostics = session.with_scene(&document, |scene| {
        handlers::diagnostic::diagnostics(&document, scene, settings.encoding)
    });
    let said = (document.revision(), diagnostics.clone());
    if last.insert(uri.clone(), said.clone()) == Some(said) {
        return None;
    }
    Some(PublishDiagnosticsParams::new(uri, diagnostics, Some(document.version())))
}
