//! `permission/*`: permission checks, and the user's approvals.

use std::time::Duration;

use skills_discovery::permission::Action;
use skills_engine::sessions::store::grant::Grant;
use skills_protocol::error::{RpcError, shortened};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, PendingPermission, PermissionAction, PermissionCheckParams, PermissionCheckResult,
    PermissionGrant, PermissionGrantedParams, PermissionGrantedResult, PermissionPendingParams,
    PermissionPendingResult, PermissionReplyParams, PermissionReplyResult, PermissionRequestParams,
    PermissionRequestResult, PermissionRevokeParams, PermissionRevokeResult, Reply,
};

use crate::access::approval_queue::{ApprovalOutcome, Pending, UserReply};
use crate::access::pattern_decision::{PermissionSubject, sentence};
use crate::api::parts::GuardedParts;
use crate::convert::to_wire;
use crate::request::RequestContext;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::refusal;

/// Maximum number of patterns in one call.
const MAX_PATTERNS: usize = 100;

pub(crate) async fn check(call: MethodCall<GuardedParts, PermissionCheckParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let patterns = check_patterns(&params.patterns)?;
    let request = parts.resolver.resolve(&peer, context).await?;
    let view = &*request.view;
    let wanted = PermissionSubject::new(&request);
    let found = wanted.decide(&parts.access, &params.permission, patterns).await;
    Answer::new(&PermissionCheckResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        action: to_wire::permission_action(found.action),
        rule: found.rule,
        reason: sentence(&found.reason),
        suggestions: found.suggestions,
    })
}

pub(crate) async fn request(call: MethodCall<GuardedParts, PermissionRequestParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let patterns = check_patterns(&params.patterns)?;
    let request = parts.resolver.resolve(&peer, context).await?;
    let view = &*request.view;
    let wanted = PermissionSubject::new(&request);
    let mut found = wanted.decide(&parts.access, &params.permission, patterns).await;
    let mut said = UserReply { reply: None, message: None };
    let mut is_decided = found.action != Action::Ask;
    let action = match found.action {
        Action::Allow => PermissionAction::Allow,
        Action::Deny => PermissionAction::Deny,
        Action::Ask => {
            let about = wanted.about(&params.permission, patterns, &found);
            let question = about.question(params.always.clone(), params.metadata.clone());
            let most = parts.access.approval_timeout();
            let limit = params.timeout_ms.map_or(most, Duration::from_millis).min(most);
            // With a zero timeout the user is not asked.
            if !limit.is_zero() {
                match parts.access.ask_and_wait(&request.peer, question, limit).await? {
                    ApprovalOutcome::User(reply) => said = reply,
                    ApprovalOutcome::Rules(decision) => (is_decided, found) = (true, decision),
                }
            }
            match said.reply {
                _ if is_decided => to_wire::permission_action(found.action),
                Some(Reply::Once | Reply::Always) => PermissionAction::Allow,
                Some(Reply::Reject) | None => PermissionAction::Deny,
            }
        }
    };
    Answer::new(&PermissionRequestResult {
        action,
        timed_out: !is_decided && said.reply.is_none(),
        reply: said.reply,
        message: said.message,
        rule: found.rule,
        reason: sentence(&found.reason),
        health: to_wire::health(&view.health),
    })
}

pub(crate) async fn reply(call: MethodCall<GuardedParts, PermissionReplyParams>) -> Outcome {
    let MethodCall { parts, peer, params } = call;
    let PermissionReplyParams { id, reply, message, always } = params;
    let unknown = || {
        RpcError::invalid_params(format!("no pending request `{}`", shortened(&id)))
            .with_param("params.id")
            .with_hint(
                "It may be answered or expired; `permission/pending` lists the pending ones.",
            )
    };
    parts.access.end_decided().await?;
    let question = parts.access.queue.get(&id).ok_or_else(unknown)?;
    if parts.access.queue.is_asker(&id, peer.nth()) {
        return Err(refusal::own_question(&id));
    }
    let may = |it: &String| question.always.contains(it) || question.suggestions.contains(it);
    if let Some(other) = always.iter().find(|it| !may(it)) {
        let suggested = question.suggestions.iter().filter(|it| !question.always.contains(it));
        let all = question.always.iter().chain(suggested).map(|it| format!("`{it}`"));
        let all: Vec<_> = all.collect();
        let hint = if all.is_empty() {
            "Leave `always` out: this request is about one text, which the reply `always` trusts."
                .to_owned()
        } else {
            format!("`always` of this request may contain {}.", all.join(", "))
        };
        return Err(RpcError::invalid_params(format!(
            "`{other}` is not a pattern of this request"
        ))
        .with_param("params.always")
        .with_hint(hint));
    }
    let said = UserReply { reply: Some(reply), message };
    let also = parts.access.reply(&id, said, always).await.ok_or_else(unknown)?;
    let health = to_wire::health(&parts.resolver.sessions.store().health());
    Answer::new(&PermissionReplyResult { id, also, health })
}

