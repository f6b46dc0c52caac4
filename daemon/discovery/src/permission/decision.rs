//! The skill to decide about, and the decision with its reason.

use super::properties::Properties;
use super::rule::{Action, Rule};

/// The skill to decide about.
#[derive(Clone, Copy, Debug)]
pub struct SkillRequest<'a> {
    /// Name of the skill as the agent knows it.
    pub name: &'a str,
    /// The subagent that uses it.
    pub agent: Option<&'a str>,
    /// Assessment of its frontmatter.
    pub properties: &'a Properties,
}

/// Result of [`decide`](super::decide).
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// The action to take.
    pub action: Action,
    /// The reason.
    pub reason: DecisionReason<'a>,
    /// For `Ask`: patterns that an "always" answer may allow, the narrowest first.
    pub suggestions: Vec<Box<str>>,
}

/// Reason for a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionReason<'a> {
    /// A matching rule.
    Rule(&'a Rule),
    /// A rule that disables the skill tool as a whole.
    ToolDisabled(&'a Rule),
    /// No rule matches, and the frontmatter is harmless.
    Harmless,
    /// No rule matches, and the frontmatter has this key; `None` if it cannot be parsed.
    Concern(Option<Box<str>>),
    /// No rule matches, and the agent allows skills by default.
    NoRule,
}

impl<'a> Decision<'a> {
    /// Returns the rule that decided, with its position.
    pub fn rule(&self) -> Option<&'a Rule> {
        match self.reason {
            DecisionReason::Rule(rule) | DecisionReason::ToolDisabled(rule) => Some(rule),
            DecisionReason::Harmless | DecisionReason::Concern(_) | DecisionReason::NoRule => None,
        }
    }

    pub(super) fn by(action: Action, reason: DecisionReason<'a>) -> Self {
        Self { action, reason, suggestions: Vec::new() }
    }
}
