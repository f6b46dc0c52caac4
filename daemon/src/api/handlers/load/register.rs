//! Effects of a load besides the text: hooks registered for the session, and counters.
//!
//! Hooks of a skill that may not run them are removed from the result, because an agent would run
//! them.

use skills_agents::hooks::{Hook, read_hooks};
use skills_discovery::discover::Candidate;
use skills_engine::View;
use skills_engine::sessions::session::HookOwner;
use skills_protocol::error::RpcError;
use skills_protocol::wire::{By, LoadParams};
use skills_render::{ExecutionContext, LoadedSkill};

use crate::access::authorize;
use crate::api::parts::GuardedParts;
use crate::request::unread_session;

/// Returns the hooks that a loaded skill registers, and warnings about others. Removes withheld
/// hooks from `loaded`. `hash` is the hash of the text that contains them.
pub(super) async fn allowed(
    parts: &GuardedParts,
    view: &View,
    candidate: &Candidate,
    hash: [u8; 32],
    loaded: &mut LoadedSkill,
) -> Result<(Vec<Hook>, Vec<String>), RpcError> {
    let Some(hooks) = &loaded.metadata.hooks else { return Ok((Vec::new(), Vec::new())) };
    if let Some(why) = authorize::run::withheld_hooks(&parts.access, view, candidate, hash).await? {
        loaded.metadata.hooks = None;
        return Ok((Vec::new(), vec![why]));
    }
    Ok(read_hooks(hooks))
}

/// Registers hooks with a session; does nothing if the session is unknown.
pub(super) async fn hooks(
    parts: &GuardedParts,
    session: &str,
    agent: Option<&str>,
    view: &View,
    candidate: &Candidate,
    hooks: Vec<Hook>,
) -> Result<(), RpcError> {
    let known = parts.resolver.sessions.get(session).await;
    if known.map_err(|it| unread_session(session, &it))?.is_none() {
        return Ok(());
    }
    let root = &view.resolution.roots[candidate.root];
    let owner = HookOwner {
        agent: agent.unwrap_or_default().to_owned(),
        path: candidate.path.clone(),
        name: candidate.name.clone(),
        plugin: root.plugin.as_ref().map(|it| it.root.clone()),
        place: authorize::run::trust_path(root).cloned(),
    };
    parts.access.counters.count(|it| it.hooks_registered += hooks.len() as u64);
    let registered = parts.resolver.sessions.register_hooks(session, owner, hooks).await;
    registered.map_err(|it| unread_session(session, &it))
}

/// Counts a load by execution context and trigger.
pub(super) fn count(
    parts: &GuardedParts,
    params: &LoadParams,
    loaded: &LoadedSkill,
    agent: Option<&str>,
) {
    let context = match loaded.metadata.status {
        Some(ExecutionContext::Forked) => "fork",
        Some(ExecutionContext::Inline) | None => "inline",
    };
    let trigger = match (params.by, agent) {
        (Some(By::User), _) => "user",
        (Some(By::Model) | None, Some(_)) => "agent",
        (Some(By::Model) | None, None) => "model",
    };
    parts.access.counters.count(|it| {
        it.invocations += 1;
        *it.contexts.entry(context.to_owned()).or_default() += 1;
        *it.triggers.entry(trigger.to_owned()).or_default() += 1;
    });
}