pub(crate) async fn pending(call: MethodCall<GuardedParts, PermissionPendingParams>) -> Outcome {
    let MethodCall { parts, params, .. } = call;
    parts.access.end_decided().await?;
    let mut requests = Vec::new();
    parts.access.queue.each(|id, asked| {
        let session = &asked.question.subject.session;
        if params.session.is_none() || params.session == *session {
            requests.push(pending_permission(id, asked));
        }
    });
    let health = to_wire::health(&parts.resolver.settings.health(None));
    Answer::new(&PermissionPendingResult { requests, health })
}

fn pending_permission(id: &str, asked: &Pending) -> PendingPermission {
    let question = asked.question.clone();
    let subject = question.subject;
    let encoding = encoding_of([&*question.view.cwd]);
    PendingPermission {
        id: id.to_owned(),
        permission: subject.permission,
        patterns: subject.patterns,
        always: question.always,
        suggestions: question.suggestions,
        metadata: question.metadata,
        reason: question.reason,
        rule: question.rule,
        session: subject.session,
        agent: subject.agent,
        cwd: encode(&question.view.cwd, encoding),
        path_encoding: encoding,
        profile: subject.profile,
        waiting: asked.is_waited_for(),
        at: asked.at,
        expires: asked.expires,
    }
}

pub(crate) async fn granted(call: MethodCall<GuardedParts, PermissionGrantedParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let session = context.session.clone();
    let RequestContext { view, .. } = parts.resolver.resolve(&peer, context).await?;
    let worktree = &view.resolution.worktree;
    let grants = parts.resolver.sessions.store().grants(worktree, session.as_deref()).await;
    let grants = grants.map_err(|error| RpcError::internal(error.to_string()))?;
    let grant = |it: Grant| PermissionGrant { permission: it.permission, pattern: it.pattern };
    Answer::new(&PermissionGrantedResult {
        grants: grants.into_iter().map(grant).collect(),
        health: to_wire::health(&parts.resolver.health_of(&view)),
    })
}

pub(crate) async fn revoke(call: MethodCall<GuardedParts, PermissionRevokeParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let RequestContext { view, .. } = parts.resolver.resolve(&peer, params.take_context()).await?;
    let PermissionRevokeParams { permission, pattern, .. } = params;
    let grant = Grant { session: None, permission, pattern };
    let store = parts.resolver.sessions.store();
    let revoked = store.revoke(&view.resolution.worktree, grant).await;
    let revoked = revoked.map_err(|error| {
        let what = "failed to revoke the grant, which stays in effect";
        refusal::not_kept(what, &error, &store.health())
    })?;
    let health = to_wire::health(&parts.resolver.health_of(&view));
    Answer::new(&PermissionRevokeResult { revoked, health })
}

fn check_patterns(patterns: &[String]) -> Result<&[String], RpcError> {
    if patterns.is_empty() || patterns.iter().any(|it| it.trim().is_empty()) {
        return Err(RpcError::invalid_params("`patterns` is empty")
            .with_param("params.patterns")
            .with_hint("Send at least one pattern; for `skill`, the names of skills."));
    }
    if patterns.len() > MAX_PATTERNS {
        let message = format!("{} patterns are more than {MAX_PATTERNS}", patterns.len());
        return Err(RpcError::invalid_params(message).with_hint("Ask in several calls."));
    }
    Ok(patterns)
}
