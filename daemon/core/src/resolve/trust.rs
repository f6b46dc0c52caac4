//! Trust: an agent that asks for it takes nothing from a project before the user gives it.
//!
//! Who wins a name is settled before, as if the project were trusted: its skills are named for
//! what they would be, and nothing moves up into a name that trust would take away again.

use super::{Candidate, Reason, Root, Site, State};
use crate::permission::Source;
use crate::profile::Trust;

/// Holds back what comes with a worktree that is not trusted. `said` is what the agent's own
/// files say of the working directory.
pub(super) fn hold_back(
    site: &Site,
    said: Option<&(bool, Source)>,
    roots: &[Root],
    candidates: &mut [Candidate],
) {
    let Trust::Needed { variables } = &site.profile.trust else { return };
    if variables.iter().any(|it| is_on(site, it)) || matches!(said, Some((true, _))) {
        return;
    }
    let refused = said.map(|(_, source)| source);
    let agent = site.profile.subject();
    let next = match variables.first() {
        Some(variable) => format!("Trust the folder in {agent}, or set `{variable}` to `true`."),
        None => "Trust the project, or set `requires_trust` to `false`.".to_owned(),
    };
    for candidate in candidates {
        let waits = candidate.state.is_listed() || candidate.state == State::Conditional;
        if waits && !roots[candidate.root].own {
            candidate.state = State::Untrusted;
            candidate.reason = Some(Reason {
                rule: "project/trusted",
                message: format!(
                    "{agent} takes a project's skills only where its folder is trusted"
                ),
                at: refused.map(|it| it.at),
                file: refused.map(|it| it.file.clone()),
                next: next.clone(),
                winner: None,
            });
        }
    }
}

/// Returns whether a variable says yes.
pub(super) fn is_on(site: &Site, variable: &str) -> bool {
    let value = site.environment.get(variable);
    value.is_some_and(|it| it == "1" || it.eq_ignore_ascii_case("true"))
}
