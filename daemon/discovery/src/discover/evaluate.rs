//! Evaluates one file by a profile: whether the agent loads it, and with which name and
//! description.

use std::ffi::OsStr;
use std::sync::Arc;

use skills_agents::claude_text;
use skills_agents::loaders::{LoadOutcome, LoadRule, Remark, load_as, load_command_as};
use skills_agents::profile::{Profile, Scope};
use skills_agents::skill::RecordField;
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::address::is_built_in;
use super::disk::FaultKind;
use super::reason_rule::ReasonRule;
use super::walker::FoundFile;
use super::{Candidate, DiscoveryContext, Reason, SearchRoot, SkillFile, SkillState, nested};
use crate::activate::is_restriction;

/// Evaluates a file. Name conflicts are resolved later, when all files are known.
pub(super) fn evaluate(ctx: &DiscoveryContext, scope: Scope, found: FoundFile) -> Candidate {
    let profile = &*ctx.profile;
    let FoundFile {
        path,
        root,
        directory: dir_id,
        file,
        name: known,
        may_have_sidecar: _,
        command,
        shown,
    } = found;
    let is_command = command.is_some();
    let directory = command.map_or_else(|| directory_name(&path), |it| it.name);
    let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let blank = |name: String| Candidate {
        name,
        description: None,
        path: path.clone(),
        root,
        directory: dir_id,
        file: None,
        state: SkillState::Active,
        reason: None,
        notes: Vec::new(),
        namespace: None,
        name_only: false,
        shown: shown.clone(),
    };
    match file {
        Err(fault) => {
            let (state, what) = match fault.kind {
                FaultKind::Outside => (SkillState::Refused, &*file_name),
                FaultKind::LinkWaits => (SkillState::Untrusted, "its directory"),
                _ => (SkillState::Invalid, &*file_name),
            };
            let reason = reason(fault.rule(), format!("{what} {fault}"), None, fault.next());
            Candidate { state, reason: Some(Box::new(reason)), ..blank(directory) }
        }
        // The MCP server decides a prompt's name; agents do not read it as a file.
        Ok(file) if let Some(name) = known => {
            let own = is_built_in(&path).then(|| built_in(profile));
            Candidate {
                description: file.record.description.as_ref().map(|it| Arc::clone(&it.text)),
                file: Some(file),
                state: if own.is_some() { SkillState::Hidden } else { SkillState::Active },
                reason: own.map(Box::new),
                ..blank(name.into())
            }
        }
        Ok(file) => {
            let load = if is_command { load_command_as } else { load_as };
            let mut reading = load(profile, &file.record, &directory);
            let is_activated = || ctx.overlay.activates(&path);
            let (state, reason) = verdict(ctx, scope, &file, &mut reading, is_activated);
            Candidate {
                description: shared(reading.description, file.record.description.as_ref()),
                notes: reading.notes.into_iter().map(reason_of).collect(),
                state,
                reason: reason.map(Box::new),
                file: Some(file),
                ..blank(reading.name)
            }
        }
    }
}

/// Hides a plugin's skill without a description from the model, as Claude Code
/// 2.1.330 does.
pub(super) fn hide_undescribed(root: &SearchRoot, candidate: &mut Candidate) {
    let is_plugins = root.plugin.is_some() && candidate.namespace.is_some();
    let is_described = candidate
        .record()
        .is_none_or(|it| it.description.is_some() || it.head.contains("when_to_use"));
    if is_plugins && !is_described && candidate.state == SkillState::Active {
        candidate.state = SkillState::Hidden;
        let message = "the agent lists a plugin's skill only with a description".to_owned();
        let next = "Add a `description`.";
        candidate.reason =
            Some(Box::new(reason(ReasonRule::DescriptionPlugin, message, None, next)));
    }
}

/// Ignores a skill that a field of its own switches off. Until names are resolved it is hidden,
/// because it claims its name (Cline 3.0.65 and Factory Droid 0.215.0, measured).
pub(super) fn switch_off(candidate: &mut Candidate) {
    let is_off =
        candidate.reason.as_ref().is_some_and(|it| it.rule == ReasonRule::Load(LoadRule::FieldOff));
    if is_off && candidate.state == SkillState::Hidden {
        candidate.state = SkillState::Ignored;
    }
}

