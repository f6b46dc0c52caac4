//! Permission rules as agents' configuration files state them.
//!
//! A rule is a statement with its place; which of several counts differs from agent to agent
//! and is not decided here.

use crate::path::AbsPath;
use crate::skill::Spot;

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
