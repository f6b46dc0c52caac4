//! Explains why a skill is listed or not.
//!
//! A resolution records everything considered, with reasons; [`explain`] selects the part that
//! answers a query by name or path. Steps follow the order of discovery: a root, the candidates
//! below it that match the query, and the rules that decided about each.

mod absent;
mod difference;
mod near_miss;
mod skip;
mod steps;

use skills_agents::profile::{Difference, Text};
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::walk::SKILL_FILE;
use super::{Candidate, DiscoveryContext, Reason, Resolution, SkillState, SkippedEntry};

pub use near_miss::{IgnoreRule, NearMiss, NearMissKind, NearMisses, places};
pub use steps::worktree_step;

/// Subject of an explanation.
#[derive(Clone, Copy, Debug)]
pub enum Query<'a> {
    /// Every candidate with this name or directory name.
    Name(&'a str),
    /// A SKILL.md, a skill's directory, or a path below or above one.
    Path(&'a AbsPath),
}

/// Answer to a query, with the steps that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Summary of the answer.
    pub verdict: Verdict,
    /// The candidate it describes, as an index into [`Resolution::candidates`].
    pub candidate: Option<usize>,
    /// Everything that was considered.
    pub steps: Vec<Step>,
}

/// Summary of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// State of the skill; `None` if no skill matches.
    pub state: Option<SkillState>,
    /// Summary, as a sentence.
    pub summary: String,
    /// Suggested action, as a sentence.
    pub next: Option<String>,
}

/// One step of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Subject of the step.
    pub kind: StepKind,
    /// Result of the step, as a sentence fragment.
    pub reason: Option<String>,
    /// Position in the file, if there is one.
    pub at: Option<LineColumn>,
    /// The file of that position, if it is not the candidate's.
    pub file: Option<AbsPath>,
    /// Suggested action, as a sentence.
    pub next: Option<String>,
}

/// Subject of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// A configuration file of the agent: its index in [`Resolution::settings`].
    Settings(usize),
    /// A root: its index in [`Resolution::roots`].
    Root(usize),
    /// A candidate: its index in [`Resolution::candidates`].
    Candidate(usize),
    /// An entry skipped below a root.
    Skip {
        /// The skipped entry.
        path: AbsPath,
        /// Stable name of the rule.
        rule: &'static str,
    },
    /// A rule that applies to the whole worktree, or to a path outside every root.
    Location {
        /// Stable name of the rule.
        rule: &'static str,
        /// True if the rule prevents the queried skill from being found.
        decisive: bool,
    },
    /// A rule applied to a candidate.
    Rule {
        /// The candidate's index.
        candidate: usize,
        /// Stable name of the rule.
        rule: &'static str,
        /// True if the rule hides the skill from the model.
        decisive: bool,
    },
    /// A rule by which another agent drops the candidate.
    Other {
        /// The candidate's index.
        candidate: usize,
        /// The other agent's built-in profile.
        profile: Text,
        /// Stable name of the rule.
        rule: &'static str,
    },
    /// A rule in which the profile differs from its base. `candidate` is the skill it affects;
    /// `None` if the query is about a whole directory.
    Difference {
        /// The candidate's index.
        candidate: Option<usize>,
        /// The rule's name in [`skills_agents::profile::RULES`].
        rule: &'static str,
    },
}

/// Returns a step for each rule in which the profile differs from its base.
pub fn differences(ctx: &DiscoveryContext) -> Vec<Step> {
    let all = ctx.profile.differences.iter();
    all.map(|it| difference_step(ctx, None, it)).collect()
}

fn difference_step(ctx: &DiscoveryContext, candidate: Option<usize>, it: &Difference) -> Step {
    Step {
        kind: StepKind::Difference { candidate, rule: it.rule },
        reason: Some(difference::sentence(&ctx.profile, it)),
        at: None,
        file: None,
        next: None,
    }
}

/// Explains one skill of a resolution. `around` holds the near misses found on the disk for a query
/// that matches no candidate; empty if no search was made.
pub fn explain(
    ctx: &DiscoveryContext,
    resolution: &Resolution,
    query: Query<'_>,
    around: &NearMisses,
) -> Explanation {
    let profile = &*ctx.profile.id;
    let agent = ctx.profile.subject();
    let inquiry = Inquiry { agent, profile, ctx, resolution, query, around };
    let matched: Vec<usize> = inquiry.matched();
    // The listed candidate answers the query; otherwise the one whose state is closest to listed.
    let candidate = matched
        .iter()
        .copied()
        .find(|it| resolution.candidates[*it].state.is_listed())
        .or_else(|| matched.iter().copied().min_by_key(|it| rank(&resolution.candidates[*it])));
    let (verdict, absence, skips) = match candidate {
        Some(index) => {
            (inquiry.about(&resolution.candidates[index]), None, inquiry.skips(&matched))
        }
        None => inquiry.absence(),
    };
    let steps = inquiry.steps(&matched, &skips, absence);
    Explanation { verdict, candidate, steps }
}

