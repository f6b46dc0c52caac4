//! `skills/search`: the skills that match a query, best first; `skills/usage`: those used most.
//!
//! Searches the skills that `skills/list` would list, so hidden skills are not found. A view's
//! search index is built on its first search.

use skills_discovery::discover::address_of;
use skills_engine::View;
use skills_engine::views::search::{RankedHit, SearchError};
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{
    Contextual, SearchHit, SearchParams, SearchResult, SkillUsage, UsageParams, UsageResult,
};

use crate::api::handlers::list::StateSet;
use crate::api::parts::QueryParts;
use crate::api::session::{SessionCalls, UseCounts, score};
use crate::convert::to_wire;
use crate::request::RequestContext;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

const DEFAULT_LIMIT: u32 = 10;

/// Maximum number of results; for more, list.
const MAX_RESULTS: u32 = 100;

pub(crate) async fn search(call: MethodCall<QueryParts, SearchParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_RESULTS).contains(&limit) {
        return Err(RpcError::invalid_params(format!("`limit` is {limit}"))
            .with_param("params.limit")
            .with_hint(format!("Ask for 1 to {MAX_RESULTS} skills.")));
    }
    if params.query.chars().all(char::is_whitespace) {
        return Err(RpcError::invalid_params("`query` is empty")
            .with_param("params.query")
            .with_hint("Send a name or a few words about the task."));
    }
    let RequestContext { view, .. } = parts.resolver.resolve(&peer, context).await?;
    let states = StateSet::of(&params.include);
    let is_indexed = view.responses().has_search_index();
    let limit = limit as usize;
    let uses = parts.sessions.uses().await;
    let work = move || {
        let hits = hits(&view, &params.query, limit, states, &uses);
        Ok((view, hits))
    };
    // The first search of a view builds its index.
    let (view, hits) = if is_indexed {
        run_fallible_blocking(work).await?
    } else {
        parts.heavy.run(&peer, |_| work()).await?
    };
    let hits = hits.map_err(|error| {
        tracing::error!(%error, "a search failed");
        RpcError::internal(error.to_string())
    })?;
    let skills = hits.into_iter().map(|hit| SearchHit {
        skill: to_wire::entry(&view, &view.resolution.candidates[hit.document]),
        score: rounded(hit.score),
        matched: hit.matched.into_iter().map(str::to_owned).collect(),
    });
    Answer::new(&SearchResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        skills: skills.collect(),
    })
}

fn hits(
    view: &View,
    query: &str,
    limit: usize,
    states: StateSet,
    uses: &UseCounts,
) -> Result<Vec<RankedHit>, SearchError> {
    let candidates = &view.resolution.candidates;
    let index = view.responses().search_index(&view.resolution)?;
    let is_wanted = |it: usize| states.holds(to_wire::state(candidates[it].state));
    index.search(query, limit, &is_wanted, &|it| score(uses, &candidates[it]))
}

/// `skills/usage`: the listed skills that were loaded, the one with the highest score first.
pub(crate) async fn usage(call: MethodCall<SessionCalls, UsageParams>) -> Outcome {
    let MethodCall { parts: sessions, peer, mut params } = call;
    let RequestContext { view, .. } =
        sessions.resolver.resolve(&peer, params.take_context()).await?;
    let uses = sessions.uses().await;
    run_fallible_blocking(move || {
        let states = StateSet::of(&params.include);
        let candidates = view.resolution.candidates.iter();
        let shown = candidates.filter(|it| states.holds(to_wire::state(it.state)));
        let mut used: Vec<_> = shown.filter_map(|it| Some((it, *uses.get(&*it.path)?))).collect();
        used.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        let skills = used.into_iter().map(|(it, usage)| {
            let encoding = encoding_of([&*it.path]);
            SkillUsage {
                name: it.name.clone(),
                path: address_of(&it.path).unwrap_or_else(|| encode(&it.path, encoding)),
                path_encoding: encoding,
                count: usage.count,
                used: usage.last,
                score: rounded(usage.score),
            }
        });
        Answer::new(&UsageResult {
            clock: view.clock.clone(),
            health: to_wire::health(&view.health),
            skills: skills.collect(),
        })
    })
    .await
}

/// Rounds a score: more digits are noise.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}
