//! Types of `rules/describe`.

use serde::{Deserialize, Serialize};

use super::null::null_is_default;
use crate::wire::Severity;

/// The rules to describe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RulesDescribeParams {
    /// Rules (`yaml/syntax`) and families (`yaml/*`); all rules if empty.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub rules: Vec<String>,
}

/// Descriptions of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesDescribeResult {
    /// The rules, in the order of the reference.
    pub rules: Vec<RuleDescription>,
}

/// Description of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDescription {
    /// Stable name, as in `code` of a finding.
    pub rule: String,
    /// Documentation page of the rule; null if it is not installed on this machine.
    pub href: Option<String>,
    /// Usual severity of a finding; a finding's own severity depends on how the agents of the
    /// active profiles react to it.
    pub severity: Severity,
    /// The problem that the rule finds, one sentence.
    pub what: String,
    /// Consequences of the problem, one or more sentences.
    pub why: String,
    /// Suggested action, one sentence.
    pub repair: String,
    /// True if most findings have a fix that can be applied without a choice.
    pub fixable: bool,
    /// True if the user must choose a fix in an editor, because there are several or because a fix
    /// changes more than the text.
    #[serde(default)]
    pub choosable: bool,
    /// Agents that the rule applies to; all agents if empty.
    pub agents: Vec<String>,
    /// Sources of this information.
    pub sources: Vec<RuleReference>,
    /// Version of skillsd that introduced the rule.
    pub since: String,
    /// Example text with a finding, or a description of one; invisible characters are spelled out.
    pub failing: String,
    /// The corrected example.
    pub passing: String,
    /// The whole description as Markdown, without a heading.
    pub markdown: String,
}

/// Source of information about a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleReference {
    /// Title of the source.
    pub title: String,
    /// URL of the source; null if it has none.
    pub address: Option<String>,
    /// Version of the source.
    pub version: String,
}
