//! Which skill a load means, and whether whoever asks may have it by the agent's rules.
//!
//! What is refused is refused in the agent's words and with its number, where it has any.

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
use crate::api::from_wire::{Target, target};
use crate::api::handlers::get::find;

/// Claude Code's numbers for what is wrong with a call.
mod number {
    /// Nothing is named, or something that is no name.
    pub(super) const BAD_FORMAT: i32 = 1;
    /// There is no such skill.
    pub(super) const UNKNOWN: i32 = 2;
    /// Only the user may start it.
    pub(super) const MODEL_DISABLED: i32 = 4;
    /// The agent does it itself.
    pub(super) const NOT_A_PROMPT: i32 = 5;
    /// There is no such skill where the agent fetches skills from.
    pub(super) const REMOTE_UNKNOWN: i32 = 6;
}

/// The skill that is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) candidate_idx: usize,
}

/// Finds the skill, or says why there is none for this caller.
pub(super) fn choose(view: &View, params: &LoadParams, by: Invoker) -> Result<Choice, RpcError> {
    let agents = view.ctx.profile.output;
    let name = params.name.as_deref().map(|it| if agents.is_claude() { typed(it) } else { it });
    if agents.is_claude() && name == Some("") {
        return Err(RpcError::invalid_params("no skill is named")
            .with_hint("Send the skill's name, with or without a `/` before it.")
            .with_error_code(number::BAD_FORMAT));
    }
    let target = target(name, params.path.as_deref(), params.path_encoding)?;
    let found = find(view, &target).map_err(|error| unknown(view, &target, error))?;
    let candidate = &view.resolution.candidates[found];
    if candidate.state != SkillState::Denied && authorize::is_untrusted(view, candidate) {
        let name = &candidate.name;
        return Err(authorize::untrusted(view, candidate, &format!("`{name}` is not loaded")));
    }
    match candidate.state {
        // For a name that is shadowed the other one is given; this one was asked for by its path.
        SkillState::Active
        | SkillState::Activated
        | SkillState::Hidden
        | SkillState::Shadowed
        // Refused above.
        | SkillState::Untrusted => {}
        // The gate says by which rule.
        SkillState::Denied => return Ok(Choice { candidate_idx: found }),
        SkillState::Conditional => waits(view, candidate, &target)?,
        SkillState::Ignored => return Err(missing(view, candidate, "is switched off")),
        SkillState::Invalid => return Err(missing(view, candidate, "is dropped")),
        SkillState::Refused => return Err(authorize::refused(candidate)),
    }
    may_have(view, candidate)?;
    may_invoke(view, candidate, by)?;
    Ok(Choice { candidate_idx: found })
}

/// A command as it is typed: with a `/` before it and blanks around it.
fn typed(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('/').unwrap_or(name).trim()
}

/// The text of what is built into an agent is in its program, and nowhere else.
fn may_have(view: &View, candidate: &Candidate) -> Result<(), RpcError> {
    if !candidate.is_built_in() {
        return Ok(());
    }
    let (name, agent) = (&candidate.name, view.ctx.profile.subject());
    let message = format!("`{name}` is built into {agent}, which alone has its text");
    let hint =
        format!("Load it in {agent} itself; a skill of your own called `{name}` wins over it.");
    Err(RpcError::new(NOT_INVOCABLE, message).with_hint(hint))
}

/// Who may start it. Only some agents have such rules.
fn may_invoke(view: &View, candidate: &Candidate, by: Invoker) -> Result<(), RpcError> {
    let Some(record) = candidate.record().filter(|_| view.ctx.profile.hides_from_model) else {
        return Ok(());
    };
    let name = &candidate.name;
    match by {
        Invoker::Model if record.disable_model_invocation => {
            let hint = "It has `disable-model-invocation`: let the user start it, and send `by: \"user\"`.";
            Err(numbered(view, number::MODEL_DISABLED, RpcError::not_invocable(name))
                .with_hint(hint))
        }
        Invoker::User if !record.user_invocable => {
            let message = format!("a user may not invoke the skill `{name}`");
            let hint = "It has `user-invocable: false`: the model uses it when it needs it.";
            Err(RpcError::new(NOT_INVOCABLE, message).with_hint(hint))
        }
        Invoker::Model | Invoker::User => Ok(()),
    }
}

/// Claude Code does not know the name of a skill that waits for a file.
fn waits(view: &View, candidate: &Candidate, target: &Target<'_>) -> Result<(), RpcError> {
    if !view.ctx.profile.output.is_claude() || !matches!(target, Target::Name(_)) {
        return Ok(());
    }
    let reason = candidate.reason.as_ref();
    let name = &candidate.name;
    let mut error = RpcError::skill_not_found(name, Vec::new(), available(view));
    let why = reason.map_or("it waits for a file", |it| &it.message);
    error.message = format!("the skill `{name}` cannot be invoked yet: it {why}");
    Err(numbered(view, number::UNKNOWN, error.with_hint(next(candidate))))
}

/// The agent has no such skill, although there is a file.
fn missing(view: &View, candidate: &Candidate, what: &str) -> RpcError {
    let mut error = RpcError::skill_not_found(&candidate.name, Vec::new(), available(view));
    error.message = said(view, candidate, what);
    numbered(view, number::UNKNOWN, error.with_hint(next(candidate)))
}

/// What has become of it, and why.
fn said(view: &View, candidate: &Candidate, what: &str) -> String {
    let (name, subject) = (&candidate.name, view.ctx.profile.subject());
    let why = candidate.reason.as_ref().map(|it| format!(": {}", it.message));
    format!("the skill `{name}` {what} by {subject}{}", why.unwrap_or_default())
}

/// What to do about it.
fn next(candidate: &Candidate) -> String {
    candidate.reason.as_ref().map(|it| it.next.clone()).unwrap_or_default()
}

/// There is none, in the agent's own words where they are known.
fn unknown(view: &View, target: &Target<'_>, error: RpcError) -> RpcError {
    let mut error = error;
    if let (true, Target::Name(name)) = (view.ctx.profile.output.is_claude(), target) {
        if is_canonical(name) {
            return error.with_error_code(number::REMOTE_UNKNOWN);
        }
        if commands::is_builtin(name) {
            let message = format!("`{name}` is a command of Claude Code itself, not a skill");
            return RpcError::new(NOT_INVOCABLE, message)
                .with_hint("Let the user type it; there is no text in it that could be loaded.")
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
    }
    numbered(view, number::UNKNOWN, error)
}

fn numbered(view: &View, number: i32, error: RpcError) -> RpcError {
    if view.ctx.profile.output.is_claude() { error.with_error_code(number) } else { error }
}

/// Returns the names that may be told: what the model is shown, and for opencode, which loads
/// what it does not show, that as well. opencode sorts them by their characters.
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
    let told = view.resolution.candidates.iter().filter(is_told);
    let mut names: Vec<_> = told.map(|it| it.name.clone()).collect();
    if is_opencode {
        names.sort();
    }
    names
}
