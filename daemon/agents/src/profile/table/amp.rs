//! The row of Amp, from descriptions of it.

use crate::profile::row::{all_provided, documented, one_level, present, root};
use crate::profile::{AncestorStop, Profile, RootBase, Scope};

/// Amp: the directories and their precedence are described; the skills of its plugin cache, its
/// toolboxes and its settings are not listed.
pub(super) fn profile() -> Profile {
    let walk = one_level();
    let project = || RootBase::Ancestors { stop: AncestorStop::Worktree };
    let roots = [
        root(project(), &[".agents/skills"], Scope::Project, &walk),
        root(RootBase::Home, &[".config/agents/skills", ".config/amp/skills"], Scope::User, &walk),
        root(project(), &[".claude/skills"], Scope::Project, &walk),
        root(RootBase::Home, &[".claude/skills"], Scope::User, &walk),
    ];
    Profile {
        // An editor has a program and a directory of the same name.
        presence: Some(present(("HOME", "", ".config/amp/settings.json"), "", &[".amp"])),
        roots: roots.into_iter().chain(all_provided()).collect(),
        ..documented(
            "amp",
            "Amp",
            &[
                "https://decodeclaude.com/amp-code-spec/enhancements/16-skills/",
                "https://syllago.dev/using-syllago/providers/amp/skills/",
            ],
            super::agentskills(),
        )
    }
}
