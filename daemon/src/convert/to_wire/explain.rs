//! Conversion of explanations to the wire.

use std::path::Path;

use skills_agents::profile::{self, Profile};
use skills_discovery::discover::{
    self, Candidate, Explanation, NearMisses, ReasonRule, Resolution, RootOutcome, SettingsFile,
    SettingsOutcome, SkillState, SkipReason, SkippedEntry, Step, StepKind,
};
use skills_engine::View;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;

use super::value;
use super::value::{path, scope, state};

pub(crate) fn explanation(
    view: &View,
    explanation: &Explanation,
) -> (wire::Verdict, Vec<wire::Step>) {
    let verdict = &explanation.verdict;
    let verdict = wire::Verdict {
        state: verdict.state.map(state),
        summary: verdict.summary.clone(),
        next: verdict.next.clone(),
    };
    let mut steps = Vec::with_capacity(explanation.steps.len());
    // Skipped entries follow their root's step.
    let mut root_idx = 0;
    for it in &explanation.steps {
        if let StepKind::Root(index) = it.kind {
            root_idx = index;
        }
        steps.push(step(view, it, root_idx));
    }
    (verdict, steps)
}

/// Returns the steps about a directory: differences of the profile from its base, settings files,
/// and each search root followed by its entries that were meant as skills but could not be used.
pub(crate) fn root_steps(view: &View) -> Vec<wire::Step> {
    let resolution = &view.resolution;
    let first = discover::worktree_step(&view.ctx, resolution).into_iter();
    let first = first.chain(discover::differences(&view.ctx)).chain(resolution.settings_steps());
    let mut steps: Vec<_> = first.map(|it| step(view, &it, 0)).collect();
    for (root_idx, root) in resolution.roots.iter().enumerate() {
        steps.push(root_step(resolution, root_idx));
        let is_mistake = |it: &&SkippedEntry| {
            matches!(
                it.reason,
                SkipReason::Fault(_)
                    | SkipReason::WrongCase
                    | SkipReason::TooManyDirectories(..)
                    | SkipReason::TooManyEntries(..)
                    | SkipReason::OverBudget(..)
                    | SkipReason::OutOfBounds(_)
            )
        };
        steps.extend(root.skips.iter().filter(is_mistake).map(|skip| wire::Step {
            reason: Some(skip.reason.message()),
            next: Some(skip.suggested_action(root)),
            ..skip_step(view, &skip.path, skip.reason.rule(), root_idx)
        }));
    }
    steps
}

/// Returns a step for each near miss that has none among `known`, and one more if the search ended
/// at a limit.
pub(crate) fn near_miss_steps(
    view: &View,
    around: &NearMisses,
    known: &[wire::Step],
) -> Vec<wire::Step> {
    let profile = &view.ctx.profile;
    let found = discover::explain_near_misses(&view.ctx, &view.resolution, around);
    let candidate = |path: &Path, rule: ReasonRule| {
        let encoding = encoding_of([path]);
        wire::Step {
            path: Some(encode(path, encoding)),
            path_encoding: encoding,
            ..by_rule(
                profile,
                rule,
                wire::Step::new(wire::StepKind::Candidate, wire::Outcome::Dropped),
            )
        }
    };
    let steps = found.into_iter().filter_map(|step| {
        let StepKind::Skip { path, rule } = &step.kind else { return None };
        Some(wire::Step { reason: step.reason, next: step.next, ..candidate(path, *rule) })
    });
    let is_new =
        |it: &wire::Step| !known.iter().any(|other| other.path.is_some() && other.path == it.path);
    let mut steps: Vec<_> = steps.filter(is_new).collect();
    if around.is_partial {
        let reason = "it has too many files to search all of it for skills".to_owned();
        let top = candidate(&view.resolution.worktree, ReasonRule::WalkBounds);
        steps.push(wire::Step { reason: Some(reason), ..top });
    }
    steps
}

