//! The row of Kiro, from its documentation.

use crate::profile::row::{all_provided, documented, one_level, present, root};
use crate::profile::{AncestorStop, Profile, RootBase, Scope};

/// Kiro: the directories are documented, and that the workspace's skill wins over the user's.
pub(super) fn profile() -> Profile {
    let walk = one_level();
    let workspace = RootBase::Ancestors { stop: AncestorStop::Worktree };
    let roots = [
        root(workspace, &[".kiro/skills"], Scope::Project, &walk),
        root(RootBase::Home, &[".kiro/skills"], Scope::User, &walk),
    ];
    Profile {
        own: ".kiro/skills".into(),
        presence: Some(present(("HOME", "", ".kiro"), "kiro", &[".kiro"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        ..documented("kiro", "Kiro", &["https://kiro.dev/docs/skills"], super::agentskills())
    }
}
