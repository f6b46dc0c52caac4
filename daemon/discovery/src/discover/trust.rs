//! Trust: what the user has said about directories, and what waits until it is given.
//!
//! What comes with a worktree is trusted where the user has said so of it or of a directory above
//! it. An agent that asks for trust, or a configuration that does, takes nothing from a project
//! before; for all others trust is a flag, which running things asks for.
//!
//! Who wins a name is settled before, as if the project were trusted: its skills are named for
//! what they would be, and nothing moves up into a name that trust would take away again.

use std::collections::BTreeMap;

use skills_agents::profile::TrustRule;
use skills_syntax::path::AbsPath;

use super::owner::Owners;
use super::settings::Settings;
use super::{Candidate, DiscoveryContext, Policy, Reason, RootOutcome, SearchRoot, SkillState};

/// What the user has said about directories, by their canonical paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustDecisions(BTreeMap<AbsPath, bool>);

impl TrustDecisions {
    /// Returns what was said about these directories.
    pub fn new(decisions: impl IntoIterator<Item = (AbsPath, bool)>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// Returns what holds for a path, and the directory of which it was said: the nearest one above
    /// it. None where nothing was said.
    pub fn decision(&self, path: &AbsPath) -> Option<(&AbsPath, bool)> {
        path.ancestors().find_map(|it| self.0.get_key_value(&it)).map(|(dir, it)| (dir, *it))
    }

    /// Returns all that was said, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&AbsPath, bool)> {
        self.0.iter().map(|(dir, it)| (dir, *it))
    }
}

/// Marks the roots that need trust with the place that it is given to and what the user has said of
/// that place.
pub(super) fn mark(owners: &Owners<'_>, roots: &mut [SearchRoot]) {
    for root in roots.iter_mut().filter(|it| !it.is_own() && it.outcome == RootOutcome::Walked) {
        let path = root.trust_path.take().unwrap_or_else(|| owners.trust_path(&root.path));
        root.trust_decision = owners.trust_decision(&path);
        root.trust_path = Some(path);
    }
}

/// Holds back what comes with a worktree that is not trusted, where the agent or the user asks for
/// trust. `settings` is what the agent's own files say.
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
            // An agent may set the variable; it does not count where the user requires trust.
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
            Some(_) => "the user has said not to trust where it lies".to_owned(),
            None if by_agent => {
                let says = match (refused, &settings.trust_file) {
                    (None, Some(file)) => format!(", and `{}` does not name it", file.display()),
                    _ => String::new(),
                };
                format!("{agent} takes a project's skills only where its folder is trusted{says}")
            }
            None => "`require_trust` takes a project's skills only where it is trusted".to_owned(),
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

/// Returns whether a variable says yes.
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
