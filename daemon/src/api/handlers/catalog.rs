//! `catalog/render` and `catalog/tool`: the prompt listing as an agent gives it to its model.

pub(super) mod claude;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::value::to_raw_value;
use skills_agents::field_table::WHEN_TO_USE;
use skills_agents::loaders::read_text;
use skills_agents::profile::{OutputFormat, Scope};
use skills_config::Config;
use skills_discovery::discover::{Candidate, SearchRoot, SkillState};
use skills_discovery::permission::{Author, RulePrecedence, tool_denial};
use skills_engine::View;
use skills_engine::cancel::Cancel;
use skills_engine::sessions::session::Session;
use skills_protocol::error::RpcError;
use skills_protocol::wire::{CatalogParams, Contextual, ToolParams, ToolResult};
use skills_render::prompt_listing::plugin_search::{self, FoundSkill, SkillQuery};
use skills_render::prompt_listing::{
    ListedSkill, ListingBudget, ListingFormat, PromptListing, write_listing,
};
use skills_render::resources::is_script;
use skills_render::{registered_tools, tool as describe};
use skills_syntax::path::AbsPath;

use crate::access::confined_dir::{ConfinedDir, DirectoryLinks};
use crate::api::parts::QueryParts;
use crate::api::session::{SessionCalls, UseCounts, score};
use crate::convert::from_wire::format;
use crate::convert::to_wire;
use crate::convert::to_wire::rendered;
use crate::request::{RequestContext, unread_session};
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::run_fallible_blocking;

pub(crate) async fn render(call: MethodCall<QueryParts, CatalogParams>) -> Outcome {
    let MethodCall { parts, peer, mut params } = call;
    let context = params.take_context();
    let only_new = params.only_new == Some(true);
    let agent = context.agent.clone().filter(|it| !it.is_empty());
    let resolver = &parts.resolver;
    let names_session = context.session.as_deref().is_some_and(|it| !it.is_empty());
    let request = if only_new || names_session {
        // The session, which may be new, stores which skills have been listed.
        resolver.complete(parts.sessions.decode_in_session(&peer, context).await?).await?
    } else {
        resolver.resolve(&peer, context).await?
    };
    let RequestContext { config, session, view, .. } = request;
    let listing = CatalogCall {
        format: format::catalog(params.format.as_deref(), &view.ctx.profile, &config.profiles)?,
        budget: format::listing_budget(
            &view,
            params.context_tokens,
            params.budget_chars,
            params.empty_text,
        ),
        query: params.query.as_deref().map(query).transpose()?,
        uses: parts.sessions.uses().await,
        view: Arc::clone(&view),
        session,
        agent,
        only_new,
    };
    let make = move |cancel: &Cancel| {
        let rendered = listing.render(None, cancel);
        Ok((listing, rendered))
    };
    let (listing, mut rendered) = parts.heavy.run(&peer, make).await?;
    let format = listing.format;
    // Checked before any skill is marked as announced.
    fits(&config, rendered.length + AROUND, rendered.shown.len(), TOO_LONG)?;
    if let Some(session) = &listing.session {
        let n_listed = rendered.catalog.n_listed;
        // Skills dropped for lack of budget come last and stay unannounced.
        let named = rendered.shown.iter().take(n_listed).cloned().collect();
        let new = resolver.sessions.announce(&session.id, listing.agent.as_deref(), named).await;
        let new = new.map_err(|it| unread_session(&session.id, &it))?;
        if only_new && new.len() < n_listed && !listing.is_search() {
            // A concurrent call of the same agent has announced the others.
            let make = move |cancel: &Cancel| Ok(listing.render(Some(&new), cancel));
            rendered = parts.heavy.run(&peer, make).await?;
        }
    }
    let Rendered { catalog, totals, .. } = rendered;
    let mut health = view.health.clone();
    health.extend(resolver.sessions.store().health());
    let health = to_wire::health(&health);
    parts.sessions.counters.count(|it| it.descriptions_shortened += catalog.n_shortened as u64);
    let result = rendered::catalog(catalog, format, &totals, view.clock.clone(), health);
    run_fallible_blocking(move || Answer::new(&result)).await
}

/// A call of `catalog/render`, with the data for it that is not on the disk.
struct CatalogCall {
    view: Arc<View>,
    uses: UseCounts,
    session: Option<Arc<Session>>,
    agent: Option<String>,
    only_new: bool,
    query: Option<SkillQuery>,
    format: ListingFormat,
    budget: ListingBudget,
}

