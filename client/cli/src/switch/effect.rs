//! Effect of a setting, as the daemon explains it: what decides about a skill now, and whether
//! another file is stronger.

use std::path::{Path, PathBuf};

use skills_protocol::path::decode;
use skills_protocol::wire::{ExplainResult, Outcome, Scope, State, Step, StepKind};
use skills_syntax::quote::skill_command;

use super::agent::{Setting, SwitchAgent, SwitchTo};
use crate::agent_config::document;
use crate::agent_config::file;
use crate::failure::CommandError;

pub(super) fn path_of(text: Option<&String>, step: &Step) -> Option<PathBuf> {
    decode(text?, step.path_encoding).ok()
}

/// Returns the rule that keeps the explained skill from the model by a setting.
fn decisive(found: &ExplainResult) -> Option<&Step> {
    let is_it = |it: &&Step| {
        it.kind == StepKind::Rule
            && it.outcome == Outcome::Dropped
            && it.path == found.path
            && it
                .rule
                .as_deref()
                .is_some_and(|it| it.starts_with("settings/") || it.starts_with("permission/"))
    };
    found.steps.iter().find(is_it)
}

/// Returns whether a setting keeps the skill from the model.
pub(super) fn is_kept_from_model(found: &ExplainResult) -> bool {
    decisive(found).is_some()
}

/// Returns whether a setting switches the skill off for the model and the user.
pub(super) fn is_off(found: &ExplainResult) -> bool {
    decisive(found).is_some_and(|it| it.rule.as_deref() != Some("settings/user-only"))
}

/// Returns the settings files in the agent's order, the strongest last.
fn settings_files(found: &ExplainResult) -> Vec<PathBuf> {
    let steps = found.steps.iter().filter(|it| it.kind == StepKind::Settings);
    let mut files: Vec<_> = steps.filter_map(|it| path_of(it.file.as_ref(), it)).collect();
    files.dedup();
    files
}

/// Returns whether a path in the settings file is that of the explained skill.
pub(super) fn is_path_of(written: &str, file: &Path, home: &Path, found: &ExplainResult) -> bool {
    let below_home = written.strip_prefix("~/").map(|it| home.join(it));
    let path = below_home.unwrap_or_else(|| file.parent().unwrap_or(file).join(written));
    let Ok(path) = path.canonicalize() else { return false };
    let candidates = found.steps.iter().filter(|it| it.kind == StepKind::Candidate);
    let mut paths = candidates.filter_map(|it| path_of(it.path.as_ref(), it));
    paths.any(|it| it.canonicalize().is_ok_and(|it| it == path))
}

/// Refuses a settings file that the agent cannot or does not read.
pub(super) fn check_readable(file: &Path, found: &ExplainResult) -> Result<(), CommandError> {
    let is_it = |it: &&Step| {
        it.kind == StepKind::Settings
            && path_of(it.file.as_ref(), it).as_deref() == Some(file)
            && (it.next.is_some() || matches!(it.outcome, Outcome::Unreadable | Outcome::Skipped))
    };
    let Some(step) = found.steps.iter().find(is_it) else { return Ok(()) };
    let why = step.reason.clone().unwrap_or_default();
    let at = step.line.map(|line| format!(":{line}")).unwrap_or_default();
    // A syntax error is a noun, such as `not JSON`.
    let is = if why.starts_with("not ") { "is " } else { "" };
    Err(CommandError::finding(format!("`{}{at}` {is}{why}", file.display()))
        .because("nothing was changed")
        .with_hint_if(step.next.as_ref()))
}

/// Refuses to enable a skill that is not listed for another reason than a setting.
pub(super) fn check_listed(name: &str, found: &ExplainResult) -> Result<(), CommandError> {
    if found.verdict.state.is_some_and(State::is_listed) {
        return Ok(());
    }
    let summary = found.verdict.summary.trim_end_matches('.');
    Err(CommandError::finding(format!("no setting switches `{name}` off: {summary}"))
        .with_hint_if(found.verdict.next.as_ref()))
}

/// Refuses to disable a skill that the agent's setting does not reach.
pub(super) fn check_can_disable(
    agent: SwitchAgent,
    name: &str,
    file: &Path,
    found: &ExplainResult,
) -> Result<(), CommandError> {
    let title = agent.title();
    let of_plugin = |it: &Step| {
        it.kind == StepKind::Candidate && it.path == found.path && it.scope == Some(Scope::Plugin)
    };
    if agent == SwitchAgent::ClaudeCode && found.steps.iter().any(of_plugin) {
        return Err(CommandError::usage(format!("`{name}` belongs to a plugin of {title}"))
            .with_hint("Switch the plugin off: `enabledPlugins` in the settings."));
    }
    if let Some(State::Invalid | State::Refused) = found.verdict.state {
        return Err(CommandError::finding(found.verdict.summary.trim_end_matches('.'))
            .with_hint("There is nothing to disable until the file is fixed."));
    }
    if agent.has_patterns() && name.contains(['*', '?']) {
        return Err(CommandError::usage(format!("`{name}` is a pattern for {title}"))
            .with_hint("Rename the skill, or write the rule yourself."));
    }
    match stronger_override(agent, name, file, found) {
        Some(other) => Err(decided_elsewhere(name, &other, None)),
        None => Ok(()),
    }
}

