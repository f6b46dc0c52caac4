//! Permissions: the rules in agents' settings files, and the decision for one skill.
//!
//! Agents differ in which of several rules counts; [`decide`] implements all of them and names the
//! rule that decides. This module never asks the user; earlier approvals are patterns for
//! [`is_granted`].
//!
//! Rules have three authors. An agent's own files are evaluated as that agent does. The user's
//! skillsd configuration comes before them, but cannot allow what they deny. A repository's
//! `.skillsd.toml` can only make the outcome stricter.

mod claude_code;
mod opencode;
mod properties;
pub(crate) mod wildcard;

use skills_agents::profile::{Profile, SettingsItem};
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

pub use claude_code::is_canonical;
pub use properties::Properties;

/// Maximum number of rules about skills per file.
pub const RULES: usize = 1000;

/// Maximum length of a rule's pattern, in bytes.
pub const PATTERN_BYTES: usize = 1024;

/// One rule about skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Author of the rule.
    pub author: Author,
    /// The subagent that the rule applies to; `None` for a rule that applies to all.
    pub agent: Option<Box<str>>,
    /// A skill name, or a pattern in the agent's syntax.
    pub pattern: Box<str>,
    /// Action of the rule.
    pub action: Action,
    /// Position of the rule.
    pub source: SourceLocation,
}

/// Author of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A settings file of the agent.
    Agent,
    /// The agent's files merged with files of a repository that is not trusted. Such rules only
    /// make the outcome stricter.
    AgentUntrusted,
    /// The user's skillsd configuration.
    User,
    /// A worktree's `.skillsd.toml`.
    Repository,
}

/// Action of a rule, from the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The skill may be used.
    Allow,
    /// The user is asked.
    Ask,
    /// The skill may not be used.
    Deny,
}

impl Action {
    /// Returns the action with this name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|it| it.name() == word)
    }

    /// Returns the name used in configuration files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Position in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub file: AbsPath,
    /// Line and column.
    pub at: LineColumn,
}

/// A rule about skills as written in a skillsd configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRule {
    /// Pattern of the skill names it applies to.
    pub pattern: String,
    /// Action for these names.
    pub action: Action,
    /// Position in the file.
    pub at: LineColumn,
}

/// Method of choosing between several matching rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePrecedence {
    /// The last match counts, as in opencode; a skill without a match is allowed.
    LastMatch,
    /// Deny, then allow, then ask, as in Claude Code; a skill without a match needs approval unless
    /// it is harmless.
    DenyFirst,
}

impl RulePrecedence {
    /// Returns the method of an agent, which follows from the syntax of its rules. An agent without
    /// rules allows everything.
    pub fn of(profile: &Profile) -> Self {
        let lists =
            profile.settings.iter().any(|it| it.reads.contains(&SettingsItem::PermissionLists));
        if lists { Self::DenyFirst } else { Self::LastMatch }
    }
}

/// The skill to decide about.
#[derive(Clone, Copy, Debug)]
pub struct SkillRequest<'a> {
    /// Name of the skill as the agent knows it.
    pub name: &'a str,
    /// The subagent that uses it.
    pub agent: Option<&'a str>,
    /// True if the skill was fetched from a registry.
    pub is_remote: bool,
    /// Assessment of its frontmatter.
    pub properties: &'a Properties,
}

/// Result of [`decide`].
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
    /// The agent fetched the skill itself and chose its name.
    Canonical,
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
            DecisionReason::Canonical
            | DecisionReason::Harmless
            | DecisionReason::Concern(_)
            | DecisionReason::NoRule => None,
        }
    }

    fn by(action: Action, reason: DecisionReason<'a>) -> Self {
        Self { action, reason, suggestions: Vec::new() }
    }
}

/// Decides whether a skill may be used.
///
/// `rules` are the rules of one view, in the agent's order.
pub fn decide<'a>(
    precedence: RulePrecedence,
    rules: &'a [Rule],
    request: &SkillRequest<'_>,
) -> Decision<'a> {
    let mut decision = by_agent(precedence, Author::Agent, rules, request);
    if rules.iter().any(|it| it.author == Author::AgentUntrusted) {
        let all = by_agent(precedence, Author::AgentUntrusted, rules, request);
        if all.action > decision.action {
            decision = all;
        }
    }
    if decision.action != Action::Deny
        && let Some(rule) = last_of(Author::User, rules, request.name)
    {
        decision = Decision::by(rule.action, DecisionReason::Rule(rule));
    }
    if let Some(rule) = last_of(Author::Repository, rules, request.name)
        && rule.action > decision.action
    {
        decision = Decision::by(rule.action, DecisionReason::Rule(rule));
    }
    // A name with wildcard characters would be a pattern that allows other skills too.
    let is_plain = !request.name.trim().is_empty() && !request.name.contains(['*', '?']);
    if decision.action == Action::Ask && is_plain {
        decision.suggestions = match precedence {
            RulePrecedence::LastMatch => opencode::suggestions(request.name),
            RulePrecedence::DenyFirst => claude_code::suggestions(request.name),
        };
    }
    decision
}

/// Applies the agent's own rules.
fn by_agent<'a>(
    precedence: RulePrecedence,
    author: Author,
    rules: &'a [Rule],
    request: &SkillRequest<'_>,
) -> Decision<'a> {
    if let Some(rule) = tool_denial(precedence, author, rules, request.agent) {
        return Decision::by(Action::Deny, DecisionReason::ToolDisabled(rule));
    }
    match precedence {
        RulePrecedence::LastMatch => opencode::decide(author, rules, request),
        RulePrecedence::DenyFirst => claude_code::decide(rules, request),
    }
}

/// Returns the last matching rule of an author.
fn last_of<'a>(author: Author, rules: &'a [Rule], name: &str) -> Option<&'a Rule> {
    let mut own = rules.iter().rev().filter(|it| it.author == author);
    own.find(|it| wildcard::matches(&it.pattern, name))
}

/// Returns true if a pattern that the user always allows matches the skill, in the agent's pattern
/// syntax.
pub fn is_granted<'a>(
    precedence: RulePrecedence,
    patterns: impl IntoIterator<Item = &'a str>,
    name: &str,
) -> bool {
    patterns.into_iter().any(|pattern| match precedence {
        RulePrecedence::LastMatch => wildcard::matches(pattern, name),
        RulePrecedence::DenyFirst => claude_code::is_allowed_by(pattern, name),
    })
}

/// Returns true if a pattern may match a skill in any agent's syntax. Use it for explanations,
/// never for decisions.
pub fn may_match(pattern: &str, name: &str) -> bool {
    let bare = name.rsplit(':').next().unwrap_or(name);
    [name, bare].into_iter().any(|name| {
        wildcard::matches(pattern, name)
            || claude_code::is_allowed_by(pattern, name)
            || pattern.to_lowercase() == name.to_lowercase()
    })
}

/// Returns true if a pattern with the wildcards `*` and `?` matches a text.
pub fn matches_wildcard(pattern: &str, text: &str) -> bool {
    wildcard::matches(pattern, text)
}

/// Returns this author's rule that disables the skill tool for a subagent, or for all if `agent` is
/// `None`.
pub fn tool_denial<'a>(
    precedence: RulePrecedence,
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> Option<&'a Rule> {
    match precedence {
        RulePrecedence::LastMatch => opencode::tool_denial(author, rules, agent),
        RulePrecedence::DenyFirst => claude_code::tool_denial(rules),
    }
}

#[cfg(test)]
mod tests;
