//! Claude Code's own commands: what it does itself when their name is typed.
//!
//! They are no prompts, so that nothing of them can be given to a model. Those that are prompts
//! (`/init`, `/review` and the like) are left out. From Claude Code's reference of commands,
//! September 2026.

/// The names, as they are typed behind the `/`.
const OWN: &[&str] = &[
    "add-dir",
    "agents",
    "bug",
    "clear",
    "compact",
    "config",
    "context",
    "cost",
    "doctor",
    "exit",
    "export",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "output-style",
    "permissions",
    "plugin",
    "privacy-settings",
    "quit",
    "release-notes",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "skills",
    "stats",
    "status",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
];

/// Whether Claude Code does this itself.
pub fn is_own(name: &str) -> bool {
    OWN.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_are_found() {
        assert!(OWN.is_sorted());
        assert!(is_own("clear") && !is_own("init") && !is_own("/clear"));
    }
}
