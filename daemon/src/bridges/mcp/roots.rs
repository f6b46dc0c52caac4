//! The client's roots: asked for once it has greeted, or, where a client speaks the revision that
//! has no greeting (2026-07-28), in answer to the first call that can be answered with a question.
//!
//! Lists cannot be: until then they are of the directory that the program was started in, and the
//! client is told that they have changed.

#![expect(deprecated, reason = "clients of today still say where they work by roots")]

use rmcp::RoleServer;
use rmcp::model::{
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest,
    ListRootsResult, RequestMetaObject,
};
use rmcp::service::Peer;
use tokio::time::timeout;

use super::context::McpContext;
use super::place::PATIENCE;

/// What the question is called.
const QUESTION: &str = "roots";

/// Asks a client that has greeted for its roots, if it has any.
pub(super) async fn settle(desk: &McpContext, peer: &Peer<RoleServer>) {
    let roots = match peer.peer_info() {
        Some(info) if info.capabilities.roots.is_some() => {
            match timeout(PATIENCE, peer.list_roots()).await {
                Ok(Ok(listed)) => Some(listed),
                Ok(Err(error)) => {
                    tracing::info!(%error, "the client does not say its roots");
                    None
                }
                Err(_) => {
                    tracing::info!("the client did not say its roots in time");
                    None
                }
            }
        }
        Some(_) | None => None,
    };
    take(desk, roots);
}

/// Returns the question that a call is answered with first, where its client has roots and has
/// not been asked. What the client says to it comes with the same call again.
pub(super) fn question(
    desk: &McpContext,
    meta: &RequestMetaObject,
    said: Option<&InputResponses>,
) -> Option<InputRequiredResult> {
    if let Some(said) = said.and_then(|it| it.get(QUESTION)) {
        let roots = serde_json::from_value(said.clone());
        let roots =
            roots.inspect_err(|_| tracing::info!("what the client says of its roots is none"));
        take(desk, roots.ok());
        return None;
    }
    // Each call of the revision without a greeting says what its client can do, and no other does.
    let has_roots = meta.client_capabilities().is_some_and(|it| it.roots.is_some());
    if !has_roots || !desk.place.is_to_be_asked() {
        return None;
    }
    let question = InputRequest::ListRoots(ListRootsRequest::default());
    let questions = InputRequests::from([(QUESTION.to_owned(), question)]);
    Some(InputRequiredResult::from_input_requests(questions))
}

fn take(desk: &McpContext, roots: Option<ListRootsResult>) {
    let roots = roots.map(|it| it.roots.into_iter().map(|it| it.uri).collect::<Vec<_>>());
    desk.place.settle(roots.as_deref());
}