struct Rendered {
    catalog: PromptListing,
    totals: rendered::ListingTotals,
    /// The files of its skills, in its order.
    shown: Vec<AbsPath>,
    /// Length of its text as JSON, in bytes.
    length: usize,
}

impl CatalogCall {
    /// Returns whether the answer has the format of the plugin's search.
    fn is_search(&self) -> bool {
        self.query.is_some() && self.format == ListingFormat::Plugin
    }

    /// Renders the listing, with only these skills if `only` is given. Blocks on the disk.
    fn render(&self, only: Option<&[AbsPath]>, cancel: &Cancel) -> Rendered {
        let skills = listed(&self.view, &self.uses);
        let session = self.session.as_deref();
        let known = session.and_then(|it| it.announced.get(self.agent.as_deref().unwrap_or("")));
        let known: HashSet<&Path> = known.into_iter().flatten().map(|it| &**it).collect();
        let is_known = |it: &ListedSkill<'_>| known.contains(it.path);
        let totals = rendered::ListingTotals {
            n_skills: skills.len(),
            is_initial: !skills.iter().any(is_known),
        };
        let names: Vec<_> = skills.iter().map(|it| it.name).collect();
        let is_wanted = |it: &ListedSkill<'_>| {
            (!self.only_new || !is_known(it))
                && self.query.as_ref().is_none_or(|query| query.matches(it.name, it.description))
                && only.is_none_or(|only| only.iter().any(|path| **path == *it.path))
        };
        let shown: Vec<_> = skills.into_iter().filter(is_wanted).collect();
        let is_disabled = is_tool_disabled(&self.view, self.agent.as_deref());
        let catalog = match self.query.as_ref().filter(|_| self.is_search()) {
            Some(query) if shown.is_empty() && self.budget.empty_text => {
                PromptListing { text: query.no_results_text(&names), ..PromptListing::default() }
            }
            Some(_) => found(&self.view, &shown, cancel),
            None if is_disabled => PromptListing::default(),
            None => write_listing(self.format, &shown, &self.budget),
        };
        Rendered {
            length: to_raw_value(&catalog.text).map_or(0, |it| it.get().len()),
            shown: shown.iter().filter_map(|it| AbsPath::new(it.path).ok()).collect(),
            catalog,
            totals,
        }
    }
}

/// Hints for a prompt listing that exceeds the message limit.
const TOO_LONG: &str = "Use a `format` with a budget, such as `claude`, or select skills with `query`; `skills/list` returns all in pages.";
const TOO_LONG_FOR_TOOL: &str = "Use a `style` with a budget, such as `claude`.";

/// Upper bound of the size of an answer without its listing text.
const AROUND: usize = 1024;

/// Refuses an oversized answer: a truncated one would differ from what the agent shows its model.
pub(super) fn fits(
    config: &Config,
    length: usize,
    n_skills: usize,
    hint: &str,
) -> Result<(), RpcError> {
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

/// Formats the search results of opencode-agent-skills, with the skills' scripts. Blocks on the
/// disk.
fn found(view: &View, shown: &[ListedSkill<'_>], cancel: &Cancel) -> PromptListing {
    let dirs = shown.iter().map(|it| it.path.parent()).take_while(|_| !cancel.is_cancelled());
    let scripts: Vec<_> = dirs.map(scripts).collect();
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
    PromptListing { text, n_listed: shown.len(), ..PromptListing::default() }
}

/// Lists the scripts in a directory; none if it cannot be read.
fn scripts(dir: Option<&Path>) -> Vec<String> {
    let listing = dir
        .and_then(|it| ConfinedDir::open(it).ok()?.list(DirectoryLinks::Followed).ok())
        .unwrap_or_default();
    let scripts = listing.files.into_iter().filter(|it| it.executable && is_script(&it.relative));
    scripts.map(|it| it.relative.to_string_lossy().into_owned()).collect()
}

pub(crate) async fn tool(call: MethodCall<SessionCalls, ToolParams>) -> Outcome {
    let MethodCall { parts: sessions, peer, mut params } = call;
    let context = params.take_context();
    let agent = context.agent.clone().filter(|it| !it.is_empty());
    let RequestContext { config, view, .. } = sessions.resolver.resolve(&peer, context).await?;
    let (word, own) = (params.style.as_deref(), &view.ctx.profile);
    let style = format::load(word, "style", own, &config.profiles)?;
    let listing_budget =
        format::listing_budget(&view, params.context_tokens, params.budget_chars, None);
    let uses = sessions.uses().await;
    run_fallible_blocking(move || {
        let skills = listed(&view, &uses);
        let tool = describe(style, &skills, &listing_budget)
            .filter(|_| !is_tool_disabled(&view, agent.as_deref()));
        let n_shortened = tool.as_ref().map_or(0, |it| it.n_shortened as u64);
        sessions.counters.count(|it| it.descriptions_shortened += n_shortened);
        let registered =
            registered_tools(style).map(|it| it.into_iter().map(rendered::tool).collect());
        let answer = Answer::new(&ToolResult {
            clock: view.clock.clone(),
            health: to_wire::health(&view.health),
            tools: registered.unwrap_or_default(),
            tool: tool.map(rendered::tool),
        })?;
        fits(&config, answer.len(), skills.len(), TOO_LONG_FOR_TOOL)?;
        Ok(answer)
    })
    .await
}

/// Returns the listed skills with the scores of their use. With a limited budget, some agents
/// shorten the descriptions of the least used skills.
fn listed<'v>(view: &'v View, uses: &UseCounts) -> Vec<ListedSkill<'v>> {
    listed_candidates(view, uses).into_iter().map(|(_, it)| it).collect()
}

