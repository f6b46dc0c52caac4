//! The row of Cursor, from its documentation.

use crate::profile::row::{all_provided, documented, one_level, present, root};
use crate::profile::{AncestorStop, Profile, RootBase, Scope};

const SHARED: [&str; 4] = [".agents/skills", ".cursor/skills", ".claude/skills", ".codex/skills"];

/// Cursor: the directories with their scopes, and `disable-model-invocation`, are documented. The
/// precedence is not; the order is that of the documentation.
pub(super) fn profile() -> Profile {
    let walk = one_level();
    let project = RootBase::Ancestors { stop: AncestorStop::Worktree };
    let roots = [
        root(project, &SHARED, Scope::Project, &walk),
        root(RootBase::Home, &SHARED, Scope::User, &walk),
    ];
    Profile {
        own: ".cursor/skills".into(),
        presence: Some(present(("HOME", "", ".cursor"), "cursor", &[".cursor"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        hides_from_model: true,
        ..documented(
            "cursor",
            "Cursor",
            &["https://cursor.com/docs/context/skills"],
            super::agentskills(),
        )
    }
}
