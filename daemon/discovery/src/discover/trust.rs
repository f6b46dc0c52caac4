//! Trust: the user's decisions about directories, and the skills held back without trust.
//!
//! A decision applies to a directory and everything below it. If the agent or the configuration
//! requires trust, skills of an untrusted project are held back. Otherwise trust is only a flag
//! that is required for running things.
//!
//! Runs after name conflicts are resolved, as if the project were trusted, so that giving or
//! revoking trust does not change which skill has a name.

use std::collections::BTreeMap;

use skills_agents::profile::TrustRule;
use skills_syntax::path::AbsPath;

use super::owner::Owners;
use super::settings::Settings;
use super::{Candidate, DiscoveryContext, Policy, Reason, RootOutcome, SearchRoot, SkillState};

/// The user's trust decisions by canonical path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustDecisions(BTreeMap<AbsPath, bool>);

impl TrustDecisions {
    /// Creates the table from decisions.
    pub fn new(decisions: impl IntoIterator<Item = (AbsPath, bool)>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// Returns the decision for a path and the directory it was made for: the nearest ancestor with
    /// a decision. `None` if no decision applies.
    pub fn decision(&self, path: &AbsPath) -> Option<(&AbsPath, bool)> {
        path.ancestors().find_map(|it| self.0.get_key_value(&it)).map(|(dir, it)| (dir, *it))
    }

    /// Returns all decisions, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&AbsPath, bool)> {
        self.0.iter().map(|(dir, it)| (dir, *it))
    }
}

/// Sets `trust_path` and `trust_decision` of the roots that need trust.
pub(super) fn mark(owners: &Owners<'_>, roots: &mut [SearchRoot]) {
    for root in roots.iter_mut().filter(|it| !it.is_own() && it.outcome == RootOutcome::Walked) {
        let path = root.trust_path.take().unwrap_or_else(|| owners.trust_path(&root.path));
        root.trust_decision = owners.trust_decision(&path);
        root.trust_path = Some(path);
    }
}

/// Marks skills of untrusted roots as untrusted if the agent or the user requires trust. `settings`
/// are the agent's own settings.
pub(super) fn hold_back(
    ctx: &DiscoveryContext,
    policy: &Policy,
    settings: &Settings,
    roots: &mut [SearchRoot],
    candidates: &mut [Candidate],
) {
    let (agent, said) = (ctx.profile.subject(), settings.trusted.as_ref());
    let (by_agent, is_given, variable) = match &ctx.profile.trust {
        TrustRule::Needed { variables } => {
            // An agent may set the variable, so it is ignored if the user requires trust.
            let variables = if policy.requires_trust { &[][..] } else { variables };
            let is_given =
                variables.iter().any(|it| is_on(ctx, it)) || matches!(said, Some((true, _)));
            (true, is_given, variables.first())
        }
        TrustRule::NotAsked => (false, false, None),
    };
    if !(by_agent || policy.requires_trust) {
        return;
    }
    let refused = said.filter(|_| by_agent).map(|(_, source)| source);
    let command = "run `skillsd trust` in it";
    let next = match variable {
        Some(variable) => {
            format!("Trust the folder in {agent}, set `{variable}` to `true`, or {command}.")
        }
        None if by_agent => format!("To trust the project, {command}."),
        None => format!("To trust the worktree, {command}."),
    };
    for root in roots.iter_mut().filter(|it| !it.is_own()) {
        root.is_held_back = !root.trust_decision.unwrap_or(is_given);
    }
    for candidate in candidates {
        let root = &roots[candidate.root];
        let waits = candidate.state.is_listed()
            || matches!(candidate.state, SkillState::Conditional | SkillState::Hidden);
        if !waits || !root.is_held_back {
            continue;
        }
        let message = match root.trust_decision {
            Some(_) => "you have decided not to trust its directory".to_owned(),
            None if by_agent => {
                let says = match (refused, &settings.trust_file) {
                    (None, Some(file)) => format!(", and `{}` does not list it", file.display()),
                    _ => String::new(),
                };
                format!("{agent} loads a project's skills only from a trusted folder{says}")
            }
            None => {
                "`require_trust` allows a project's skills only in a trusted directory".to_owned()
            }
        };
        candidate.state = SkillState::Untrusted;
        candidate.reason = Some(Box::new(Reason {
            rule: "project/trusted",
            message,
            at: refused.map(|it| it.at),
            file: refused.map(|it| it.file.clone()),
            next: next.clone(),
            winner: None,
        }));
    }
}

/// Returns true if a variable is set to `1` or `true`.
pub(super) fn is_on(ctx: &DiscoveryContext, variable: &str) -> bool {
    let value = ctx.environment.get(variable);
    value.is_some_and(|it| it == "1" || it.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text.as_ref()).unwrap()
    }

    #[test]
    fn nearest_trust_decision_applies() {
        let trusts = TrustDecisions::new([(path("/w"), true), (path("/w/vendor"), false)]);
        let decision = |text: &str| trusts.decision(&path(text)).map(|it| it.1);
        assert_eq!(decision("/w/.claude/skills"), Some(true));
        assert_eq!(decision("/w/vendor/x"), Some(false));
        assert_eq!(decision("/worktree"), None, "a name is not a path");
        assert_eq!(decision("/"), None);
    }
}