/// Returns the setting that enables the skill, or refuses if a stronger file decides.
pub(super) fn setting_to_enable(
    agent: SwitchAgent,
    name: &str,
    file: &Path,
    found: &ExplainResult,
) -> Result<Setting, CommandError> {
    let Some(step) = decisive(found) else { return Ok(Setting::Unset) };
    let by = path_of(step.file.as_ref(), step);
    let files = settings_files(found);
    let rank = |path: &Path| files.iter().position(|it| it == path);
    let elsewhere = || match &by {
        Some(by) => decided_elsewhere(name, by, step.line),
        None => other_setting(agent, name, found),
    };
    let (Some(theirs), Some(ours)) = (by.as_deref().and_then(rank), rank(file)) else {
        return Err(elsewhere());
    };
    // Deny rules of Claude Code count in any file.
    let merges_disabled_lists =
        agent.merges_disabled_lists() || step.rule.as_deref() != Some("settings/off");
    let is_stronger =
        theirs > ours || theirs < ours && merges_disabled_lists && !agent.has_patterns();
    if is_stronger {
        return Err(elsewhere());
    }
    if agent == SwitchAgent::ClaudeCode {
        let others = files.iter().take(ours).filter(|it| it.as_path() != file);
        let is_mentioned = others.into_iter().any(|it| overrides(it, name));
        return Ok(if theirs < ours || is_mentioned { Setting::On } else { Setting::Unset });
    }
    Ok(if theirs < ours { Setting::On } else { Setting::Unset })
}

/// Returns the strongest file after `file` in which Claude Code has an entry for the skill.
fn stronger_override(
    agent: SwitchAgent,
    name: &str,
    file: &Path,
    found: &ExplainResult,
) -> Option<PathBuf> {
    if agent != SwitchAgent::ClaudeCode {
        return None;
    }
    let files = settings_files(found);
    let ours = files.iter().position(|it| it == file)?;
    files.into_iter().skip(ours + 1).rfind(|it| overrides(it, name))
}

/// Returns whether a settings file of Claude Code has an entry for the skill.
fn overrides(path: &Path, name: &str) -> bool {
    let text = file::read(path).ok().flatten().unwrap_or_default();
    let parsed = document::parse(SwitchAgent::ClaudeCode.format(), &text);
    parsed.is_ok_and(|it| it.value(&["skillOverrides".to_owned(), name.to_owned()]).is_some())
}

fn decided_elsewhere(name: &str, file: &Path, line: Option<u32>) -> CommandError {
    let at = line.map(|line| format!(":{line}")).unwrap_or_default();
    CommandError::refused(format!("`{}{at}` decides about `{name}`", file.display()))
        .with_hint("Change that file, or pass the `--scope` that it belongs to.")
}

/// Returns the error for a skill that another setting than the agent's switch keeps off.
pub(super) fn other_setting(agent: SwitchAgent, name: &str, found: &ExplainResult) -> CommandError {
    let decisive = decisive(found);
    let next = decisive.and_then(next_of);
    let file = decisive.and_then(|it| Some((path_of(it.file.as_ref(), it)?, it.line)));
    if let (None, Some((file, line))) = (next, file) {
        return decided_elsewhere(name, &file, line);
    }
    let key = agent.key();
    CommandError::refused(format!("`{key}` does not decide about `{name}`"))
        .because(found.verdict.summary.trim_end_matches('.'))
        .with_hint_if(next)
}

/// Fails if the skill is not in the expected state after a change, which is taken back then.
pub(super) fn check_change(
    agent: SwitchAgent,
    name: &str,
    to: SwitchTo,
    now: &ExplainResult,
) -> Result<(), CommandError> {
    let is_as_expected = match to {
        SwitchTo::Enabled => !is_kept_from_model(now),
        SwitchTo::Disabled => is_off(now),
    };
    if is_gone(now) || is_as_expected {
        return Ok(());
    }
    let error = stronger_setting(agent, name, now).because("the file was restored");
    Err(error.with_hint(next_of_stronger(name, now)))
}

/// Fails if the skill is not in the expected state after an earlier change was taken back. The old
/// content may leave the skill to the user only.
pub(super) fn check_undo(
    agent: SwitchAgent,
    name: &str,
    to: SwitchTo,
    now: &ExplainResult,
) -> Result<(), CommandError> {
    if is_gone(now) || is_kept_from_model(now) == (to == SwitchTo::Disabled) {
        return Ok(());
    }
    Err(stronger_setting(agent, name, now).with_hint(next_of_stronger(name, now)))
}

/// Returns whether the skill was removed meanwhile.
fn is_gone(now: &ExplainResult) -> bool {
    now.verdict.state.is_none()
}

fn stronger_setting(agent: SwitchAgent, name: &str, now: &ExplainResult) -> CommandError {
    let title = agent.title();
    CommandError::refused(format!("{title} has a stronger setting for `{name}`"))
        .because(now.verdict.summary.trim_end_matches('.').to_owned())
}

/// Returns what a step says to do, unless that is the command that has just failed.
fn next_of(step: &Step) -> Option<&str> {
    step.next.as_deref().filter(|it| !it.contains("`skillsd enable "))
}

fn next_of_stronger(name: &str, now: &ExplainResult) -> String {
    let step = decisive(now).and_then(next_of);
    let all = || {
        let command = skill_command("explain", name, "");
        format!("Run `{command}` to see all settings.")
    };
    step.map_or_else(all, str::to_owned)
}
