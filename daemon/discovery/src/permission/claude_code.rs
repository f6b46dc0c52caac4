//! Claude Code's permission rules: deny before ask before allow. Without a matching rule, a
//! harmless skill is allowed and any other needs approval.
//!
//! `name:*` and `name *` match by prefix. The agent does not define a star elsewhere; it is a
//! wildcard in rules that ask or deny, and makes a rule that allows match nothing.

use super::{Action, Author, Decision, DecisionReason, Properties, Rule, SkillRequest, wildcard};

/// Prefix of the names of skills that the agent fetches from its vendor. They grant nothing here:
/// no source of skillsd is the vendor's.
const CANONICAL: &str = "_canonical_";

/// Returns true if the agent gives this kind of name to skills that it fetched itself.
pub fn is_canonical(name: &str) -> bool {
    name.starts_with(CANONICAL)
}

pub(super) fn decide<'a>(rules: &'a [Rule], request: &SkillRequest<'_>) -> Decision<'a> {
    let name = plain(request.name);
    let find = |action| blanket_rules(rules, action).find(|it| matches(it, name));
    for action in [Action::Deny, Action::Ask, Action::Allow] {
        if let Some(rule) = find(action) {
            return Decision::by(action, DecisionReason::Rule(rule));
        }
    }
    match request.properties {
        Properties::Safe => Decision::by(Action::Allow, DecisionReason::Harmless),
        Properties::Asks(key) => {
            Decision::by(Action::Ask, DecisionReason::Concern(Some(key.clone())))
        }
        Properties::Unknown => Decision::by(Action::Ask, DecisionReason::Concern(None)),
    }
}

/// Documented: denying the bare tool name disables the tool.
pub(super) fn tool_denial(rules: &[Rule]) -> Option<&Rule> {
    blanket_rules(rules, Action::Deny).find(|it| &*it.pattern == "*")
}

/// Patterns that an "always" answer may allow: this skill, or all skills with this prefix.
pub(super) fn suggestions(name: &str) -> Vec<Box<str>> {
    let name = plain(name);
    vec![name.into(), format!("{name}:*").into()]
}

/// The agent has no rules for subagents.
fn blanket_rules(rules: &[Rule], action: Action) -> impl Iterator<Item = &Rule> {
    let theirs = rules.iter().filter(|it| it.author == Author::Agent && it.agent.is_none());
    theirs.filter(move |it| it.action == action)
}

/// Returns a name without surrounding spaces and the leading slash.
fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('/').map_or(name, str::trim_start)
}

/// Returns true if an allow rule with this pattern would allow the skill.
pub(super) fn is_allowed_by(pattern: &str, name: &str) -> bool {
    matches_as(pattern, Action::Allow, plain(name))
}

fn matches(rule: &Rule, name: &str) -> bool {
    matches_as(&rule.pattern, rule.action, name)
}

fn matches_as(pattern: &str, action: Action, name: &str) -> bool {
    let pattern = plain(pattern);
    if pattern == "*" || pattern == name {
        return true;
    }
    if let Some(prefix) = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"))
        && !prefix.contains('*')
    {
        return name.starts_with(prefix);
    }
    if pattern.contains('*') {
        return action != Action::Allow && wildcard::matches(pattern, name);
    }
    // Documented: denying a bare name also denies `dir:name`.
    action == Action::Deny && name.strip_suffix(pattern).is_some_and(|before| before.ends_with(':'))
}