fn step(view: &View, step: &Step, root_idx: usize) -> wire::Step {
    let resolution = &view.resolution;
    let converted = match &step.kind {
        StepKind::Settings(index) => settings_step(view, &resolution.settings[*index], step),
        StepKind::Root(index) => root_step(resolution, *index),
        StepKind::Candidate(index) => candidate_step(resolution, &resolution.candidates[*index]),
        StepKind::Skip { path, rule } => skip_step(view, path, *rule, root_idx),
        StepKind::Location { rule, decisive } => {
            place_step(&view.ctx.profile, *rule, *decisive, step)
        }
        StepKind::Rule { candidate, rule, decisive } => {
            let candidate = &resolution.candidates[*candidate];
            rule_step(&view.ctx.profile, candidate, *rule, *decisive, step)
        }
        StepKind::Other { candidate, profiles, rule } => {
            let candidate = &resolution.candidates[*candidate];
            let other = profiles.first().and_then(|it| profile::find(it));
            let other = other.unwrap_or(&view.ctx.profile);
            let converted = rule_step(other, candidate, *rule, false, step);
            match &profiles[..] {
                [_] => converted,
                // The reason names the agents.
                _ => wire::Step { agent: None, version: None, evidence: None, ..converted },
            }
        }
        StepKind::Difference { candidate, rule } => {
            let candidate = candidate.map(|index| &resolution.candidates[index]);
            difference_step(&view.ctx.profile, candidate, rule)
        }
    };
    wire::Step { reason: step.reason.clone(), next: step.next.clone(), ..converted }
}

fn root_step(resolution: &Resolution, root_idx: usize) -> wire::Step {
    let root = &resolution.roots[root_idx];
    let encoding = encoding_of([&*root.path]);
    let (outcome, reason) = match &root.outcome {
        RootOutcome::Walked => {
            let origin = &root.origin;
            let from = (!origin.is_empty()).then(|| format!("comes from {origin}"));
            (wire::Outcome::Searched, from)
        }
        RootOutcome::Missing => (wire::Outcome::Missing, None),
        RootOutcome::Fault(fault) => (wire::Outcome::Unreadable, Some(fault.to_string())),
        RootOutcome::NotSearched(why) | RootOutcome::OutOfBounds(why) => {
            (wire::Outcome::Skipped, Some(why.clone()))
        }
        RootOutcome::Pending => (wire::Outcome::Skipped, Some("is not known yet".to_owned())),
    };
    wire::Step {
        root: Some(path(&root.path, encoding)),
        path_encoding: encoding,
        scope: Some(scope(root.scope)),
        found: (root.outcome == RootOutcome::Walked).then_some(root.candidates.len() as u64),
        reason,
        ..wire::Step::new(wire::StepKind::Root, outcome)
    }
}

/// Returns a step about a settings file: one of its values, or its outcome.
fn settings_step(view: &View, file: &SettingsFile, step: &Step) -> wire::Step {
    let profile = &view.ctx.profile;
    let encoding = encoding_of([&*file.path]);
    let outcome = match &file.outcome {
        SettingsOutcome::Missing => wire::Outcome::Missing,
        SettingsOutcome::Broken(..) | SettingsOutcome::Fault(..) => wire::Outcome::Unreadable,
        SettingsOutcome::Off(_) | SettingsOutcome::Pending => wire::Outcome::Skipped,
        SettingsOutcome::Read if step.at.is_none() => wire::Outcome::Passed,
        SettingsOutcome::Read => wire::Outcome::Noted,
    };
    wire::Step {
        file: Some(encode(&file.path, encoding)),
        path_encoding: encoding,
        agent: Some(profile.agent.clone().into_owned()),
        version: Some(profile.version.clone().into_owned()),
        evidence: Some(evidence(profile.evidence)),
        line: step.at.map(|it| it.line),
        column: step.at.map(|it| it.column),
        ..wire::Step::new(wire::StepKind::Settings, outcome)
    }
}

fn candidate_step(resolution: &Resolution, candidate: &Candidate) -> wire::Step {
    let root = &resolution.roots[candidate.root];
    let encoding = encoding_of([&*candidate.path, &*root.path]);
    let outcome = match (candidate.state, &candidate.file) {
        (SkillState::Active | SkillState::Activated, _) => wire::Outcome::Kept,
        (SkillState::Invalid, None) => wire::Outcome::Unreadable,
        (
            SkillState::Conditional
            | SkillState::Shadowed
            | SkillState::Invalid
            | SkillState::Hidden
            | SkillState::Denied
            | SkillState::Untrusted
            | SkillState::Ignored
            | SkillState::Refused,
            _,
        ) => wire::Outcome::Dropped,
    };
    wire::Step {
        root: Some(path(&root.path, encoding)),
        path: Some(path(&candidate.path, encoding)),
        path_encoding: encoding,
        scope: Some(scope(root.scope)),
        name: Some(candidate.name.clone()),
        state: Some(state(candidate.state)),
        ..wire::Step::new(wire::StepKind::Candidate, outcome)
    }
}

