//! The row of Windsurf, from its documentation.

use crate::profile::row::{all_provided, documented, one_level, present, root};
use crate::profile::{AncestorStop, Profile, RootBase, Scope};

/// Windsurf: the directories are documented. Skills below `.claude` need a setting of the user, and
/// are not listed.
pub(super) fn profile() -> Profile {
    let walk = one_level();
    let project = RootBase::Ancestors { stop: AncestorStop::Worktree };
    let roots = [
        root(project, &[".windsurf/skills", ".agents/skills"], Scope::Project, &walk),
        root(RootBase::Home, &[".codeium/windsurf/skills", ".agents/skills"], Scope::User, &walk),
        // The documentation names it last, and says nothing on precedence.
        root(RootBase::Absolute("/etc/windsurf".into()), &["skills"], Scope::Managed, &walk),
    ];
    Profile {
        own: ".windsurf/skills".into(),
        presence: Some(present(("HOME", "", ".codeium/windsurf"), "windsurf", &[".windsurf"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        ..documented(
            "windsurf",
            "Windsurf",
            &["https://docs.windsurf.com/windsurf/cascade/skills"],
            super::agentskills(),
        )
    }
}
