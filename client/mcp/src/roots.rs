//! The client's roots: requested after `initialize`, or, in the revision without it (2026-07-28),
//! as an input request in response to the first call that allows one.
//!
//! List calls do not allow one. Until the roots are known they use the start directory, and the
//! client is notified of the change afterwards.

#![expect(deprecated, reason = "current clients still send their directories as roots")]

use rmcp::RoleServer;
use rmcp::model::{
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest,
    ListRootsResult, RequestMetaObject,
};
use rmcp::service::Peer;
use tokio::time::timeout;

use crate::client_directory::ROOTS_TIMEOUT;
use crate::context::McpContext;

/// Key of the question among the input requests.
const QUESTION: &str = "roots";

/// Requests the roots of a client that sent `initialize`, if it has any.
pub(crate) async fn request(mcp: &McpContext, peer: &Peer<RoleServer>) {
    let roots = match peer.peer_info() {
        Some(info) if info.capabilities.roots.is_some() => {
            match timeout(ROOTS_TIMEOUT, peer.list_roots()).await {
                Ok(Ok(listed)) => Some(listed),
                Ok(Err(error)) => {
                    tracing::info!(%error, "the client did not send its roots");
                    None
                }
                Err(_) => {
                    tracing::info!("the client did not send its roots in time");
                    None
                }
            }
        }
        Some(_) | None => None,
    };
    take(mcp, roots);
}

/// Returns the input request for roots, if the client supports them and has not been asked. The
/// client repeats the call with its answer.
pub(crate) fn question(
    mcp: &McpContext,
    meta: &RequestMetaObject,
    said: Option<&InputResponses>,
) -> Option<InputRequiredResult> {
    if let Some(said) = said.and_then(|it| it.get(QUESTION)) {
        let roots = serde_json::from_value(said.clone());
        let roots = roots.inspect_err(|_| tracing::info!("ignoring invalid roots from the client"));
        take(mcp, roots.ok());
        return None;
    }
    // Only calls of the revision without `initialize` carry the client's capabilities.
    let has_roots = meta.client_capabilities().is_some_and(|it| it.roots.is_some());
    if !has_roots || !mcp.directory.needs_roots() {
        return None;
    }
    let question = InputRequest::ListRoots(ListRootsRequest::default());
    let questions = InputRequests::from([(QUESTION.to_owned(), question)]);
    Some(InputRequiredResult::from_input_requests(questions))
}

fn take(mcp: &McpContext, roots: Option<ListRootsResult>) {
    let roots = roots.map(|it| it.roots.into_iter().map(|it| it.uri).collect::<Vec<_>>());
    mcp.directory.apply_roots(roots.as_deref());
}
