//! One row of the table of rules: what it finds, why that matters, and to whom.
//!
//! The row is data: documentation, editors and the command line read the same one. What the rule
//! looks at is code, in the file of its family.

use skills_agents::field_table::{Agent, Citation};
use skills_syntax::diagnostic::Severity;

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// A stable name, `family/kebab-name`.
    pub id: &'static str,
    /// How much a finding usually matters: each has a severity of its own, by what the agents of the
    /// active profiles do about it.
    pub severity: Severity,
    /// What it finds, in a sentence.
    pub what: &'static str,
    /// Why that matters; sentences.
    pub why: &'static str,
    /// What to do about it, in a sentence.
    pub repair: &'static str,
    /// Whether most findings come with a fix that can be applied as it is.
    pub fixable: bool,
    /// Whether there are fixes of which somebody has to choose one, or that are more than an edit
    /// of the text.
    pub choosable: bool,
    /// Whether it is about the file as a whole: a comment anywhere in the file suppresses it.
    pub whole_file: bool,
    /// The agents it is about; all of them when empty.
    pub agents: &'static [Agent],
    /// Where all of this is known from.
    pub sources: &'static [&'static Citation],
    /// The version of this program that brought it.
    pub since: &'static str,
    /// A text in which it finds something.
    pub failing: &'static str,
    /// The same, well.
    pub passing: &'static str,
}

impl Rule {
    /// Starts a row.
    pub(super) const fn new(
        id: &'static str,
        severity: Severity,
        what: &'static str,
        why: &'static str,
        repair: &'static str,
    ) -> Self {
        Self {
            id,
            severity,
            what,
            why,
            repair,
            fixable: false,
            choosable: false,
            whole_file: false,
            agents: &[],
            sources: &[],
            since: "0.1.0",
            failing: "",
            passing: "",
        }
    }

    pub(super) const fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }

    pub(super) const fn choosable(mut self) -> Self {
        self.choosable = true;
        self
    }

    pub(super) const fn whole_file(mut self) -> Self {
        self.whole_file = true;
        self
    }

    pub(super) const fn agents(mut self, agents: &'static [Agent]) -> Self {
        self.agents = agents;
        self
    }

    pub(super) const fn sources(mut self, sources: &'static [&'static Citation]) -> Self {
        self.sources = sources;
        self
    }

    pub(super) const fn texts(mut self, failing: &'static str, passing: &'static str) -> Self {
        self.failing = failing;
        self.passing = passing;
        self
    }

    /// Returns the part of the id before the slash.
    pub fn family(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(family, _)| family)
    }

    /// Returns the address of its section on the reference page, which is at `page`.
    pub fn address(&self, page: &str) -> String {
        format!("{page}#{}", self.anchor())
    }

    /// Returns the place of its section on the reference page.
    pub fn anchor(&self) -> String {
        self.id.replace('/', "")
    }
}
