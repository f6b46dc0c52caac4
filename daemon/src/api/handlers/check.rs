//! `skills/check`: diagnostics of skill files.
//!
//! The index holds no bodies, so this reads the files on the blocking pool.

use std::sync::Arc;

use skills_agents::profile::DEFAULT_PROFILES;
use skills_config::{Config, LevelRow};
use skills_discovery::levels::Level;
use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_engine::inspect::{CheckInput, InspectError, inspect};
use skills_protocol::error::RpcError;
use skills_protocol::method::{Request as _, SkillsCheck};
use skills_protocol::wire::{CheckParams, CheckResult, Context, Contextual, RuleLevel};
use skills_syntax::path::AbsPath;

use crate::api::handlers::rules::unknown_rule;
use crate::api::parts::QueryParts;
use crate::convert::from_wire::absolute;
use crate::convert::to_wire;
use crate::request::{ProfileSource, RequestContext, Resolver, detect};
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::page_cache;
use crate::rpc::page_cache::{PageRequest, PagedResult, query_key};
use crate::rpc::paging;
use crate::rpc::peer::ClientPeer;
use crate::rules_page;

pub(crate) async fn check(call: MethodCall<QueryParts, CheckParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let encoding = params.path_encoding;
    let context = params.take_context();
    let paths = params.paths.iter().enumerate().map(|(at, path)| {
        let param = || format!("params.paths[{at}]");
        absolute(path, encoding).map_err(|it| it.with_param(param()))
    });
    let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
    let own = params.levels.into_iter().map(level).collect::<Result<Vec<_>, _>>()?;
    let Active { views, others, reason, top, mut rows, config } =
        active(&parts.resolver, &peer, &context, params.profiles).await?;
    rows.extend(own);
    let first = Arc::clone(&views[0]);
    let profiles = views.iter().map(|it| to_wire::profile_name(&it.ctx.profile)).collect();
    if paths.is_empty() {
        paths.push(first.ctx.cwd.clone());
    }
    let read_limit = config.read_limit;
    let applies_fixes = params.fix_all;
    let all = [&views[..], &others].concat();
    let what = (views.len(), &paths, &rows, read_limit, applies_fixes);
    let query_key = query_key(SkillsCheck::METHOD, &all, what);
    let limit = paging::limit(params.limit)?;
    let wanted = PageRequest { query_key, cursor: params.cursor.as_deref(), limit };
    let clock = first.clock.clone();
    let find = move |cancel: &Cancel| {
        let levels = skills_config::levels_of(&rows, &top);
        let cancel = cancel.clone();
        let task = CheckInput { paths, views, others, levels, read_limit, applies_fixes, cancel };
        let checked = inspect(&task);
        let checked = checked.map_err(|error| refused(&error))?;
        let page = rules_page::address();
        let skills = checked.iter().filter(|it| it.is_skill).count();
        let found = checked.iter().filter(|it| !it.findings.is_empty());
        let files = found.map(|it| to_wire::checked_file(it, page.as_deref()));
        Ok(PagedResult::new(&clock, skills as u64, files))
    };
    let page = page_cache::page((&parts.page_cache, &parts.heavy), &peer, wanted, find).await?;
    let result = CheckResult {
        clock: page.whole().clock.clone(),
        health: to_wire::health(&first.health),
        profiles,
        reason,
        checked: page.whole().n_checked,
        files: page.items(),
        left_alone: Vec::new(),
        next_cursor: page.next_cursor.clone(),
    };
    Answer::with_capacity(&result, page.size + 512)
}

/// Inputs of the rules for one directory.
pub(super) struct Active {
    /// One view for each checked profile.
    pub(super) views: Vec<Arc<View>>,
    /// Views of the widely used agents that are not checked. A name may mean a skill of theirs.
    pub(super) others: Vec<Arc<View>>,
    /// The reason for the profiles; `None` if the call names them.
    pub(super) reason: Option<String>,
    pub(super) top: AbsPath,
    /// Configured levels of single rules.
    pub(super) rows: Vec<LevelRow>,
    pub(super) config: Arc<Config>,
}

