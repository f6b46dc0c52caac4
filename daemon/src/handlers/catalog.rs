//! `catalog/render` and `catalog/tool`: the skills as an agent tells its model of them.

use std::sync::Arc;

use skills_core::catalog::WHEN_TO_USE;
use skills_core::fields::Fields;
use skills_core::profile::Scope;
use skills_core::render::catalog::{Listed, catalog};
use skills_core::render::tool as describe;
use skills_core::resolve::Candidate;
use skills_engine::View;
use skills_protocol::wire::{CatalogParams, Contextual, ToolParams, ToolResult};

use crate::answer::{Answer, Outcome};
use crate::from_wire::format;
use crate::peer::Peer;
use crate::service::Service;
use crate::to_wire::{self, rendered};

pub(crate) async fn render(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: CatalogParams,
) -> Outcome {
    let view = service.view(&peer, params.take_context()).await?;
    let format = params.format.map_or(view.site.profile.output.catalog(), format::catalog);
    let room = format::room(params.context_tokens, params.budget_chars, params.empty_text);
    let skills = listed(&view);
    let told = rendered::Told { n_skills: skills.len(), is_initial: true };
    let catalog = catalog(format, &skills, &room);
    let health = to_wire::health(&view.health);
    Answer::new(&rendered::catalog(catalog, &told, view.clock.clone(), health))
}

pub(crate) async fn tool(
    service: Arc<Service>,
    peer: Arc<Peer>,
    mut params: ToolParams,
) -> Outcome {
    let view = service.view(&peer, params.take_context()).await?;
    let style = params.style.map_or(view.site.profile.output, format::load);
    let room = format::room(params.context_tokens, params.budget_chars, None);
    Answer::new(&ToolResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        tool: describe(style, &listed(&view), &room).map(rendered::tool),
    })
}

/// Returns what the model is shown.
fn listed(view: &View) -> Vec<Listed<'_>> {
    view.resolution.listed().map(|it| one(view, it)).collect()
}

fn one<'a>(view: &'a View, candidate: &'a Candidate) -> Listed<'a> {
    let root = &view.resolution.roots[candidate.root];
    // Settings may leave the name alone.
    let shown = Some(candidate).filter(|it| !it.name_only);
    Listed {
        name: &candidate.name,
        description: shown.and_then(|it| it.description.as_deref()).unwrap_or_default(),
        when_to_use: shown.and_then(when_to_use),
        path: &candidate.path,
        root: &root.path,
        scope: root.scope,
        is_bundled: root.scope == Scope::Bundled || root.path.ends_with(SYSTEM),
        n_uses: 0,
    }
}

/// Codex keeps what comes with it in a directory of this name among the user's.
const SYSTEM: &str = "skills/.system";

/// Returns a field that the record does not hold: it is looked for where its name stands.
fn when_to_use(candidate: &Candidate) -> Option<String> {
    let record = candidate.record().filter(|it| it.head.contains(WHEN_TO_USE.key))?;
    let document = record.document();
    Fields::new(document.frontmatter.as_ref()?, &record.head).text(&WHEN_TO_USE)
}
