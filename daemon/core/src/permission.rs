//! Permission: rules as agents' configuration files state them, and what follows from them.
//!
//! A rule is a statement with its place. Which of several counts differs from agent to agent;
//! [`decide`] is the one answer for all, and names the rule that it comes from. Nobody is asked
//! here, and nothing is remembered.

mod claude_code;
mod opencode;
mod properties;
pub(crate) mod wildcard;

use crate::path::AbsPath;
use crate::profile::{Profile, Reads};
use crate::skill::Spot;

pub use properties::Properties;

/// One rule about skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The agent inside the agent whose rule it is; none for a rule that holds for all.
    pub agent: Option<Box<str>>,
    /// Which skills it is about: a name, or a pattern in the agent's own form.
    pub pattern: Box<str>,
    /// What it says.
    pub action: Action,
    /// Where it stands.
    pub source: Source,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The skill may be used.
    Allow,
    /// The user is asked.
    Ask,
    /// The skill may not be used.
    Deny,
}

impl Action {
    /// Returns the action of that name.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|it| it.name() == word)
    }

    /// Returns the word for it, in configuration files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub file: AbsPath,
    /// Where in it.
    pub at: Spot,
}

/// Which of several rules counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The last that matches, as in opencode; without one the skill is allowed.
    LastMatch,
    /// Deny, then allow, then ask, as in Claude Code; without one a skill is asked for unless it
    /// can do no harm.
    DenyFirst,
}

impl Regime {
    /// Returns the regime of an agent: it follows from how its files write rules. One without
    /// rules denies nothing and asks nobody.
    pub fn of(profile: &Profile) -> Self {
        let lists = profile.settings.iter().any(|it| it.reads.contains(&Reads::PermissionLists));
        if lists { Self::DenyFirst } else { Self::LastMatch }
    }
}

/// Which skill is wanted, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The skill's name, as the agent calls it.
    pub name: &'a str,
    /// The agent inside the agent.
    pub agent: Option<&'a str>,
    /// Whether the skill was fetched from elsewhere.
    pub is_remote: bool,
    /// What its frontmatter amounts to.
    pub properties: &'a Properties,
}

/// What follows from the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// What is to be done.
    pub action: Action,
    /// Why.
    pub reason: Reason<'a>,
    /// Where the user is asked: the patterns that an "always" may allow, narrowest first.
    pub suggestions: Vec<Box<str>>,
}

/// Why it is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason<'a> {
    /// This rule says so.
    Rule(&'a Rule),
    /// This rule takes the whole tool for skills away.
    ToolOff(&'a Rule),
    /// The agent fetched the skill itself, under a name of its own making.
    Canonical,
    /// No rule matches, and nothing in the skill can do harm.
    Harmless,
    /// No rule matches, and the skill has this key; none where its frontmatter is not known.
    Concern(Option<Box<str>>),
    /// No rule matches, and the agent asks nobody.
    NoRule,
}

impl<'a> Decision<'a> {
    /// Returns the rule that decided; with its source it says which line to change.
    pub fn rule(&self) -> Option<&'a Rule> {
        match self.reason {
            Reason::Rule(rule) | Reason::ToolOff(rule) => Some(rule),
            Reason::Canonical | Reason::Harmless | Reason::Concern(_) | Reason::NoRule => None,
        }
    }

    fn by(action: Action, reason: Reason<'a>) -> Self {
        Self { action, reason, suggestions: Vec::new() }
    }
}

/// Decides whether a skill may be used.
///
/// `rules` are those of one view, in the agent's order.
pub fn decide<'a>(regime: Regime, rules: &'a [Rule], request: &Request<'_>) -> Decision<'a> {
    if let Some(rule) = tool_off(regime, rules, request.agent) {
        return Decision::by(Action::Deny, Reason::ToolOff(rule));
    }
    let mut decision = match regime {
        Regime::LastMatch => opencode::decide(rules, request),
        Regime::DenyFirst => claude_code::decide(rules, request),
    };
    // A name that is no plain text would be a pattern, and allow more than was asked for.
    let is_plain = !request.name.trim().is_empty() && !request.name.contains(['*', '?']);
    if decision.action == Action::Ask && is_plain {
        decision.suggestions = match regime {
            Regime::LastMatch => opencode::suggestions(request.name),
            Regime::DenyFirst => claude_code::suggestions(request.name),
        };
    }
    decision
}

/// Returns the rule that takes the whole tool for skills away from the agent of that name.
pub fn tool_off<'a>(regime: Regime, rules: &'a [Rule], agent: Option<&str>) -> Option<&'a Rule> {
    match regime {
        Regime::LastMatch => opencode::tool_off(rules, agent),
        Regime::DenyFirst => claude_code::tool_off(rules),
    }
}

#[cfg(test)]
mod tests;
