//! Selects the skill of a load and checks the agent's rules for the caller.
//!
//! Errors use the agent's own messages and error codes, if it has any.

use skills_agents::field_table::commands;
use skills_agents::profile::OutputFormat;
use skills_discovery::discover::{Candidate, SkillState};
use skills_discovery::permission::is_canonical;
use skills_engine::View;
use skills_protocol::error::{NOT_INVOCABLE, RpcError};
use skills_protocol::wire::LoadParams;
use skills_render::Invoker;
use skills_render::prompt_listing::plugin_search;

use crate::access::authorize;
use crate::api::handlers::catalog::{claude, in_registry_order};
use crate::api::handlers::get::find;
use crate::convert::from_wire::{SkillTarget, target};

/// Claude Code's error codes.
mod number {
    /// The name is missing or malformed.
    pub(super) const BAD_FORMAT: i32 = 1;
    pub(super) const UNKNOWN: i32 = 2;
    /// Only the user may invoke it.
    pub(super) const MODEL_DISABLED: i32 = 4;
    /// A built-in command of the agent.
    pub(super) const NOT_A_PROMPT: i32 = 5;
    /// Unknown skill in the agent's remote source.
    pub(super) const REMOTE_UNKNOWN: i32 = 6;
}

/// Selects the skill, or returns the error for this caller.
pub(super) fn choose(view: &View, params: &LoadParams, by: Invoker) -> Result<usize, RpcError> {
    let agents = view.ctx.profile.output;
    let name =
        params.name.as_deref().map(|it| if agents.is_claude() { strip_slash(it) } else { it });
    if agents.is_claude() && name == Some("") {
        return Err(RpcError::invalid_params("no skill is named")
            .with_param("params.name")
            .with_hint("Send the skill's name, with or without a `/` before it.")
            .with_error_code(number::BAD_FORMAT));
    }
    let target = target(name, params.path.as_deref(), params.path_encoding)?;
    if let (OutputFormat::ClaudeFounding, SkillTarget::Name(name)) = (agents, &target)
        && is_canonical(name)
    {
        // The founding document checks such names before it looks for a skill.
        let error = RpcError::skill_not_found(name, Vec::new(), available(view));
        return Err(error.with_error_code(number::REMOTE_UNKNOWN));
    }
    let found = find(view, &target).or_else(|error| match &target {
        // The user's command `/name` loads the skill like its name.
        SkillTarget::Name(typed) if typed.starts_with('/') => {
            find(view, &SkillTarget::Name(strip_slash(typed)))
        }
        // Measured: Claude Code also takes the `name` field.
        SkillTarget::Name(typed) if agents == OutputFormat::Claude => {
            claude::labelled(view, strip_slash(typed)).ok_or(error)
        }
        _ => Err(error),
    });
    let found = found.map_err(|error| unknown(view, &target, error))?;
    let candidate = &view.resolution.candidates[found];
    if candidate.state != SkillState::Denied && authorize::is_untrusted(view, candidate) {
        let name = &candidate.name;
        return Err(authorize::untrusted(view, candidate, &format!("`{name}` is not loaded")));
    }
    match candidate.state {
        // Loading a shadowed name gives its winner; this one was requested by path.
        SkillState::Active
        | SkillState::Activated
        | SkillState::Hidden
        | SkillState::Shadowed
        // Refused above.
        | SkillState::Untrusted => {}
        // `authorize` reports the rule.
        SkillState::Denied => return Ok(found),
        SkillState::Conditional => refuse_conditional(view, candidate, &target, by)?,
        SkillState::Ignored => return Err(missing(view, candidate, "is disabled")),
        SkillState::Invalid => return Err(missing(view, candidate, "is dropped")),
        SkillState::Refused => return Err(authorize::refused(candidate)),
    }
    may_have(view, candidate)?;
    may_invoke(view, candidate, by)?;
    Ok(found)
}

/// Normalizes a command as typed: with a leading `/` and whitespace.
fn strip_slash(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('/').unwrap_or(name).trim()
}

/// Refuses skills built into an agent, since only the agent has their text.
fn may_have(view: &View, candidate: &Candidate) -> Result<(), RpcError> {
    if !candidate.is_built_in() {
        return Ok(());
    }
    let (name, agent) = (&candidate.name, view.ctx.profile.subject());
    let message = format!("`{name}` is built into {agent}; only {agent} has its text");
    let hint =
        format!("Load it in {agent} itself; a skill of your own called `{name}` wins over it.");
    Err(RpcError::new(NOT_INVOCABLE, message).with_hint(hint))
}

/// Checks who may invoke the skill. Only some agents have such rules.
fn may_invoke(view: &View, candidate: &Candidate, by: Invoker) -> Result<(), RpcError> {
    let Some(record) = candidate.record().filter(|_| view.ctx.profile.hides_from_model) else {
        return Ok(());
    };
    let name = &candidate.name;
    match by {
        Invoker::Model if record.disable_model_invocation => {
            let hint = "It has `disable-model-invocation`: only the user can start it.";
            Err(add_error_code(view, number::MODEL_DISABLED, RpcError::not_invocable(name))
                .with_hint(hint))
        }
        Invoker::User if !record.user_invocable => {
            let message = format!("a user may not invoke the skill `{name}`");
            let hint = "It has `user-invocable: false`: only the model can start it.";
            Err(RpcError::new(NOT_INVOCABLE, message).with_hint(hint))
        }
        Invoker::Model | Invoker::User => Ok(()),
    }
}