fn rank(candidate: &Candidate) -> usize {
    SkillState::ALL.iter().position(|it| *it == candidate.state).unwrap_or(usize::MAX)
}

/// One query with everything needed to answer it.
#[derive(Clone, Copy)]
struct Inquiry<'a> {
    agent: &'a str,
    profile: &'a str,
    ctx: &'a DiscoveryContext,
    resolution: &'a Resolution,
    query: Query<'a>,
    around: &'a NearMisses,
}

impl<'a> Inquiry<'a> {
    fn matched(&self) -> Vec<usize> {
        let candidates = self.resolution.candidates.iter().enumerate();
        let matched = candidates.filter(|(_, it)| self.matches(it));
        let Query::Path(path) = self.query else { return matched.map(|it| it.0).collect() };
        // For nested skills a path belongs to the innermost one, even if the agent does not find
        // it.
        let around = self.around.met.iter().find(|it| it.path == *path);
        let inner = around.and_then(|it| it.skill.as_ref());
        let dirs = matched.map(|(index, it)| (index, it.dir()));
        let is_hidden = |dir: &AbsPath| inner.is_some_and(|it| it != dir && it.starts_with(&**dir));
        let dirs: Vec<_> = dirs.filter(|(_, dir)| !is_hidden(dir)).collect();
        let depth = |dir: &AbsPath| dir.components().count();
        let deepest = dirs.iter().map(|(_, dir)| depth(dir)).max();
        let innermost = dirs.into_iter().filter(|(_, dir)| Some(depth(dir)) == deepest);
        innermost.map(|(index, _)| index).collect()
    }

    fn matches(&self, candidate: &Candidate) -> bool {
        match self.query {
            Query::Name(name) => {
                let field = candidate.record().and_then(|it| it.name.as_ref());
                candidate.name == name
                    || field.is_some_and(|it| &*it.text == name)
                    || candidate.own_name().is_some_and(|it| it == name)
            }
            Query::Path(path) if candidate.is_command() => *path == candidate.path,
            // A SKILL.md never belongs to another skill.
            Query::Path(path) if path.ends_with(SKILL_FILE) => *path == candidate.path,
            Query::Path(path) => path.starts_with(&*candidate.dir()),
        }
    }

    /// Returns the skipped entries that match the query, each with its root's index.
    fn skips(&self, matched: &[usize]) -> Vec<(usize, &'a SkippedEntry)> {
        let roots = self.resolution.roots.iter().enumerate();
        roots
            .flat_map(|(index, root)| root.skips.iter().map(move |skip| (index, skip)))
            .filter(|(index, skip)| match self.query {
                Query::Name(name) => {
                    let parent = skip.path.parent();
                    let names =
                        [skip.path.file_name(), parent.as_ref().and_then(|it| it.file_name())];
                    names.into_iter().flatten().any(|it| it == name)
                        || matched.is_empty() && skip.reason.is_over_budget()
                }
                Query::Path(path) => {
                    path.starts_with(&*skip.path)
                        || (matched.is_empty() && skip.path.starts_with(&**path))
                        || (matched.is_empty()
                            && skip.reason.is_over_budget()
                            && path.starts_with(&*self.resolution.roots[*index].path))
                }
            })
            .collect()
    }

    fn about(&self, candidate: &Candidate) -> Verdict {
        let Candidate { name, state, .. } = candidate;
        let agent = self.agent;
        let why = candidate.reason.as_ref().map(|it| it.message.as_str()).unwrap_or_default();
        let summary = match state {
            SkillState::Hidden if candidate.is_built_in() => {
                format!("{agent} shows `{name}` to its model: it is built into {agent}.")
            }
            SkillState::Active => format!("{agent} shows `{name}` to its model."),
            SkillState::Activated => format!("{agent} shows `{name}` to its model: {why}."),
            SkillState::Conditional => format!("{agent} does not show `{name}` yet: it {why}."),
            SkillState::Shadowed => format!("{agent} does not use this `{name}`: {why}."),
            SkillState::Hidden => format!("{agent} does not show `{name}` to its model: {why}."),
            SkillState::Untrusted => format!("{agent} does not load `{name}` yet: {why}."),
            SkillState::Denied => {
                format!(
                    "{agent} may not use `{name}`: {why}{}.",
                    place(candidate.reason.as_deref())
                )
            }
            SkillState::Ignored => format!("{agent} ignores `{name}`: {why}."),
            SkillState::Invalid => format!("{agent} drops `{name}`: {why}."),
            SkillState::Refused => format!("skillsd does not read `{name}`: {why}."),
        };
        Verdict {
            state: Some(*state),
            summary,
            next: candidate.reason.as_ref().map(|it| it.next.clone()),
        }
    }
}

/// Returns a reason's position as text for the end of a sentence.
fn place(reason: Option<&Reason>) -> String {
    match reason.and_then(|it| it.file.as_ref().zip(it.at)) {
        Some((file, at)) => format!(" (`{}:{}:{}`)", file.display(), at.line, at.column),
        None => String::new(),
    }
}
