//! Claude Code: what is denied stays denied, then what is allowed, then what has to be asked;
//! where no rule matches, a skill that can do no harm is allowed and any other is asked for.
//!
//! `name:*` and `name *` are prefixes of the name. A star anywhere else is not known to the
//! agent; it is taken as a wildcard where that makes a rule stricter, and allows nothing.

use super::{Action, Author, Decision, Properties, Reason, Request, Rule, wildcard};

/// How the agent names skills that it fetched itself.
const CANONICAL: &str = "_canonical_";

/// Whether a name is one that the agent gives to what it has fetched itself.
pub fn is_canonical(name: &str) -> bool {
    name.starts_with(CANONICAL)
}

pub(super) fn decide<'a>(rules: &'a [Rule], request: &Request<'_>) -> Decision<'a> {
    let name = plain(request.name);
    let find = |action| of_all(rules, action).find(|it| matches(it, name));
    if let Some(rule) = find(Action::Deny) {
        return Decision::by(Action::Deny, Reason::Rule(rule));
    }
    // A local skill of such a name has named itself.
    if request.is_remote && is_canonical(name) {
        return Decision::by(Action::Allow, Reason::Canonical);
    }
    for action in [Action::Allow, Action::Ask] {
        if let Some(rule) = find(action) {
            return Decision::by(action, Reason::Rule(rule));
        }
    }
    match request.properties {
        Properties::Safe => Decision::by(Action::Allow, Reason::Harmless),
        Properties::Asks(key) => Decision::by(Action::Ask, Reason::Concern(Some(key.clone()))),
        Properties::Unknown => Decision::by(Action::Ask, Reason::Concern(None)),
    }
}

/// Documentation: the bare tool among the denied takes the tool away.
pub(super) fn tool_off(rules: &[Rule]) -> Option<&Rule> {
    of_all(rules, Action::Deny).find(|it| &*it.pattern == "*")
}

/// What an "always" may allow: this skill, or all whose names begin so.
pub(super) fn suggestions(name: &str) -> Vec<Box<str>> {
    let name = plain(name);
    vec![name.into(), format!("{name} *").into()]
}

/// The agent knows no rules of agents inside it.
fn of_all(rules: &[Rule], action: Action) -> impl Iterator<Item = &Rule> {
    let theirs = rules.iter().filter(|it| it.author == Author::Agent && it.agent.is_none());
    theirs.filter(move |it| it.action == action)
}

/// Returns a name without what people write before and behind it.
fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix('/').map_or(name, str::trim_start)
}

/// Whether an allow rule of this pattern would allow the skill.
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
    // Documentation: what is denied by its bare name is denied as `dir:name` as well.
    action == Action::Deny && name.strip_suffix(pattern).is_some_and(|before| before.ends_with(':'))
}
