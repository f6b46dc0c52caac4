//! Approval before a skill is loaded or read: asks the user through the client, if it supports
//! elicitation.
//!
//! The daemon defines the question and the meaning of the answer; the client shows the one and
//! returns the other. If the client cannot ask, the model gets the refusal, which tells it to ask
//! its user and how the user can approve in a terminal.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, ServiceError};
use skills_client::ClientError;
use skills_protocol::error::{NEEDS_ASKING, RpcError};
use skills_protocol::method::PermissionPending;
use skills_protocol::wire::{PermissionPendingParams, PermissionReplyParams, Reply};

use crate::context::{McpContext, refusal};

/// Returns the key of a question among the input requests. It has the request's id: an answer
/// counts for that request alone.
fn question_name(id: &str) -> String {
    format!("permission:{id}")
}

/// Name of the form field with the answer.
const ANSWER: &str = "answer";

/// Ways to ask the user behind a client.
pub(crate) enum User {
    /// The client cannot ask.
    Unreachable,
    /// By a request to a client that sent `initialize`.
    Behind(Peer<RoleServer>),
    /// By a response to the call, which the client repeats with the user's answer.
    InAnswers(Option<InputResponses>),
}

impl User {
    /// Returns how to ask the user behind a call.
    pub(crate) fn of(context: &RequestContext<RoleServer>, said: Option<&InputResponses>) -> Self {
        if let Some(capabilities) = context.meta.client_capabilities() {
            // In the revision without `initialize`, each call carries the client's capabilities.
            if !has_forms(&capabilities) {
                return Self::Unreachable;
            }
            return Self::InAnswers(said.cloned());
        }
        match context.peer.peer_info() {
            Some(info) if has_forms(&info.capabilities) => Self::Behind(context.peer.clone()),
            Some(_) | None => Self::Unreachable,
        }
    }
}

/// Returns whether a client can show forms; one that names no kind of elicitation can.
fn has_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// Asks the user if a refusal needs approval. Returns none once the user has answered and the call
/// can be repeated; otherwise the question for the client, or the refusal for the model as an
/// error.
pub(crate) async fn ask_first(
    mcp: &McpContext,
    user: User,
    refused: ClientError,
) -> Result<Option<InputRequiredResult>, ClientError> {
    let Some((id, params)) = refusal(&refused).and_then(question) else { return Err(refused) };
    let said = match user {
        User::Unreachable => None,
        User::Behind(peer) => {
            let limit = time_left(mcp, &id).await?;
            match ask(&peer, params, limit).await {
                Err(ServiceError::Timeout { .. }) => return Err(unanswered(refused)),
                said => said.unwrap_or_else(|error| {
                    tracing::info!(%error, "the client failed to ask the user");
                    None
                }),
            }
        }
        User::InAnswers(answers) => {
            let name = question_name(&id);
            let answer = answers.as_ref().and_then(|it| it.get(&name)).cloned();
            let said = answer.and_then(|it| serde_json::from_value(it).ok());
            if said.is_none() {
                let question = InputRequest::Elicitation(ElicitRequest::new(params));
                let questions = InputRequests::from([(name, question)]);
                return Ok(Some(InputRequiredResult::from_input_requests(questions)));
            }
            said
        }
    };
    let Some(reply) = said.as_ref().and_then(reply) else {
        return Err(for_the_model(refused, &id));
    };
    let params = PermissionReplyParams { id, reply, message: None, always: Vec::new() };
    mcp.answer(&params).await?;
    Ok(None)
}

/// Returns the refusal with a hint for the model, which must ask its user instead of approving
/// itself.
fn for_the_model(refused: ClientError, id: &str) -> ClientError {
    match refused {
        ClientError::Rpc(error) => ClientError::Rpc(error.with_hint(format!(
            "Only the user can approve. Explain why you need it, and that running `skillsd permission reply {id} once` in a terminal allows it once. Do not run that yourself; retry when the user has approved."
        ))),
        other => other,
    }
}

/// Returns the refusal for a question that expired before the user answered.
fn unanswered(refused: ClientError) -> ClientError {
    match refused {
        ClientError::Rpc(error) => ClientError::Rpc(error.with_hint(
            "The user did not answer in time, so it is refused. Continue without it, or ask the user what to do.",
        )),
        other => other,
    }
}

/// Returns how long the daemon waits for the answer to a question; nothing if it has expired.
async fn time_left(mcp: &McpContext, id: &str) -> Result<Duration, ClientError> {
    let pending = mcp.call::<PermissionPending>(&PermissionPendingParams::default()).await?;
    let expires = pending.requests.into_iter().find(|it| it.id == id).map_or(0, |it| it.expires);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Duration::from_millis(expires).saturating_sub(now))
}

/// Returns the daemon's question with its id, if the refusal is one.
fn question(refused: &RpcError) -> Option<(String, ElicitRequestParams)> {
    let id = refused.data.as_ref().filter(|_| refused.code == NEEDS_ASKING)?.request_id.clone()?;
    let answers = [Reply::Once, Reply::Always, Reply::Reject].map(|it| it.as_str().to_owned());
    let schema = EnumSchema::builder(answers.to_vec()).title("Allow it?").build();
    let schema = ElicitationSchema::builder().required_enum_schema(ANSWER, schema).build().ok()?;
    let message = format!("{}.", refused.message);
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    };
    Some((id, params))
}

/// Asks the user; after the time limit, tells the client that the question is withdrawn.
async fn ask(
    peer: &Peer<RoleServer>,
    params: ElicitRequestParams,
    limit: Duration,
) -> Result<Option<ElicitResult>, ServiceError> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let options = PeerRequestOptions::with_timeout(limit);
    let asked = peer.send_request_with_option(request, options).await?;
    Ok(match asked.await_response().await? {
        ClientResult::ElicitResult(said) => Some(said),
        _ => None,
    })
}

/// Returns the user's answer; none if the user dismissed the question.
fn reply(said: &ElicitResult) -> Option<Reply> {
    match said.action {
        ElicitationAction::Decline => Some(Reply::Reject),
        ElicitationAction::Accept => {
            let answer = said.content.as_ref()?.get(ANSWER)?.clone();
            serde_json::from_value::<Reply>(answer).ok()
        }
        _ => None,
    }
}
