//! What of the skills at a place waits for the user's trust: to be listed, or to run something.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use skills_core::catalog;
use skills_core::fields::Fields;
use skills_core::render::has_commands;
use skills_core::render::resources::is_script;
use skills_core::resolve::{Candidate, State};
use skills_core::text::decode;
use skills_engine::View;
use skills_engine::store::Content;
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{TrustNeed, WaitingSkill};

use crate::beneath::{Beneath, MOST_LOADED};
use crate::blocking::blocking;
use crate::gate;
use crate::service::Service;

use super::scripts::{MOST, scripts};

/// A skill that asks for trust.
struct Asking {
    skill: WaitingSkill,
    /// What its file and its scripts hold, where the place is trusted.
    contents: Vec<Content>,
}

/// Returns the skills that would do more if they were trusted, in the view's order. What is trusted
/// and has changed since waits as well, for what it runs.
pub(super) async fn waiting(
    service: &Service,
    view: Arc<View>,
) -> Result<Vec<WaitingSkill>, RpcError> {
    let found = blocking(move || Ok(asking(&view))).await?;
    let mut waiting = Vec::new();
    for Asking { mut skill, contents } in found {
        if !contents.is_empty() {
            if gate::run::unknown(service, contents).await.is_empty() {
                continue;
            }
            skill.changed = true;
        }
        waiting.push(skill);
    }
    Ok(waiting)
}

/// Reads the disk.
fn asking(view: &View) -> Vec<Asking> {
    let resolution = &view.resolution;
    let mut found = Vec::new();
    let mut room = MOST;
    for candidate in &resolution.candidates {
        let root = &resolution.roots[candidate.root];
        if root.is_own() || candidate.state.is_out() {
            continue;
        }
        let needs = needs(candidate);
        if needs.is_empty() {
            continue;
        }
        // A file that is gone by now asks for nothing.
        let Ok(content) = Content::read(&candidate.path) else { continue };
        let encoding = encoding_of([&*candidate.path]);
        let skill = WaitingSkill {
            name: candidate.name.clone(),
            path: encode(&candidate.path, encoding),
            path_encoding: encoding,
            needs,
            changed: false,
        };
        let mut contents = Vec::new();
        if root.is_trusted() {
            contents.push(content);
            contents.extend(scripts(&candidate.dir(), &mut room));
        }
        found.push(Asking { skill, contents });
    }
    found
}

fn needs(candidate: &Candidate) -> Vec<TrustNeed> {
    let mut needs = Vec::new();
    if candidate.state == State::Untrusted {
        needs.push(TrustNeed::List);
    }
    if candidate.record().is_some_and(|record| {
        let document = record.document();
        let frontmatter = document.frontmatter.as_ref();
        frontmatter.is_some_and(|it| Fields::new(it, &record.head).entry(&catalog::HOOKS).is_some())
    }) {
        needs.push(TrustNeed::Hooks);
    }
    // What cannot be read is not run either.
    let Ok(beneath) = Beneath::of(candidate) else { return needs };
    let file = Path::new(candidate.path.file_name().unwrap_or(OsStr::new("SKILL.md")));
    let body = beneath.whole(file, MOST_LOADED).unwrap_or_default();
    if has_commands(&decode(&body).text) {
        needs.push(TrustNeed::Shell);
    }
    let files = beneath.list().unwrap_or_default().files;
    if files.iter().any(|it| it.executable && is_script(&it.relative)) {
        needs.push(TrustNeed::Scripts);
    }
    needs
}
