//! `skills/explain`: why a skill is there, or why not.
//!
//! The steps are flat and in the order in which discovery takes them: a `settings` step for each
//! thing that the agent's configuration files say, a `root` step for each root
//! considered, after it a `candidate` step for each file found there that bears on the question,
//! after that a `rule` step for each rule that decided about that candidate. Where a whole place is
//! explained by a variant or a profile of the user's own, a `rule` step for each rule in which it
//! differs from its base comes before all roots. A program reads `kind`, `outcome` and `rule`; a
//! person reads `reason` and `next`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Scope, State};

skills_params! {
    /// What to explain. With neither `name` nor `path`: the working directory itself.
    ExplainParams {
        /// The skill's name; every candidate of that name is explained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// A SKILL.md or a skill's directory, absolute; it need not be in any root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

/// The verdict and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The name that was asked for, or that of the file at `path`; null where there is none.
    pub name: Option<String>,
    /// The SKILL.md that the verdict is about; null when nothing was found.
    pub path: Option<String>,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whose rules were applied, in full, for example `claude-code`.
    pub profile: String,
    /// The answer in short.
    pub verdict: Verdict,
    /// How it came about.
    pub steps: Vec<Step>,
}

/// The answer in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// What became of the skill; null when there is no such skill.
    pub state: Option<State>,
    /// One sentence for a person.
    pub summary: String,
    /// What to do, a full sentence; absent when there is nothing to do or a step says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

word_enum! {
    /// What a step of an explanation is about.
    StepKind {
        /// A configuration file of the agent, and one thing that it says; before all roots.
        Settings = "settings",
        /// A directory that may hold skills.
        Root = "root",
        /// A file that may be the skill.
        Candidate = "candidate",
        /// A rule that was applied to the candidate before it.
        Rule = "rule",
    }
}

word_enum! {
    /// What came of a step.
    Outcome {
        /// Root: it exists and was searched.
        Searched = "searched",
        /// Root or settings: it does not exist.
        Missing = "missing",
        /// Root, candidate or settings: it could not be read.
        Unreadable = "unreadable",
        /// Root or settings: it is another agent's, or is switched off.
        Skipped = "skipped",
        /// Candidate: the agent shows it to its model.
        Kept = "kept",
        /// Candidate or rule: the agent does not show it.
        Dropped = "dropped",
        /// Rule: the candidate passed it. Settings: nothing in it bears on skills.
        Passed = "passed",
        /// Rule: it changed how the candidate is read, or is worth knowing. Settings: it says so.
        Noted = "noted",
    }
}

word_enum! {
    /// How we know a rule of an agent.
    Evidence {
        /// Observed on the running agent.
        Running = "running",
        /// Read in its source.
        Source = "source",
        /// Taken from its documentation.
        Documentation = "documentation",
        /// Stated by the open standard or its client guide.
        Standard = "standard",
        /// Written in the user's configuration.
        Configuration = "configuration",
    }
}

/// One step of an explanation. Fields that do not apply to its kind are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What it is about.
    pub kind: StepKind,
    /// What came of it.
    pub outcome: Outcome,
    /// The root concerned, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Candidate and rule: the SKILL.md concerned, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How `root`, `path` and `file` are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Root and candidate: what kind of place it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Root: how many skills were found in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// Candidate: its name as the agent reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Candidate: what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Rule, or a candidate that was passed over: the stable name of the rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Rule and settings: the agent concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Rule and settings: the version of the agent in which it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Rule and settings: how we know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Why it came so, a sentence for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The file whose text decided, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in `file`, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in `file` in characters, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What to do, a full sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Step {
    /// Returns a step that says no more than its kind and outcome.
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
