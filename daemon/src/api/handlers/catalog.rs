//! `catalog/render` and `catalog/tool`: the prompt listing as an agent gives it to its model.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::value::to_raw_value;
use skills_agents::field_table::WHEN_TO_USE;
use skills_agents::fields::Fields;
use skills_agents::profile::Scope;
use skills_config::Config;
use skills_discovery::discover::{Candidate, SearchRoot};
use skills_engine::View;
use skills_protocol::error::RpcError;
use skills_protocol::wire::{CatalogParams, Contextual, ToolParams, ToolResult};
use skills_render::prompt_listing::plugin_search::{self, FoundSkill, SkillQuery};
use skills_render::prompt_listing::{ListedSkill, ListingFormat, PromptListing, write_listing};
use skills_render::resources::is_script;
use skills_render::tool as describe;
use skills_syntax::path::AbsPath;

use crate::access::confined_dir::ConfinedDir;
use crate::api::from_wire::format;
use crate::api::request::RequestContext;
use crate::api::session::SessionCalls;
use crate::api::to_wire;
use crate::api::to_wire::rendered;
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::blocking::blocking;
use crate::rpc::peer::Peer;

pub(crate) async fn render(
    sessions: Arc<SessionCalls>,
    peer: Arc<Peer>,
    mut params: CatalogParams,
) -> Outcome {
    let context = params.take_context();
    let only_new = params.only_new == Some(true);
    let agent = context.agent.clone().filter(|it| !it.is_empty());
    let resolver = &sessions.resolver;
    let request = if only_new {
        // `onlyNew` stores in the session which skills have been listed.
        resolver.complete(sessions.decode_in_session(&peer, context).await?).await?
    } else {
        resolver.resolve(&peer, context).await?
    };
    let RequestContext { config, session, view, .. } = request;
    let format = params.format.map_or(ListingFormat::of(view.ctx.profile.output), format::catalog);
    let listing_budget =
        format::listing_budget(params.context_tokens, params.budget_chars, params.empty_text);
    let query = params.query.as_deref().map(query).transpose()?;
    let skills = listed(&sessions, &view).await;
    let known = session.as_deref().and_then(|it| it.announced.get(agent.as_deref().unwrap_or("")));
    let known: HashSet<&Path> = known.into_iter().flatten().map(|it| &**it).collect();
    let is_known = |it: &ListedSkill<'_>| known.contains(it.path);
    let told = rendered::ListingTotals {
        n_skills: skills.len(),
        is_initial: !skills.iter().any(is_known),
    };
    let names: Vec<_> = skills.iter().map(|it| it.name).collect();
    let answers = |it: &ListedSkill<'_>| {
        query.as_ref().is_none_or(|query| query.matches(it.name, it.description))
    };
    let is_wanted = |it: &ListedSkill<'_>| (!only_new || !is_known(it)) && answers(it);
    let mut shown: Vec<_> = skills.into_iter().filter(is_wanted).collect();
    let searched = query.as_ref().filter(|_| format == ListingFormat::Plugin);
    let mut catalog = match searched {
        Some(query) if shown.is_empty() && listing_budget.empty_text => {
            PromptListing { text: query.no_results_text(&names), ..PromptListing::default() }
        }
        Some(_) => found(&view, &shown).await?,
        None => write_listing(format, &shown, &listing_budget),
    };
    // Checked before any skill is marked as announced.
    let length = to_raw_value(&catalog.text).map_or(0, |it| it.get().len());
    fits(&config, length + AROUND, shown.len(), TOO_LONG)?;
    if let Some(session) = &session {
        // Skills dropped for lack of budget come last and stay unannounced.
        let named = shown.iter().take(catalog.n_listed).filter_map(|it| AbsPath::new(it.path).ok());
        let named = named.collect();
        let new = sessions.resolver.sessions.announce(&session.id, agent.as_deref(), named).await;
        if only_new && new.len() < catalog.n_listed && searched.is_none() {
            // A concurrent call of the same agent has announced the others.
            shown.retain(|it| new.iter().any(|new| **new == *it.path));
            catalog = write_listing(format, &shown, &listing_budget);
        }
    }
    let mut health = view.health.clone();
    health.extend(sessions.resolver.sessions.store().health());
    let health = to_wire::health(&health);
    sessions.counters.count(|it| it.descriptions_shortened += catalog.n_shortened as u64);
    Answer::new(&rendered::catalog(catalog, &told, view.clock.clone(), health))
}

/// Hints for a prompt listing that exceeds the message limit.
const TOO_LONG: &str = "Use a `format` with a budget, such as `claude`, or select skills with `query`; `skills/list` returns all in pages.";
const TOO_LONG_FOR_TOOL: &str = "Use a `style` with a budget, such as `claude`.";

/// Upper bound of the size of an answer without its listing text.
const AROUND: usize = 1024;