/// Drops a skill whose name has characters that Claude Code does not offer.
pub(super) fn refuse_name(candidate: &mut Candidate) {
    if !candidate.state.is_out() && !claude_text::is_name(&candidate.name) {
        candidate.state = SkillState::Invalid;
        let message = format!(
            "the name `{}` has invisible characters, `<`, `>` or blanks at an end",
            candidate.name.escape_debug()
        );
        let next = "Rename the file or directory.";
        candidate.reason =
            Some(Box::new(reason(ReasonRule::Load(LoadRule::NameForm), message, None, next)));
    }
}

/// Returns the reason why a built-in skill is not in skillsd's listing.
fn built_in(profile: &Profile) -> Reason {
    let agent = profile.subject();
    let message = format!("it is built into {agent}, which lists and loads it itself");
    let next = "Nothing needs to be done. A skill of your own with that name wins over it.";
    reason(ReasonRule::BuiltIn, message, None, next)
}

/// Shares the field's text if the agent reads the description unchanged, which is the common case.
fn shared(read: Option<String>, field: Option<&RecordField>) -> Option<Arc<str>> {
    let read = read?;
    let as_it_stands = field.map(|it| &it.text).filter(|it| ***it == *read);
    Some(as_it_stands.map_or_else(|| read.as_str().into(), Arc::clone))
}

fn directory_name(path: &AbsPath) -> String {
    let dir = path.parent();
    let name = dir.as_ref().and_then(|it| it.file_name()).unwrap_or(OsStr::new("/"));
    name.to_string_lossy().into_owned()
}

/// Returns whether the agent applies `paths`. Measured: Claude Code ignores it in commands, plugins
/// and nested directories.
fn reads_paths(ctx: &DiscoveryContext, scope: Scope) -> bool {
    match scope {
        Scope::Command | Scope::Plugin => false,
        Scope::Nested => ctx.profile.conditional && !nested::are_prefixed(ctx),
        _ => ctx.profile.conditional,
    }
}

fn verdict(
    ctx: &DiscoveryContext,
    scope: Scope,
    file: &SkillFile,
    reading: &mut LoadOutcome,
    is_activated: impl FnOnce() -> bool,
) -> (SkillState, Option<Reason>) {
    let record = &file.record;
    if let Some(dropped) = reading.dropped.take() {
        return (SkillState::Invalid, Some(reason_of(dropped)));
    }
    if let Some(unlisted) = reading.unlisted.take() {
        return (SkillState::Hidden, Some(reason_of(unlisted)));
    }
    if ctx.profile.hides_from_model && record.disable_model_invocation {
        let message = "`disable-model-invocation` keeps it from the model";
        let next = "Remove `disable-model-invocation` to let the model use it.";
        return (
            SkillState::Hidden,
            Some(reason(ReasonRule::ModelInvocation, message.into(), None, next)),
        );
    }
    let is_conditional = || is_restriction(record.paths.iter().map(|it| &**it));
    if reads_paths(ctx, scope) && is_conditional() {
        let globs: Vec<_> = record.paths.iter().map(|it| format!("`{it}`")).collect();
        if is_activated() {
            let message = format!("a file was touched that matches {}", globs.join(", "));
            let next = "Nothing needs to be done: it stays active for the session.";
            return (SkillState::Activated, Some(reason(ReasonRule::Paths, message, None, next)));
        }
        let message = format!("waits until a file is touched that matches {}", globs.join(", "));
        let next = "Touch a matching file, or remove `paths` to load it always.";
        return (SkillState::Conditional, Some(reason(ReasonRule::Paths, message, None, next)));
    }
    (SkillState::Active, None)
}

fn reason_of(remark: Remark) -> Reason {
    let Remark { rule, message, at, next } = remark;
    Reason { rule: ReasonRule::Load(rule), message, at, file: None, next, winner: None }
}

fn reason(rule: ReasonRule, message: String, at: Option<LineColumn>, next: &str) -> Reason {
    Reason { rule, message, at, file: None, next: next.to_owned(), winner: None }
}