/// Returns the listed skills in the order of the agent's list, each with the text that it shows.
pub(super) fn listed_candidates<'v>(
    view: &'v View,
    uses: &UseCounts,
) -> Vec<(&'v Candidate, ListedSkill<'v>)> {
    let mut listed: Vec<_> = view.resolution.listed_by_agent(view.ctx.profile.output).collect();
    // Gemini CLI keeps its skills in a map as well.
    if matches!(view.ctx.profile.output, OutputFormat::OpencodeFounding | OutputFormat::Gemini) {
        in_registry_order(view, &mut listed);
    }
    let mut notes = None;
    if view.ctx.profile.output == OutputFormat::Claude {
        claude::sort(&view.resolution, &mut listed);
        notes = Some(claude::ListingNotes::of(view));
    }
    let with_notes = |it: &'v Candidate| {
        let mut skill = listed_skill(view, it, score(uses, it));
        if let Some(notes) = &mut notes {
            notes.apply(it, &mut skill);
        }
        (it, skill)
    };
    listed.into_iter().map(with_notes).collect()
}

/// Sorts skills like the registry in the founding notes on opencode: a name keeps the place at
/// which it was read first, whichever skill wins it.
pub(super) fn in_registry_order(view: &View, skills: &mut [&Candidate]) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, it) in view.resolution.candidates.iter().enumerate() {
        if it.state != SkillState::Invalid {
            places.entry(&it.name).or_insert(place);
        }
    }
    skills.sort_by_key(|it| places.get(&*it.name).copied());
}

/// Returns whether the agent's rules disable its skill tool, so that it tells its model nothing
/// about skills.
fn is_tool_disabled(view: &View, agent: Option<&str>) -> bool {
    let precedence = RulePrecedence::from_profile(&view.ctx.profile);
    let rules = &view.resolution.permissions;
    let denies = |author| tool_denial(precedence, author, rules, agent).is_some();
    view.ctx.profile.output.is_opencode()
        && [Author::Agent, Author::AgentUntrusted].into_iter().any(denies)
}

fn listed_skill<'a>(view: &'a View, candidate: &'a Candidate, use_score: f64) -> ListedSkill<'a> {
    let root = &view.resolution.roots[candidate.root];
    // Settings may limit a skill to its name.
    let shown = view.resolution.with_text(candidate).filter(|it| !it.name_only);
    ListedSkill {
        name: &candidate.name,
        label: None,
        note: None,
        description: shown.and_then(|it| it.description.as_deref()).unwrap_or_default(),
        when_to_use: shown.and_then(|it| read_text(&view.ctx.profile, it.record()?, &WHEN_TO_USE)),
        path: &candidate.path,
        home: view.ctx.environment.get("HOME").map(Path::new),
        root: &root.path,
        shown: candidate.shown.as_ref().map(|it| (&*it.root, &*it.path)),
        scope: root.scope,
        is_bundled: root.scope == Scope::Bundled || root.path.ends_with(SYSTEM),
        use_score,
    }
}

/// Codex keeps its bundled skills in this directory among the user's.
const SYSTEM: &str = "skills/.system";
