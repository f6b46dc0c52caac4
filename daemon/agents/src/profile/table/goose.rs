//! The row of goose, from its documentation.

use crate::profile::row::{documented, one_level, present, provided, root};
use crate::profile::{AncestorStop, DuplicatePolicy, Profile, Provider, RootBase, Scope};

/// goose: the directories are documented, and that a later one takes priority. Skills of its
/// plugins are not listed.
pub(super) fn profile() -> Profile {
    let walk = one_level();
    let project = RootBase::Ancestors { stop: AncestorStop::Cwd };
    Profile {
        // A tool for database migrations has a program of the same name.
        presence: Some(present(("HOME", "", ".config/goose"), "", &[".goose"])),
        roots: vec![
            // The last wins, so skills from elsewhere come before the agent's own.
            provided(Provider::Bundled),
            provided(Provider::Mcp),
            provided(Provider::Remote),
            root(
                RootBase::Home,
                &[
                    ".claude/skills",
                    ".config/agents/skills",
                    ".config/goose/skills",
                    ".agents/skills",
                ],
                Scope::User,
                &walk,
            ),
            root(
                project,
                &[".claude/skills", ".goose/skills", ".agents/skills"],
                Scope::Project,
                &walk,
            ),
        ],
        duplicates: DuplicatePolicy::LastWins,
        ..documented(
            "goose",
            "goose",
            &["https://block.github.io/goose/docs/guides/context-engineering/using-skills"],
            super::agentskills(),
        )
    }
}
