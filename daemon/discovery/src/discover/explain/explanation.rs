//! Answer to a query about a skill, and the steps that lead to it.

use skills_agents::profile::Text;
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

#[cfg(doc)]
use crate::discover::Resolution;
use crate::discover::SkillState;
use crate::discover::reason_rule::ReasonRule;

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
        /// The rule.
        rule: ReasonRule,
    },
    /// A rule that applies to the whole worktree, or to a path outside every root.
    Location {
        /// The rule.
        rule: ReasonRule,
        /// True if the rule prevents the queried skill from being found.
        decisive: bool,
    },
    /// A rule applied to a candidate.
    Rule {
        /// The candidate's index.
        candidate: usize,
        /// The rule.
        rule: ReasonRule,
        /// True if the rule hides the skill from the model.
        decisive: bool,
    },
    /// A rule by which other agents drop the candidate.
    Other {
        /// The candidate's index.
        candidate: usize,
        /// The other agents' built-in profiles.
        profiles: Vec<Text>,
        /// The rule.
        rule: ReasonRule,
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
