//! Selects the differences between a profile and its base that affect a skill.
//!
//! For a variant or a user's profile, `explain` names the differences that changed the result for
//! the skill. For a whole directory it names all of them.

use skills_agents::keyword::Keyword as _;
use skills_agents::loaders::{LoadOutcome, load_as};
use skills_agents::profile::{Profile, RootBase, RuleDifference};
use skills_syntax::path::AbsPath;

use super::super::root_paths::root_paths;
use super::super::{DiscoveryContext, Resolution, SkillState};
use super::explanation::{Step, StepKind};
use crate::activate::is_restriction;

/// Rules for reading a file. For `description` and the `name_…` rules the changed value decides
/// which one matters.
const READING: &[&str] = &[
    "name_source", "name_scalars", "name_empty", "name_form", "name_check", "description",
    "one_line", "requires", "fence", "yaml_library", "repairs", "unreadable_yaml", "invalid_utf8",
    "byte_order_mark", "crlf",
];

/// Rules that decide which of several files wins.
const WINNING: &[&str] = &["roots", "duplicates", "warns_of_duplicates", "paths"];

/// Returns the differences that affect a candidate.
pub(super) fn mattering<'a>(
    ctx: &'a DiscoveryContext,
    resolution: &Resolution,
    index: usize,
) -> Vec<&'a RuleDifference> {
    let Some(base) = &ctx.profile.base else { return Vec::new() };
    let candidate = &resolution.candidates[index];
    let is_contested = candidate.state == SkillState::Shadowed
        || resolution
            .candidates
            .iter()
            .any(|it| it.reason.as_ref().is_some_and(|it| it.winner == Some(index)));
    let reading = candidate.record().map(|record| {
        let dir = candidate.dir();
        let directory = dir.file_name().unwrap_or_default().to_string_lossy();
        (load_as(base, record, &directory), load_as(&ctx.profile, record, &directory))
    });
    let matters = |it: &&RuleDifference| match it.rule {
        rule if READING.contains(&rule) => {
            reading.as_ref().is_some_and(|(was, is)| reads_otherwise(rule, was, is))
        }
        "roots" if !is_contested => {
            let root = &resolution.roots[candidate.root];
            // A root discovered by a touch has no row.
            let rule = ctx.profile.roots.get(root.rule);
            rule.is_some_and(|rule| match rule.base {
                // The roots of such a rule do not follow from the table alone.
                RootBase::Settings
                | RootBase::Plugins(_)
                | RootBase::Extensions(_)
                | RootBase::Provided(_)
                | RootBase::BuiltIn(_) => !base.roots.iter().any(|it| it.base == rule.base),
                _ => !searched_by(base, ctx, resolution).contains(&root.path),
            })
        }
        rule if WINNING.contains(&rule) => is_contested,
        "requires_trust" | "trust_variables" => {
            resolution.roots[candidate.root].scope.is_from_worktree()
        }
        "linked_worktrees" => {
            let main = resolution.repository.main();
            main.is_some_and(|it| candidate.path.starts_with(&**it))
        }
        rule if rule.starts_with("plugin") => resolution.plugin_of(candidate).is_some(),
        "conditional" => {
            candidate.record().is_some_and(|it| is_restriction(it.paths.iter().map(|it| &**it)))
        }
        "hides_from_model" => candidate.record().is_some_and(|it| it.disable_model_invocation),
        rule => {
            rule.starts_with("nested")
                && resolution.roots[candidate.root].scope == skills_agents::profile::Scope::Nested
        }
    };
    ctx.profile.differences.iter().filter(matters).collect()
}

fn reads_otherwise(rule: &str, was: &LoadOutcome, is: &LoadOutcome) -> bool {
    if was == is {
        return false;
    }
    let blames = |it: &LoadOutcome, group: &str| {
        let remarks = it.dropped.iter().chain(&it.unlisted).chain(&it.notes);
        remarks.into_iter().any(|it| it.rule.keyword().starts_with(group))
    };
    match rule {
        "description" => {
            was.description != is.description
                || blames(was, "description") != blames(is, "description")
        }
        rule if rule.starts_with("name_") => {
            was.name != is.name || blames(was, "name") != blames(is, "name")
        }
        _ => true,
    }
}

/// Returns the roots that another profile would search in the same context.
fn searched_by(profile: &Profile, ctx: &DiscoveryContext, resolution: &Resolution) -> Vec<AbsPath> {
    let worktree = resolution.git_worktree();
    let paths = profile.roots.iter().flat_map(|rule| root_paths(ctx, rule, &worktree, &[]));
    paths.filter_map(Result::ok).collect()
}

/// Describes a difference, as a sentence fragment.
fn sentence(profile: &Profile, difference: &RuleDifference) -> String {
    let RuleDifference { rule, base, here, source } = difference;
    let other = profile.base.as_ref().map_or("", |it| &*it.id);
    let source = source.trim_end_matches('.');
    format!("`{rule}` is {here}; in `{other}` it is {base} ({source})")
}

/// Returns the step for a difference that affects `candidate`, or a whole directory.
pub(super) fn difference_step(
    ctx: &DiscoveryContext,
    candidate: Option<usize>,
    difference: &RuleDifference,
) -> Step {
    Step {
        kind: StepKind::Difference { candidate, rule: difference.rule },
        reason: Some(sentence(&ctx.profile, difference)),
        at: None,
        file: None,
        next: None,
    }
}
