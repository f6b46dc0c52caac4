//! `skills/get`: one skill with its frontmatter. Also resolves a name or path to a skill.

use std::path::PathBuf;

use skills_agents::profile::{OutputFormat, Scope};
use skills_discovery::discover::{Candidate, Resolution};
use skills_engine::{Engine, View};
use skills_protocol::error::RpcError;
use skills_protocol::wire::{Contextual, GetParams, GetResult};

use crate::convert::from_wire::{SkillTarget, target};
use crate::convert::to_wire;
use crate::request::{RequestContext, Resolver};
use crate::rpc::answer::{Answer, Outcome};
use crate::rpc::dispatch::MethodCall;
use crate::rpc::tasks::{run_blocking, run_fallible_blocking};

/// Maximum number of similar names suggested for an unknown one.
const MAX_SUGGESTIONS: usize = 3;

pub(crate) async fn get(call: MethodCall<Resolver, GetParams>) -> Outcome {
    let MethodCall { parts: resolver, peer, mut params } = call;
    let context = params.take_context();
    let target = target(params.name.as_deref(), params.path.as_deref(), params.path_encoding)?;
    let RequestContext { view, .. } = resolver.resolve(&peer, context).await?;
    let candidate_idx = find(&view, &target)?;
    // The caller is likely to use the skill next.
    files(&resolver.engine, &view, &target).await?;
    let record = view.resolution.candidates[candidate_idx].record();
    let is_long = record.is_some_and(|it| it.head.len() > SHORT_HEAD);
    let make = move || {
        let answer = || Ok(Answer::new(&skill(&view, candidate_idx))?.into_text());
        view.responses().got(&view.resolution, candidate_idx, answer).map(Answer::from_text)
    };
    if is_long { run_fallible_blocking(make).await } else { make() }
}

/// Maximum length of a frontmatter that is parsed without a thread of its own, in bytes.
const SHORT_HEAD: usize = 16 * 1024;

fn skill(view: &View, candidate_idx: usize) -> GetResult {
    let candidate = &view.resolution.candidates[candidate_idx];
    let with_text = view.resolution.with_text(candidate);
    let document = with_text.and_then(Candidate::record).map(|it| (it, it.document()));
    let frontmatter =
        document.as_ref().and_then(|(record, it)| Some((*record, it.frontmatter.as_ref()?)));
    GetResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        skill: to_wire::entry(view, candidate),
        frontmatter: frontmatter
            .map(|(record, it)| to_wire::frontmatter(it, &record.head))
            .unwrap_or_default(),
        ranges: frontmatter
            .map(|(record, it)| to_wire::field_ranges(it, record))
            .unwrap_or_default(),
        findings: with_text.map(to_wire::diagnostics).unwrap_or_default(),
    }
}

/// Returns the index of the target's candidate; of several with one name, the one with precedence.
pub(crate) fn find(view: &View, target: &SkillTarget<'_>) -> Result<usize, RpcError> {
    let prepared = view.responses();
    let found = match target {
        SkillTarget::Name(name) => {
            prepared.by_name(&view.resolution, name).or_else(|| qualified(view, name))
        }
        SkillTarget::Path(path) => prepared.by_path(&view.resolution, path),
    };
    found.ok_or_else(|| {
        let shown = target.shown();
        RpcError::skill_not_found(&shown, nearest(view, &shown), available(view))
    })
}

/// Resolves a qualified name as opencode-agent-skills does: the name with its source
/// (`project:commit`) or its metadata's namespace as prefix.
fn qualified(view: &View, name: &str) -> Option<usize> {
    let (place, name) = name.split_once(':')?;
    let Resolution { candidates, roots, .. } = &*view.resolution;
    let is_meant = |it: &Candidate| {
        let is_from = |said: Option<&str>| said == Some(place);
        let is_there = it.name == name && it.state.is_listed();
        is_there && (is_from(roots[it.root].label.as_deref()) || is_from(it.namespace.as_deref()))
    };
    let takes_places = view.ctx.profile.output == OutputFormat::Plugin;
    candidates.iter().position(is_meant).filter(|_| takes_places)
}

/// Location of a skill's files.
pub(crate) enum Files {
    /// A directory, whose files all belong to the skill.
    In(PathBuf),
    /// A command's file. The others in its directory are other commands, or none of skillsd's
    /// concern.
    Single(PathBuf),
    None {
        why: String,
        /// An alternative call, as a sentence.
        hint: &'static str,
    },
}

/// Returns the location of the target's files, and extracts bundled ones.
pub(crate) async fn files(
    engine: &Engine,
    view: &View,
    target: &SkillTarget<'_>,
) -> Result<Files, RpcError> {
    let candidate = &view.resolution.candidates[find(view, target)?];
    let (name, agent) = (&candidate.name, view.ctx.profile.subject());
    if candidate.is_built_in() {
        let why = format!("`{name}` is built into {agent} and has no files");
        return Ok(Files::None {
            why,
            hint: "`skills/get` returns the agent's description of it.",
        });
    }
    match view.resolution.roots[candidate.root].scope {
        Scope::Mcp => {
            let why = format!("`{name}` is a prompt of an MCP server and has no files");
            return Ok(Files::None {
                why,
                hint: "`skills/get` returns its server's description of it.",
            });
        }
        Scope::Bundled => extract(engine).await?,
        _ => {}
    }
    Ok(if candidate.is_command() {
        Files::Single(candidate.path.to_path_buf())
    } else {
        Files::In(candidate.dir().into_path_buf())
    })
}

/// Extracts the files of the bundled skills, which are otherwise only in the program.
pub(crate) async fn extract(engine: &Engine) -> Result<(), RpcError> {
    let engine = engine.clone();
    let extracted = run_blocking(move || engine.extract_bundled()).await;
    let extracted = extracted.map_err(|_| crate::rpc::refusal::panicked())?;
    extracted.map_err(|error| {
        RpcError::internal(format!("failed to write the files of the bundled skills: {error}"))
            .with_hint("Check the permissions of the cache directory, `$XDG_CACHE_HOME/skillsd`.")
    })
}

fn available(view: &View) -> Vec<String> {
    view.resolution.listed().map(|it| it.name.clone()).collect()
}

fn nearest(view: &View, name: &str) -> Vec<String> {
    let names = view.resolution.nearest(name);
    names.into_iter().take(MAX_SUGGESTIONS).map(str::to_owned).collect()
}
