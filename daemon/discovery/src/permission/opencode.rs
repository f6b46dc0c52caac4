//! opencode: of all rules that match, the last one counts; where none does, the skill is allowed.
//!
//! An agent's own rules stand behind those for all, so that they are the last word for it.

use super::{Action, Author, Decision, Reason, Request, Rule, wildcard};

pub(super) fn decide<'a>(author: Author, rules: &'a [Rule], request: &Request<'_>) -> Decision<'a> {
    let found = in_order(author, rules, request.agent)
        .rev()
        .find(|it| wildcard::matches(&it.pattern, request.name));
    match found {
        Some(rule) => Decision::by(rule.action, Reason::Rule(rule)),
        None => Decision::by(Action::Allow, Reason::NoRule),
    }
}

/// Source: the tool is not offered when the last of all its rules denies everything, in just
/// this form; a `**` denies as much and leaves the tool.
pub(super) fn tool_off<'a>(
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> Option<&'a Rule> {
    in_order(author, rules, agent)
        .next_back()
        .filter(|it| it.action == Action::Deny && &*it.pattern == "*")
}

/// What an "always" allows: the name alone.
pub(super) fn suggestions(name: &str) -> Vec<Box<str>> {
    vec![name.into()]
}

/// Returns the rules for all, then those of the agent, whatever their order in the list.
fn in_order<'a>(
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> impl DoubleEndedIterator<Item = &'a Rule> {
    let theirs = move || rules.iter().filter(move |it| it.author == author);
    let own = move |it: &&Rule| it.agent.is_some() && it.agent.as_deref() == agent;
    theirs().filter(|it| it.agent.is_none()).chain(theirs().filter(own))
}