/// Returns the inputs of the rules for a directory: for the given profiles or, if there are none,
/// for the profile of the call, else `check.profiles`, else the agent that runs the caller, else
/// the agents that are present, else those in wide use.
pub(super) async fn active(
    resolver: &Resolver,
    peer: &Arc<ClientPeer>,
    context: &Context,
    mut profiles: Vec<String>,
) -> Result<Active, RpcError> {
    // Any view of the directory knows its worktree, whose configuration may apply.
    let start = resolver.begin(peer, context.session.as_deref()).await?;
    let call = resolver.decode_from(start.clone(), context.clone()).await?;
    let source = call.profile_source.clone();
    let RequestContext { config, repository, view: any, .. } = resolver.complete(call).await?;
    let names_agents = source == ProfileSource::Call || !profiles.is_empty();
    let top = any.resolution.worktree.clone();
    let files = [&*config, &*repository];
    let mut reason = None;
    if profiles.is_empty() {
        let configured = skills_config::check_profiles(files);
        if source == ProfileSource::Call {
            // A context with a profile asks for that agent's view.
            profiles = vec![any.ctx.profile.id.to_string()];
        } else if !configured.is_empty() {
            (profiles, reason) = (configured, Some("`check.profiles`".to_owned()));
        } else {
            let own = any.ctx.profile.id.to_string();
            (profiles, reason) = match source {
                // The agents of these are those of lists.
                ProfileSource::Session | ProfileSource::Worktree | ProfileSource::User => {
                    let (profile, source) = detect(peer, context).await?;
                    detected(profile.unwrap_or(own), source)
                }
                source => detected(own, source),
            };
        }
    }
    // A rename has to find the skills of every agent, unless the call names some.
    let is_other = |it: &&str| !names_agents && !profiles.iter().any(|profile| profile == it);
    let unjudged: Vec<_> = DEFAULT_PROFILES.into_iter().filter(is_other).collect();
    let decode = async |profile: String| {
        let context = Context { profile: Some(profile), ..context.clone() };
        let mut call = resolver.decode_from(start.clone(), context).await?;
        call.reuse_repository(&top, &repository);
        Ok::<_, RpcError>(call)
    };
    let mut views = Vec::with_capacity(profiles.len());
    for profile in profiles {
        views.push(if profile == *any.ctx.profile.id {
            Arc::clone(&any)
        } else {
            resolver.complete(decode(profile).await?).await?.view
        });
    }
    let mut others = Vec::with_capacity(unjudged.len());
    for profile in unjudged {
        // Nothing is judged by these agents, so no call waits for their sources.
        let mut call = decode(profile.to_owned()).await?;
        others.push(resolver.view(&mut call).await?);
    }
    Ok(Active { views, others, reason, top, rows: skills_config::level_rows(files), config })
}

/// Returns the profiles that are checked by default, and the reason. `profile` is that of the
/// running agent, if `source` is its variable.
fn detected(profile: String, source: ProfileSource) -> (Vec<String>, Option<String>) {
    match source {
        ProfileSource::Variable(_) => (vec![profile], source.reason()),
        ProfileSource::Present(agents) => {
            // As `skillsd list` shortens its first line.
            let n_signs = if agents.len() > 5 { 3 } else { 5 };
            let mut signs: Vec<_> = agents.iter().take(n_signs).map(|it| it.sign.clone()).collect();
            if agents.len() > n_signs {
                signs.push(format!("{} more", agents.len() - n_signs));
            }
            let reason = format!("detected: {}", signs.join(", "));
            (agents.into_iter().map(|it| it.profile).collect(), Some(reason))
        }
        _ => (DEFAULT_PROFILES.map(str::to_owned).to_vec(), ProfileSource::Default.reason()),
    }
}

fn level(row: RuleLevel) -> Result<LevelRow, RpcError> {
    let RuleLevel { rule, level, glob } = row;
    if !skills_lint::is_known(&rule) {
        return Err(unknown_rule(&rule));
    }
    match Level::read(&level) {
        Some(level) => Ok(LevelRow { rule, level, glob }),
        None => Err(RpcError::invalid_params(format!("`{level}` is not a rule level"))
            .with_hint("The levels are `off`, `hint`, `information`, `warning` and `error`.")),
    }
}

fn refused(error: &InspectError) -> RpcError {
    let hint = match error {
        InspectError::Cancelled => return RpcError::cancelled(),
        InspectError::Unreadable { .. } => "Name an existing SKILL.md or a directory.",
        InspectError::NoSkill(_) => {
            "Name a SKILL.md, a command, an instruction file such as `CLAUDE.md`, or a directory."
        }
    };
    RpcError::invalid_params(error.to_string()).with_hint(hint)
}
