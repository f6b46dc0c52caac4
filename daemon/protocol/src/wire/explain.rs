//! Types of `skills/explain`.
//!
//! The steps are a flat list in the order of discovery: a `settings` step for each relevant setting
//! in the agent's configuration files, a `root` step for each root considered, after it a
//! `candidate` step for each matching file found there, and after that a `rule` step for each rule
//! that decided about the candidate. If a whole directory is explained for a variant or a user's
//! profile, a `rule` step for each difference from its base comes before all roots. Programs read
//! `kind`, `outcome` and `rule`; users read `reason` and `next`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Scope, State};

skills_params! {
    /// The skill to explain; the working directory if neither `name` nor `path` is given.
    ExplainParams {
        /// Name of the skill; every candidate with this name is explained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// A SKILL.md or a skill's directory, absolute; it may be outside every root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// True for a `candidate` step without `root` for each skill file of the worktree that the
        /// agent does not find, if neither `name` nor `path` is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        near_misses: Option<bool>,
    }
}

/// Result of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The requested name, or the name of the file at `path`; null if none.
    pub name: Option<String>,
    /// The SKILL.md that the verdict is about; null if none was found.
    pub path: Option<String>,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Name of the profile whose rules were applied, for example `claude-code`.
    pub profile: String,
    /// The source of the profile's rules; absent from a daemon of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Evidence>,
    /// Summary of the result.
    pub verdict: Verdict,
    /// The steps that lead to it.
    pub steps: Vec<Step>,
}

/// Summary of an explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// State of the skill; null if no skill matches.
    pub state: Option<State>,
    /// Summary for users, one sentence.
    pub summary: String,
    /// Suggested action, a full sentence; absent if none is needed or a step has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

word_enum! {
    /// Subject of a step.
    StepKind {
        /// A setting in a configuration file of the agent; before all roots.
        Settings = "settings",
        /// A directory that may contain skills.
        Root = "root",
        /// A file that may be the skill.
        Candidate = "candidate",
        /// A rule applied to the preceding candidate.
        Rule = "rule",
    }
}

word_enum! {
    /// Result of a step.
    Outcome {
        /// Root: exists and was searched.
        Searched = "searched",
        /// Root or settings: does not exist.
        Missing = "missing",
        /// Root, candidate or settings: could not be read.
        Unreadable = "unreadable",
        /// Root or settings: belongs to another agent, or is switched off.
        Skipped = "skipped",
        /// Candidate: shown to the model.
        Kept = "kept",
        /// Candidate or rule: not shown to the model.
        Dropped = "dropped",
        /// Rule: the candidate passed it. Settings: the file has no relevant settings.
        Passed = "passed",
        /// Rule: changes how the candidate is read, or is worth knowing. Settings: a relevant
        /// setting.
        Noted = "noted",
    }
}

word_enum! {
    /// Source of the knowledge about an agent's rule.
    Evidence {
        /// Observed in the running agent.
        Running = "running",
        /// Read in its source code.
        Source = "source",
        /// Taken from its documentation.
        Documentation = "documentation",
        /// Stated by the open standard or its client guide.
        Standard = "standard",
        /// Written in the user's configuration.
        Configuration = "configuration",
    }
}

/// A step of an explanation. Fields that do not apply to its kind are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Subject of the step.
    pub kind: StepKind,
    /// Result of the step.
    pub outcome: Outcome,
    /// The root, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Candidate and rule: the SKILL.md, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Encoding of `root`, `path` and `file`; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Root and candidate: kind of source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Root: number of skills found in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// Candidate: name as the agent reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Candidate: its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Rule, or a skipped candidate: stable name of the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Rule and settings: the agent; `skillsd` for its own limits and refusals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Rule and settings: version of the agent in which it was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Rule and settings: source of this knowledge; absent for rules of `skillsd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Reason for the result, a sentence for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The file that decided, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in `file`, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in `file` in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Suggested action, a full sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Step {
    /// Returns a step with this kind and outcome and no other field.
    pub const fn new(kind: StepKind, outcome: Outcome) -> Self {
        Self {
            kind,
            outcome,
            root: None,
            path: None,
            path_encoding: None,
            scope: None,
            found: None,
            name: None,
            state: None,
            rule: None,
            agent: None,
            version: None,
            evidence: None,
            reason: None,
            file: None,
            line: None,
            column: None,
            next: None,
        }
    }
}
