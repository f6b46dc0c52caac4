//! Claude Code's own commands: what it does itself when their name is typed.
//!
//! They are no prompts, so that nothing of them can be given to a model. Those that are prompts
//! (`/init`, `/review` and the like) are left out. The names are those of Claude Code's reference of
//! commands, September 2026, that 2.1.191 does not register as prompts, and those that older
//! versions had.

/// The names, as they are typed behind the `/`.
const BUILTIN: &[&str] = &[
    "add-dir",
    "advisor",
    "agents",
    "background",
    "branch",
    "btw",
    "bug",
    "cd",
    "chrome",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "desktop",
    "diff",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "focus",
    "heapdump",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "install-slack-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "mobile",
    "model",
    "output-style",
    "passes",
    "permissions",
    "plan",
    "plugin",
    "powerup",
    "privacy-settings",
    "quit",
    "radio",
    "recap",
    "release-notes",
    "reload-plugins",
    "reload-skills",
    "remote-control",
    "remote-env",
    "rename",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "scroll-speed",
    "setup-bedrock",
    "setup-vertex",
    "skills",
    "stats",
    "status",
    "stickers",
    "stop",
    "tasks",
    "teleport",
    "terminal-setup",
    "theme",
    "todos",
    "tui",
    "upgrade",
    "usage",
    "usage-credits",
    "vim",
    "voice",
    "web-setup",
];

/// Whether Claude Code does this itself.
pub fn is_builtin(name: &str) -> bool {
    BUILTIN.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_are_found() {
        assert!(BUILTIN.is_sorted());
        assert!(is_builtin("clear") && !is_builtin("init") && !is_builtin("/clear"));
    }
}
