//! The types of `rules/describe`.

use serde::{Deserialize, Serialize};

use crate::wire::Severity;

/// Which rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RulesDescribeParams {
    /// Rules (`yaml/syntax`) and families (`yaml/*`); all rules when there are none.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::wire::null_is_default"
    )]
    pub rules: Vec<String>,
}

/// What rules find, and why that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesDescribeResult {
    /// The rules, in the order of the reference.
    pub rules: Vec<RuleDescription>,
}

/// What a rule finds, why that matters and to whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDescription {
    /// The stable name, as in `code` of a finding.
    pub rule: String,
    /// The page about it; null where there is none on this machine.
    pub href: Option<String>,
    /// How bad a finding usually is; each has a severity of its own, by what the agents of the active
    /// profiles do about it.
    pub severity: Severity,
    /// What it finds, in a sentence.
    pub what: String,
    /// Why that matters; sentences.
    pub why: String,
    /// What to do about it, in a sentence.
    pub repair: String,
    /// Whether most findings come with a fix that can be applied as it is.
    pub fixable: bool,
    /// Whether what can be done is for a person to choose in an editor: there are several ways, or
    /// it is more than an edit of the text.
    #[serde(default)]
    pub choosable: bool,
    /// The agents that it is about; all of them when there are none.
    pub agents: Vec<String>,
    /// Where all of this is known from.
    pub sources: Vec<RuleReference>,
    /// The version of the program that brought it.
    pub since: String,
    /// A text in which it finds something, or what it is like; what cannot be seen is spelled out.
    pub failing: String,
    /// The same, well.
    pub passing: String,
    /// All of it as Markdown, without a heading.
    pub markdown: String,
}

/// Where something is known from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleReference {
    /// What it is called.
    pub title: String,
    /// Where it is; null where it has no address.
    pub address: Option<String>,
    /// Which version of it.
    pub version: String,
}
