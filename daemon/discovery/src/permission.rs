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
mod decision;
mod opencode;
mod properties;
mod restrictions;
mod rule;
mod shell;
pub(crate) mod wildcard;

use skills_agents::profile::{Profile, SettingsItem};

pub use claude_code::is_canonical;
pub use decision::{Decision, DecisionReason, SkillRequest};
pub use properties::Properties;
pub use restrictions::{Restrictions, Switch};
pub use rule::{
    Action, Author, MAX_PATTERN_BYTES, MAX_RULES, Rule, SkillRule, SkillRules, SourceLocation,
};
pub use shell::{SHELL_TOOL, shell_rule};
pub(crate) use wildcard::names_tool;

/// Method of choosing between several matching rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulePrecedence {
    /// The last match counts, as in opencode; a skill without a match is allowed.
    LastMatch,
    /// Deny, then ask, then allow, as in Claude Code; a skill without a match needs approval unless
    /// it is harmless.
    DenyFirst,
}

impl RulePrecedence {
    /// Returns the method of an agent, which follows from the syntax of its rules. An agent without
    /// rules allows everything.
    pub fn from_profile(profile: &Profile) -> Self {
        let lists =
            profile.settings.iter().any(|it| it.reads.contains(&SettingsItem::PermissionLists));
        if lists { Self::DenyFirst } else { Self::LastMatch }
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
    for author in [Author::Repository, Author::BrokenRepositoryFile, Author::OverLimit] {
        if let Some(rule) = last_of(author, rules, request.name)
            && rule.action > decision.action
        {
            decision = Decision::by(rule.action, DecisionReason::Rule(rule));
        }
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