/// Refuses a conditional skill by name: Claude Code does not list its name until a file matches.
/// In the founding notes the model cannot load it by its path either.
fn refuse_conditional(
    view: &View,
    candidate: &Candidate,
    target: &SkillTarget<'_>,
    by: Invoker,
) -> Result<(), RpcError> {
    let is_named = matches!(target, SkillTarget::Name(_));
    let may_load = match view.ctx.profile.output {
        OutputFormat::Claude => !is_named,
        OutputFormat::ClaudeFounding => !is_named && by == Invoker::User,
        _ => true,
    };
    if may_load {
        return Ok(());
    }
    let reason = candidate.reason.as_ref();
    let name = &candidate.name;
    let mut error = RpcError::skill_not_found(name, Vec::new(), available(view));
    let why = reason.map_or("it waits for a file", |it| &it.message);
    error.message = format!("the skill `{name}` cannot be invoked yet: it {why}");
    Err(add_error_code(view, number::UNKNOWN, error.with_hint(next(candidate))))
}

/// Returns the error for a skill file that the agent does not list.
fn missing(view: &View, candidate: &Candidate, what: &str) -> RpcError {
    let mut error = RpcError::skill_not_found(&candidate.name, Vec::new(), available(view));
    error.message = describe_state(view, candidate, what);
    add_error_code(view, number::UNKNOWN, error.with_hint(next(candidate)))
}

fn describe_state(view: &View, candidate: &Candidate, what: &str) -> String {
    let (name, agent) = (&candidate.name, view.ctx.profile.object());
    let why = candidate.reason.as_ref().map(|it| format!(": {}", it.message));
    format!("the skill `{name}` {what} by {agent}{}", why.unwrap_or_default())
}

fn next(candidate: &Candidate) -> String {
    candidate.reason.as_ref().map(|it| it.next.clone()).unwrap_or_default()
}

/// Returns the error for an unknown skill, in the agent's own words if known.
fn unknown(view: &View, target: &SkillTarget<'_>, error: RpcError) -> RpcError {
    let mut error = error;
    if let (true, SkillTarget::Name(name)) = (view.ctx.profile.output.is_claude(), target) {
        if is_canonical(name) {
            return error.with_error_code(number::REMOTE_UNKNOWN);
        }
        if commands::is_builtin(name) {
            let message = format!("`{name}` is a command of Claude Code itself, not a skill");
            return RpcError::new(NOT_INVOCABLE, message)
                .with_hint("Let the user type it; it has no text to load.")
                .with_error_code(number::NOT_A_PROMPT);
        }
    }
    if view.ctx.profile.output.is_opencode() {
        let available = available(view);
        let available = if available.is_empty() { "none".to_owned() } else { available.join(", ") };
        let shown = target.shown();
        error.message = format!("Skill \"{shown}\" not found. Available skills: {available}");
    }
    if view.ctx.profile.output == OutputFormat::Plugin {
        let available = available(view);
        let names: Vec<_> = available.iter().map(String::as_str).collect();
        error.message = plugin_search::format_not_found(&target.shown(), &names);
        let suggests = error.message.contains("Did you mean");
        if let Some(data) = error.data.as_mut().filter(|_| suggests) {
            data.hint = None;
        }
    }
    add_error_code(view, number::UNKNOWN, error)
}

fn add_error_code(view: &View, number: i32, error: RpcError) -> RpcError {
    if view.ctx.profile.output.is_claude() { error.with_error_code(number) } else { error }
}

/// Returns the names listed in errors: those that the model sees and, for opencode, which also
/// loads hidden skills, these as well. opencode sorts them by code point; in the founding notes
/// they are in the order of its registry.
fn available(view: &View) -> Vec<String> {
    let is_opencode =
        matches!(view.ctx.profile.output, OutputFormat::Opencode | OutputFormat::OpencodeFounding);
    let is_told = |it: &&Candidate| match it.state {
        SkillState::Active | SkillState::Activated => true,
        SkillState::Hidden => is_opencode,
        SkillState::Conditional
        | SkillState::Shadowed
        | SkillState::Denied
        | SkillState::Untrusted
        | SkillState::Ignored
        | SkillState::Invalid
        | SkillState::Refused => false,
    };
    let mut told: Vec<_> = view.resolution.candidates.iter().filter(is_told).collect();
    if view.ctx.profile.output == OutputFormat::OpencodeFounding {
        in_registry_order(view, &mut told);
    }
    let mut names: Vec<_> = told.into_iter().map(|it| it.name.clone()).collect();
    if view.ctx.profile.output == OutputFormat::Opencode {
        names.sort();
    }
    names
}
