//! `hooks/*`: which hooks of a session's skills run at an event. The agent runs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use skills_agents::hooks::is_triggered;
use skills_engine::sessions::session::RegisteredHook;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, Freshness, HooksDoneParams, HooksDoneResult, HooksMatchParams, HooksMatchResult,
    MatchedHook,
};
use skills_syntax::path::AbsPath;

use crate::access::authorize;
use crate::access::sealed_copy::Unit;
use crate::api::to_wire;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::peer::Peer;
use crate::service::Service;

pub(crate) async fn matching(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: HooksMatchParams,
) -> Outcome {
    let mut context = params.take_context();
    let agent = context.agent.clone().unwrap_or_default();
    // It depends on no file.
    context.freshness = Some(Freshness::Cached);
    let named = service.known(&peer, context).await?;
    let payload = params.payload.unwrap_or(Value::Null);
    let (event, tool) = (params.event.as_str(), params.tool.as_deref());
    let trusts = service.trusts().await;
    // What was trusted when it was registered may not be any more.
    let is_trusted = |place: &AbsPath| trusts.decision(place).is_some_and(|it| it.1);
    let all = named.session.hooks.iter().filter(|it| it.agent == agent && !it.is_done);
    let all = all.filter(|it| it.place.as_ref().is_none_or(is_trusted));
    let mut unchanged = BTreeMap::new();
    let mut hooks = Vec::new();
    for hook in all.filter(|it| is_triggered(&it.hook, event, tool, &payload)) {
        if hook.place.is_some() {
            let unit = Unit::of(&hook.path, hook.plugin.as_deref());
            let is_known = if let Some(is_known) = unchanged.get(&unit) {
                *is_known
            } else {
                let is_known = is_unchanged(&service, unit.clone(), &hook.name).await;
                unchanged.insert(unit, is_known);
                is_known
            };
            if !is_known {
                continue;
            }
        }
        hooks.push(matched(hook));
    }
    service.counters.count(|it| it.hooks_matched += hooks.len() as u64);
    Answer::new(&HooksMatchResult {
        session: named.session.id.clone(),
        hooks,
        health: to_wire::health(&service.sessions.store().health()),
    })
}

/// Returns true if the files of a skill are those that were trusted; false if one cannot be read.
async fn is_unchanged(service: &Service, unit: Unit, name: &str) -> bool {
    match authorize::run::files(unit, name).await {
        Ok(files) => authorize::run::unknown(service, vec![files]).await.is_empty(),
        Err(_) => false,
    }
}

fn matched(it: &RegisteredHook) -> MatchedHook {
    let dir = it.path.parent().unwrap_or_else(|| it.path.clone());
    let root = it.plugin.as_ref().unwrap_or(&dir);
    let encoding = encoding_of([&*it.path, &**root]);
    let variables = [("CLAUDE_PLUGIN_ROOT", root), ("CLAUDE_SKILL_DIR", &dir)];
    let hook = it.hook.clone();
    MatchedHook {
        id: it.id.clone(),
        event: hook.event,
        matcher: hook.matcher,
        handler: hook.handler,
        once: hook.once,
        skill: it.name.clone(),
        path: encode(&it.path, encoding),
        root: encode(root, encoding),
        path_encoding: encoding,
        environment: variables.map(|(name, it)| (name.to_owned(), encode(it, encoding))).into(),
    }
}

pub(crate) async fn done(service: Arc<Service>, _: Arc<Peer>, params: HooksDoneParams) -> Outcome {
    let removed = params.ok && service.sessions.finish_hook(&params.id).await;
    let health = to_wire::health(&service.sessions.store().health());
    Answer::new(&HooksDoneResult { removed, health })
}
