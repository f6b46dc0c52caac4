//! opencode's permission rules: the last matching rule counts; without one the skill is allowed.
//!
//! A subagent's own rules follow the general ones, so they take precedence for it.

use super::{Action, Author, Decision, DecisionReason, Rule, SkillRequest, wildcard};

pub(super) fn decide<'a>(
    author: Author,
    rules: &'a [Rule],
    request: &SkillRequest<'_>,
) -> Decision<'a> {
    let found = in_order(author, rules, request.agent)
        .rev()
        .find(|it| wildcard::matches(&it.pattern, request.name));
    match found {
        Some(rule) => Decision::by(rule.action, DecisionReason::Rule(rule)),
        None => Decision::by(Action::Allow, DecisionReason::NoRule),
    }
}

/// Measured in the source: the tool is not offered if the last rule denies exactly `*`; `**` denies
/// every skill but keeps the tool.
pub(super) fn tool_denial<'a>(
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> Option<&'a Rule> {
    in_order(author, rules, agent)
        .next_back()
        .filter(|it| it.action == Action::Deny && &*it.pattern == "*")
}

/// Patterns that an "always" answer allows: the name only.
pub(super) fn suggestions(name: &str) -> Vec<Box<str>> {
    vec![name.into()]
}

/// Returns the general rules followed by those of the subagent.
fn in_order<'a>(
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> impl DoubleEndedIterator<Item = &'a Rule> {
    let theirs = move || rules.iter().filter(move |it| it.author == author);
    let own = move |it: &&Rule| it.agent.is_some() && it.agent.as_deref() == agent;
    theirs().filter(|it| it.agent.is_none()).chain(theirs().filter(own))
}