/// Refuses an oversized answer: a truncated one would differ from what the agent shows its model.
fn fits(config: &Config, length: usize, n_skills: usize, hint: &str) -> Result<(), RpcError> {
    let (length, limit) = (length as u64, config.message_bytes_out);
    if length <= limit {
        return Ok(());
    }
    let message =
        format!("the listing of {n_skills} skills has {length} bytes; a message may have {limit}");
    Err(RpcError::too_large(message, limit).with_hint(hint))
}

fn query(text: &str) -> Result<SkillQuery, RpcError> {
    SkillQuery::new(text).map_err(|why| {
        RpcError::invalid_params(format!("`{text}` is not a valid expression: {why}"))
            .with_hint("Put a backslash before special characters that are meant literally.")
    })
}

/// Formats the search results of opencode-agent-skills, with the skills' scripts.
async fn found(view: &View, shown: &[ListedSkill<'_>]) -> Result<PromptListing, RpcError> {
    let dirs: Vec<_> = shown.iter().map(|it| it.path.parent().map(Path::to_owned)).collect();
    let scripts = blocking(move || Ok(dirs.iter().map(|it| scripts(it.as_deref())).collect()));
    let scripts: Vec<Vec<String>> = scripts.await?;
    let roots = &view.resolution.roots;
    let label = |of: &ListedSkill<'_>| {
        let root = roots.iter().find(|it| *it.path == *of.root && it.scope == of.scope);
        root.map(SearchRoot::plugin_label).unwrap_or_default()
    };
    let found: Vec<_> = shown
        .iter()
        .zip(&scripts)
        .map(|(it, scripts)| {
            let ListedSkill { name, description, .. } = it;
            FoundSkill { name, label: label(it), description, scripts }
        })
        .collect();
    let text = plugin_search::format_results(&found);
    Ok(PromptListing { text, n_listed: shown.len(), ..PromptListing::default() })
}

/// Lists the scripts in a directory; none if it cannot be read.
fn scripts(dir: Option<&Path>) -> Vec<String> {
    let listing = dir.and_then(|it| ConfinedDir::open(it).ok()?.list().ok()).unwrap_or_default();
    let scripts = listing.files.into_iter().filter(|it| it.executable && is_script(&it.relative));
    scripts.map(|it| it.relative.to_string_lossy().into_owned()).collect()
}

pub(crate) async fn tool(
    sessions: Arc<SessionCalls>,
    peer: Arc<Peer>,
    mut params: ToolParams,
) -> Outcome {
    let RequestContext { config, view, .. } =
        sessions.resolver.resolve(&peer, params.take_context()).await?;
    let style = params.style.map_or(view.ctx.profile.output, format::load);
    let listing_budget = format::listing_budget(params.context_tokens, params.budget_chars, None);
    let skills = listed(&sessions, &view).await;
    let tool = describe(style, &skills, &listing_budget);
    let n_shortened = tool.as_ref().map_or(0, |it| it.n_shortened as u64);
    sessions.counters.count(|it| it.descriptions_shortened += n_shortened);
    let answer = Answer::new(&ToolResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        tool: tool.map(rendered::tool),
    })?;
    fits(&config, answer.len(), skills.len(), TOO_LONG_FOR_TOOL)?;
    Ok(answer)
}

/// Returns the listed skills with their use counts. With a limited budget, some agents shorten the
/// descriptions of the least used skills.
async fn listed<'v>(sessions: &SessionCalls, view: &'v View) -> Vec<ListedSkill<'v>> {
    let used = sessions.resolver.sessions.store().usage().await;
    let used = used.inspect_err(|error| tracing::debug!(%error, "failed to read use counts"));
    let used = used.unwrap_or_default();
    let n_uses = |it: &Candidate| used.get(&*it.path).map_or(0, |it| it.count);
    view.resolution.listed().map(|it| one(view, it, n_uses(it))).collect()
}

fn one<'a>(view: &'a View, candidate: &'a Candidate, n_uses: u64) -> ListedSkill<'a> {
    let root = &view.resolution.roots[candidate.root];
    // Settings may limit a skill to its name.
    let shown = view.resolution.with_text(candidate).filter(|it| !it.name_only);
    ListedSkill {
        name: &candidate.name,
        description: shown.and_then(|it| it.description.as_deref()).unwrap_or_default(),
        when_to_use: shown.and_then(when_to_use),
        path: &candidate.path,
        root: &root.path,
        scope: root.scope,
        is_bundled: root.scope == Scope::Bundled || root.path.ends_with(SYSTEM),
        n_uses,
    }
}

/// Codex keeps its bundled skills in this directory among the user's.
const SYSTEM: &str = "skills/.system";

/// Reads `when_to_use`, which is not part of the record. The search for its key avoids parsing most
/// heads.
fn when_to_use(candidate: &Candidate) -> Option<String> {
    let record = candidate.record().filter(|it| it.head.contains(WHEN_TO_USE.key))?;
    let document = record.document();
    Fields::new(document.frontmatter.as_ref()?, &record.head).text(&WHEN_TO_USE)
}
