//! `hooks/*`: hooks of a session's skills that match an event. The agent runs them.

use std::collections::BTreeSet;

use serde_json::Value;
use skills_agents::hooks::is_triggered;
use skills_engine::cancel::Cancel;
use skills_engine::sessions::session::RegisteredHook;
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, Freshness, HooksDoneParams, HooksDoneResult, HooksMatchParams, HooksMatchResult,
    MatchedHook,
};
use skills_syntax::path::AbsPath;

use crate::access::authorize;
use crate::access::sealed_copy::{Hashes, Unit};
use crate::api::parts::GuardedParts;
use crate::convert::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::peer::ClientPeer;

pub(crate) async fn match_hooks(call: MethodCall<GuardedParts, HooksMatchParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let mut context = params.take_context();
    let agent = context.agent.clone().unwrap_or_default();
    // The result depends on no file.
    context.freshness = Some(Freshness::Cached);
    let named = parts.sessions.require_session(&peer, context).await?;
    let payload = params.payload.unwrap_or(Value::Null);
    let (event, tool) = (params.event.as_str(), params.tool.as_deref());
    let trusts = parts.resolver.trusts.decisions().await;
    // Trust may have been revoked since the hook was registered.
    let is_trusted = |place: &AbsPath| trusts.decision(place).is_some_and(|it| it.1);
    let all = named.session.hooks.iter().filter(|it| it.owner.agent == agent && !it.is_done);
    let all = all.filter(|it| it.owner.place.as_ref().is_none_or(is_trusted));
    let is_from_registry = |it: &RegisteredHook| {
        authorize::run::is_from_registry(&parts.access, &it.owner.path, it.owner.place.as_ref())
    };
    let all = all.filter(|it| !is_from_registry(it));
    let triggered: Vec<_> =
        all.filter(|it| is_triggered(&it.hook, event, tool, &payload)).collect();
    let unit = |it: &RegisteredHook| Unit::of(&it.owner.path, it.owner.plugin.as_deref());
    let units = triggered.iter().filter(|it| it.owner.place.is_some()).map(|it| unit(it)).collect();
    let unchanged = unchanged(&parts, &peer, units).await?;
    let is_handed_out =
        |it: &&&RegisteredHook| it.owner.place.is_none() || unchanged.contains(&unit(it));
    let hooks: Vec<_> = triggered.iter().filter(is_handed_out).map(|it| matched(it)).collect();
    parts.access.counters.count(|it| it.hooks_matched += hooks.len() as u64);
    Answer::new(&HooksMatchResult {
        session: named.session.id.clone(),
        hooks,
        health: to_wire::health(&parts.resolver.sessions.store().health()),
    })
}

/// Returns the units whose files are unchanged since they were trusted. Leaves out unreadable ones,
/// and those that trust does not cover completely.
async fn unchanged(
    parts: &GuardedParts,
    peer: &ClientPeer,
    units: BTreeSet<Unit>,
) -> Result<BTreeSet<Unit>, RpcError> {
    let mut unchanged = BTreeSet::new();
    if units.is_empty() {
        return Ok(unchanged);
    }
    let read = move |cancel: &Cancel| {
        let mut hashes = Hashes::new(cancel);
        let content = |it: Unit| {
            let read = hashes.unit(&it).filter(|it| it.left_out.is_none())?;
            Some((read.content.clone(), it))
        };
        Ok(units.into_iter().filter_map(content).collect::<Vec<_>>())
    };
    for (content, unit) in parts.heavy.run_for_hooks(peer, read).await? {
        if authorize::run::unknown(&parts.access, vec![content]).await.is_empty() {
            unchanged.insert(unit);
        }
    }
    Ok(unchanged)
}

fn matched(it: &RegisteredHook) -> MatchedHook {
    let dir = it.owner.path.parent().unwrap_or_else(|| it.owner.path.clone());
    let root = it.owner.plugin.as_ref().unwrap_or(&dir);
    let encoding = encoding_of([&*it.owner.path, &**root]);
    let variables = [("CLAUDE_PLUGIN_ROOT", root), ("CLAUDE_SKILL_DIR", &dir)];
    let hook = it.hook.clone();
    MatchedHook {
        id: it.id.clone(),
        event: hook.event,
        matcher: hook.matcher,
        handler: hook.handler,
        once: hook.once,
        skill: it.owner.name.clone(),
        path: encode(&it.owner.path, encoding),
        root: encode(root, encoding),
        path_encoding: encoding,
        environment: variables.map(|(name, it)| (name.to_owned(), encode(it, encoding))).into(),
    }
}

pub(crate) async fn finish_hook(call: MethodCall<GuardedParts, HooksDoneParams>) -> Outcome {
    let MethodCall { parts, params, .. } = call;
    let removed = params.ok && parts.resolver.sessions.finish_hook(&params.id).await;
    let health = to_wire::health(&parts.resolver.sessions.store().health());
    Answer::new(&HooksDoneResult { removed, health })
}
