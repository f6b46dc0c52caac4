//! [`Rule`]: one row of the rule table, with documentation, severity, sources and examples.
//!
//! A row is data; the documentation, editors and the command line read it. A rule's code is in the
//! file of its family.

use skills_agents::field_table::{Agent, Citation};
use skills_syntax::diagnostic::Severity;

use super::rule_id::RuleId;

/// Example without problems, for the rules whose own example has nothing to keep.
pub(super) const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

#[derive(Debug)]
pub struct Rule {
    /// Stable id.
    pub id: RuleId,
    /// Usual severity. A finding's own severity depends on how the active profiles' agents load the
    /// file.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub problem: &'static str,
    /// The consequences of the problem, in sentences.
    pub consequence: &'static str,
    /// The remedy, in a sentence.
    pub remedy: &'static str,
    /// True if most findings have a fix that can be applied without asking.
    pub fixable: bool,
    /// True if findings offer alternatives to choose from, or fixes that are more than a text edit.
    pub choosable: bool,
    /// True if the rule concerns the file as a whole. A comment anywhere in the file suppresses it.
    pub whole_file: bool,
    /// The agents concerned; empty means all.
    pub agents: &'static [Agent],
    /// The documents and program sources that the rule is based on.
    pub sources: &'static [&'static Citation],
    /// The version of skillsd that introduced the rule.
    pub since: &'static str,
    /// An example with the problem.
    pub failing: &'static str,
    /// The example without the problem.
    pub passing: &'static str,
}

/// Values that most rules of a family share.
pub(super) struct Family {
    pub(super) severity: Severity,
    pub(super) whole_file: bool,
    pub(super) agents: &'static [Agent],
    pub(super) sources: &'static [&'static Citation],
    pub(super) passing: &'static str,
}

impl Family {
    /// Creates a row with the family's values.
    pub(super) const fn rule(
        &self,
        id: RuleId,
        problem: &'static str,
        consequence: &'static str,
        remedy: &'static str,
        failing: &'static str,
    ) -> Rule {
        let Self { severity, whole_file, agents, sources, passing } = *self;
        let rule = Rule::new(id, severity, problem, consequence, remedy);
        Rule { whole_file, agents, sources, failing, passing, ..rule }
    }
}

impl Rule {
    /// Creates a row from its required columns.
    pub(super) const fn new(
        id: RuleId,
        severity: Severity,
        problem: &'static str,
        consequence: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self {
            id,
            severity,
            problem,
            consequence,
            remedy,
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

    pub(super) const fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    pub(super) const fn passing(mut self, passing: &'static str) -> Self {
        self.passing = passing;
        self
    }

    /// Returns the part of the id before the slash.
    pub fn family(&self) -> &'static str {
        self.id.family()
    }

    /// Returns the URL of the rule's page or section. `page` is the URL of the reference page, or
    /// of a directory with a page for each rule, which ends with a slash.
    pub fn address(&self, page: &str) -> String {
        if page.ends_with('/') {
            return format!("{page}{}", self.file_name());
        }
        format!("{page}#{}", self.anchor())
    }

    /// Returns the name of the file with the rule's own page.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.id.as_str().replace('/', "-"))
    }

    /// Returns the anchor of the rule's section on the reference page.
    pub fn anchor(&self) -> String {
        self.id.as_str().replace('/', "")
    }
}
