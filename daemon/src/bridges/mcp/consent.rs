//! What the user is asked before a skill is loaded or read, asked through the client where it can ask.
//!
//! The question is the daemon's, and so is what an answer means: the client shows the one and
//! brings the other. Where it cannot ask, the model is given the refusal, which has it ask its user
//! and says how the user answers elsewhere.

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{Peer, RequestContext};
use skills_client::ClientError;
use skills_protocol::error::{NEEDS_ASKING, RpcError};
use skills_protocol::wire::{PermissionReplyParams, Reply};

use super::context::{McpContext, refusal};

/// What the question is called.
const QUESTION: &str = "permission";

/// What the answer in it is called.
const ANSWER: &str = "answer";

/// How the user behind a client is asked.
pub(super) enum User {
    /// Not at all.
    Unreachable,
    /// By a request to the client, which has greeted.
    Behind(Peer<RoleServer>),
    /// In answer to the call, which comes again with what the user has said.
    InAnswers(Option<ElicitResult>),
}

impl User {
    /// Returns the user behind a call.
    pub(super) fn of(context: &RequestContext<RoleServer>, said: Option<&InputResponses>) -> Self {
        if let Some(capabilities) = context.meta.client_capabilities() {
            // Without a greeting each call says what its client can do.
            if !has_forms(&capabilities) {
                return Self::Unreachable;
            }
            let said = said.and_then(|it| it.get(QUESTION)).cloned();
            return Self::InAnswers(said.and_then(|it| serde_json::from_value(it).ok()));
        }
        match context.peer.peer_info() {
            Some(info) if has_forms(&info.capabilities) => Self::Behind(context.peer.clone()),
            Some(_) | None => Self::Unreachable,
        }
    }
}

/// One that names no kind of question can show a form.
fn has_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// Asks the user where that is what a refusal is about. Returns none where the user has answered,
/// and the call can be made again; else the question for the client, or the refusal for the model.
pub(super) async fn ask_first(
    desk: &McpContext,
    user: User,
    refused: ClientError,
) -> Result<Option<InputRequiredResult>, ClientError> {
    let Some((id, params)) = refusal(&refused).and_then(question) else { return Err(refused) };
    let said = match user {
        User::Unreachable => None,
        User::Behind(peer) => ask(&peer, params).await,
        User::InAnswers(Some(said)) => Some(said),
        User::InAnswers(None) => {
            let question = InputRequest::Elicitation(ElicitRequest::new(params));
            let questions = InputRequests::from([(QUESTION.to_owned(), question)]);
            return Ok(Some(InputRequiredResult::from_input_requests(questions)));
        }
    };
    let Some(reply) = said.as_ref().and_then(reply) else {
        return Err(for_the_model(refused, &id));
    };
    let params = PermissionReplyParams { id, reply, message: None, always: Vec::new() };
    desk.answer(&params).await?;
    Ok(None)
}

/// Returns the refusal for a model to read, which is not the one to answer: it is to ask its user.
fn for_the_model(refused: ClientError, id: &str) -> ClientError {
    match refused {
        ClientError::Rpc(error) => ClientError::Rpc(error.with_hint(format!(
            "Only the user can agree: say what you want it for, and that `skillsd permission reply {id} once` in a terminal allows it this time. Do not run that yourself; ask again when the user has agreed."
        ))),
        other => other,
    }
}

/// Returns the daemon's question and its id, where the refusal is one.
fn question(refused: &RpcError) -> Option<(String, ElicitRequestParams)> {
    let id = refused.data.as_ref().filter(|_| refused.code == NEEDS_ASKING)?.request_id.clone()?;
    let answers = [Reply::Once, Reply::Always, Reply::Reject].map(|it| it.as_str().to_owned());
    let schema = EnumSchema::builder(answers.to_vec()).title("May it be?").build();
    let schema = ElicitationSchema::builder().required_enum_schema(ANSWER, schema).build().ok()?;
    let message = format!("{}.", refused.message);
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    };
    Some((id, params))
}

async fn ask(peer: &Peer<RoleServer>, params: ElicitRequestParams) -> Option<ElicitResult> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    match peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(said)) => Some(said),
        Ok(_) => None,
        Err(error) => {
            tracing::info!(%error, "the client does not ask the user");
            None
        }
    }
}

/// What the user has said. Whoever goes away without an answer has said nothing.
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