fn skip_step(view: &View, path: &Path, rule: ReasonRule, root_idx: usize) -> wire::Step {
    let root = &view.resolution.roots[root_idx];
    let encoding = encoding_of([path, &*root.path]);
    let is_fault = |reason: &SkipReason| matches!(reason, SkipReason::Fault(_));
    let unreadable = root.skips.iter().any(|skip| *skip.path == *path && is_fault(&skip.reason));
    let outcome = if unreadable { wire::Outcome::Unreadable } else { wire::Outcome::Dropped };
    wire::Step {
        root: Some(value::path(&root.path, encoding)),
        path: Some(encode(path, encoding)),
        path_encoding: encoding,
        ..by_rule(&view.ctx.profile, rule, wire::Step::new(wire::StepKind::Candidate, outcome))
    }
}

fn place_step(profile: &Profile, rule: ReasonRule, decisive: bool, step: &Step) -> wire::Step {
    let file = step.file.as_deref();
    let encoding = encoding_of(file);
    let outcome = if decisive { wire::Outcome::Dropped } else { wire::Outcome::Noted };
    wire::Step {
        file: file.map(|it| encode(it, encoding)),
        path_encoding: encoding,
        line: step.at.map(|it| it.line),
        column: step.at.map(|it| it.column),
        ..by_rule(profile, rule, wire::Step::new(wire::StepKind::Rule, outcome))
    }
}

/// Adds the rule of a step, with its agent and evidence. A rule of skillsd's own names skillsd.
fn by_rule(profile: &Profile, rule: ReasonRule, step: wire::Step) -> wire::Step {
    let name = rule.as_str().to_owned();
    if rule.is_of_skillsd() {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        return wire::Step { rule: Some(name), agent: Some("skillsd".to_owned()), version, ..step };
    }
    by_agent_rule(profile, name, step)
}

fn by_agent_rule(profile: &Profile, rule: String, step: wire::Step) -> wire::Step {
    wire::Step {
        rule: Some(rule),
        agent: Some(profile.agent.clone().into_owned()),
        version: Some(profile.version.clone().into_owned()),
        evidence: Some(evidence(profile.evidence)),
        ..step
    }
}

fn rule_step(
    profile: &Profile,
    candidate: &Candidate,
    rule: ReasonRule,
    decisive: bool,
    step: &Step,
) -> wire::Step {
    let file = step.file.as_ref().unwrap_or(&candidate.path);
    let at = step.at;
    let encoding = encoding_of([&*candidate.path, &**file]);
    let path = path(&candidate.path, encoding);
    let file = encode(file, encoding);
    let outcome = if decisive { wire::Outcome::Dropped } else { wire::Outcome::Noted };
    wire::Step {
        file: at.map(|_| file),
        path: Some(path),
        path_encoding: encoding,
        line: at.map(|it| it.line),
        column: at.map(|it| it.column),
        ..by_rule(profile, rule, wire::Step::new(wire::StepKind::Rule, outcome))
    }
}

fn difference_step(profile: &Profile, candidate: Option<&Candidate>, rule: &str) -> wire::Step {
    let path = candidate.map(|it| &*it.path);
    let encoding = encoding_of(path);
    wire::Step {
        path: path.map(|path| encode(path, encoding)),
        path_encoding: encoding,
        ..by_agent_rule(
            profile,
            format!("profile/{rule}"),
            wire::Step::new(wire::StepKind::Rule, wire::Outcome::Noted),
        )
    }
}

pub(crate) fn evidence(evidence: profile::Evidence) -> wire::Evidence {
    match evidence {
        profile::Evidence::Run => wire::Evidence::Running,
        profile::Evidence::Source => wire::Evidence::Source,
        profile::Evidence::Documentation => wire::Evidence::Documentation,
        profile::Evidence::Standard => wire::Evidence::Standard,
        profile::Evidence::Configuration => wire::Evidence::Configuration,
    }
}
