//! `skills/explain`: why a skill is available or not, or which skills a directory gives.

use skills_discovery::discover::{
    self, Explanation, NearMisses, Query, Resolution, RootOutcome, StepKind,
};
use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_engine::files::near_miss;
use skills_protocol::path::encoding_of;
use skills_protocol::wire::{Contextual, ExplainParams, ExplainResult, State, Verdict};

use crate::api::handlers::budget::describe_cut;
use crate::api::parts::QueryParts;
use crate::api::session::UseCounts;
use crate::convert::from_wire::{SkillTarget, target};
use crate::convert::to_wire;
use crate::request::RequestContext;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

pub(crate) async fn explain(call: MethodCall<QueryParts, ExplainParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let other_agents = match context.profile {
        Some(_) => OtherAgents::Omit,
        None => OtherAgents::Include,
    };
    let RequestContext { view, .. } = parts.resolver.resolve(&peer, context).await?;
    let uses = parts.sessions.uses().await;
    if params.name.is_none() && params.near_misses == Some(true) {
        // It walks the worktree.
        let make = move |_: &Cancel| explain_in(&view, &params, &uses, other_agents);
        return parts.heavy.run(&peer, make).await;
    }
    // It searches the disk, and large views have many steps.
    run_fallible_blocking(move || explain_in(&view, &params, &uses, other_agents)).await
}

/// The agents whose verdicts an explanation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OtherAgents {
    /// Only that of the agent that the call names.
    Omit,
    /// Also those of other agents that drop the file.
    Include,
}

fn explain_in(
    view: &View,
    params: &ExplainParams,
    uses: &UseCounts,
    other_agents: OtherAgents,
) -> Outcome {
    if params.name.is_none() && params.path.is_none() {
        return Answer::new(&explain_place(view, params.near_misses.unwrap_or_default()));
    }
    let target = target(params.name.as_deref(), params.path.as_deref(), params.path_encoding)?;
    let query = query(&target);
    let explain =
        |around: &NearMisses| discover::explain(&view.ctx, &view.resolution, query, around);
    let mut explanation = explain(&NearMisses::default());
    let found = explanation.candidate.map(|it| &view.resolution.candidates[it]);
    // A path below a skill may belong to another skill that discovery did not find.
    let is_below = match (&target, found) {
        (SkillTarget::Path(path), Some(it)) => *path != it.path && *path != it.dir(),
        (SkillTarget::Path(_) | SkillTarget::Name(_), _) => false,
    };
    if found.is_none() || is_below {
        explanation = explain(&find_near_misses(view, &target));
    }
    if other_agents == OtherAgents::Omit {
        explanation.steps.retain(|it| !matches!(it.kind, StepKind::Other { .. }));
    }
    let mut result = explain_skill(view, &target, &explanation);
    let shown = explanation.candidate.map(|index| &view.resolution.candidates[index]);
    if result.verdict.state.is_some_and(State::is_listed)
        && let Some(cut) = shown.and_then(|it| describe_cut(view, it, uses))
    {
        (result.verdict.summary, result.verdict.next) = (cut.summary, Some(cut.next));
    }
    Answer::new(&result)
}

fn query<'a>(target: &'a SkillTarget<'_>) -> Query<'a> {
    match target {
        SkillTarget::Name(name) => Query::Name(name),
        SkillTarget::Path(path) => Query::Path(path),
    }
}

/// Searches the disk for near misses of a name or path that discovery did not find.
fn find_near_misses(view: &View, target: &SkillTarget<'_>) -> NearMisses {
    let worktree = near_miss::SearchScope::of(&view.resolution);
    match target {
        SkillTarget::Path(path) => near_miss::describe(path, &worktree),
        SkillTarget::Name(name) => {
            let places = discover::places(&view.ctx, &view.resolution);
            near_miss::search(name, &places, &worktree)
        }
    }
}

fn explain_skill(
    view: &View,
    target: &SkillTarget<'_>,
    explanation: &Explanation,
) -> ExplainResult {
    let candidate = explanation.candidate.map(|index| &view.resolution.candidates[index]);
    let (verdict, steps) = to_wire::explanation(view, explanation);
    let path = candidate.map(|it| &*it.path);
    let path_encoding = encoding_of(path);
    let asked = match target {
        SkillTarget::Name(name) => Some((*name).to_owned()),
        SkillTarget::Path(_) => None,
    };
    ExplainResult {
        name: asked.or_else(|| candidate.map(|it| it.name.clone())),
        path: candidate.map(|it| to_wire::path(&it.path, path_encoding)),
        path_encoding,
        verdict,
        steps,
        ..empty_result(view)
    }
}

fn explain_place(view: &View, with_near_misses: bool) -> ExplainResult {
    let resolution = &view.resolution;
    let agent = &view.ctx.profile.agent;
    let cwd = view.ctx.cwd.display();
    let n_listed = resolution.listed().count();
    let n_searched = resolution.roots.iter().filter(|it| it.outcome == RootOutcome::Walked).count();
    let skills = if n_listed == 1 { "skill" } else { "skills" };
    let summary = format!(
        "{agent} shows {n_listed} {skills} to its model in `{cwd}`: {n_searched} of {} search roots exist.",
        resolution.roots.len()
    );
    let next = if n_listed == 0 { first_step(resolution) } else { None };
    let mut steps = to_wire::root_steps(view);
    if with_near_misses {
        let mut known = resolution.candidates.iter().map(|it| &it.path);
        let around = near_miss::skill_files(&near_miss::SearchScope::of(resolution), &mut known);
        steps.extend(to_wire::near_miss_steps(view, &around, &steps));
    }
    ExplainResult { verdict: Verdict { state: None, summary, next }, steps, ..empty_result(view) }
}

/// Suggests where to put a first skill.
fn first_step(resolution: &Resolution) -> Option<String> {
    let root = resolution.roots.iter().find(|it| it.path.starts_with(&*resolution.worktree))?;
    Some(format!("Put a skill at `{}/<name>/SKILL.md`.", root.path.display()))
}

/// Returns the fields common to all explanations of a view.
fn empty_result(view: &View) -> ExplainResult {
    ExplainResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        name: None,
        path: None,
        path_encoding: None,
        profile: view.ctx.profile.id.to_string(),
        confidence: Some(to_wire::evidence(view.ctx.profile.confidence())),
        verdict: Verdict { state: None, summary: String::new(), next: None },
        steps: Vec::new(),
    }
}
