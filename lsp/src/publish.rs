//! Publishes diagnostics to clients that do not pull them.
//!
//! One task per client sends one document at a time, always its newest version. A burst of changes
//! therefore ends in one publish, in order, however slowly the client reads.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::{Notification, PublishDiagnostics};
use tower_lsp::ls_types::{Diagnostic, PublishDiagnosticsParams, Uri};

use crate::analysis::AnalysisContext;
use crate::document::Revision;
use crate::session::{PendingDiagnostics, Session};
use crate::{catch_panic, from_proto, handlers};

/// Publishes until the session ends.
pub(crate) async fn run(session: Arc<Session>, client: Client) {
    // The last published diagnostics of each document, and their revision.
    let mut last: HashMap<Uri, (Revision, Vec<Diagnostic>)> = HashMap::new();
    loop {
        // Apply all messages that have already arrived first.
        tokio::task::yield_now().await;
        let Some(pending) = session.next_pending().await else { return };
        let made = AssertUnwindSafe(params(&session, pending, &mut last)).catch_unwind();
        match made.await {
            Ok(Some(params)) => client.send_notification::<PublishDiagnostics>(params).await,
            Ok(None) => {}
            Err(_) => catch_panic::log(PublishDiagnostics::METHOD),
        }
    }
}

/// Returns the notification to send; `None` for documents that are not checked, if nothing has
/// changed since the last one, and if a newer version is pending.
async fn params(
    session: &Session,
    pending: PendingDiagnostics,
    last: &mut HashMap<Uri, (Revision, Vec<Diagnostic>)>,
) -> Option<PublishDiagnosticsParams> {
    let PendingDiagnostics { uri, document, settings } = pending;
    if !from_proto::is_checked(&uri) {
        return None;
    }
    let Some(document) = document else {
        last.remove(&uri);
        session.republish_dependents();
        return Some(PublishDiagnosticsParams::new(uri, Vec::new(), None));
    };
    session.republish_dependents();
    let found = |analysis: &AnalysisContext| {
        handlers::diagnostic::diagnostics(&document, analysis, settings.encoding)
    };
    let diagnostics = session.with_awaited_analysis(&document, found).await;
    let now = session.document(uri.as_str()).map(|it| it.revision());
    if now != Some(document.revision()) {
        return None;
    }
    let before = last.get(&uri);
    if before.is_some_and(|it| it.0 == document.revision() && it.1 == diagnostics) {
        return None;
    }
    last.insert(uri.clone(), (document.revision(), diagnostics.clone()));
    Some(PublishDiagnosticsParams::new(uri, diagnostics, document.version()))
}
