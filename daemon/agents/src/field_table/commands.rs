//! Claude Code's built-in commands, which it executes itself.
//!
//! They are not prompts, so a model can receive nothing of them. Built-in prompts (`/init`,
//! `/review` and the like) are left out. The names are from Claude Code's command reference of
//! September 2026, without those that 2.1.191 registers as prompts, plus those of older versions.

/// The names, without `/`, sorted.
const BUILTIN: &[&str] = &[
    "add-dir", "advisor", "agents", "background", "branch", "btw", "bug", "cd", "chrome", "clear",
    "color", "compact", "config", "context", "copy", "cost", "desktop", "diff", "doctor", "effort",
    "exit", "export", "extra-usage", "fast", "feedback", "focus", "heapdump", "help", "hooks",
    "ide", "install-github-app", "install-slack-app", "keybindings", "login", "logout", "mcp",
    "memory", "mobile", "model", "output-style", "passes", "permissions", "plan", "plugin",
    "powerup", "privacy-settings", "quit", "radio", "recap", "release-notes", "reload-plugins",
    "reload-skills", "remote-control", "remote-env", "rename", "reset", "resume", "rewind",
    "sandbox", "scroll-speed", "setup-bedrock", "setup-vertex", "skills", "stats", "status",
    "stickers", "stop", "tasks", "teleport", "terminal-setup", "theme", "todos", "tui", "upgrade",
    "usage", "usage-credits", "vim", "voice", "web-setup",
];

/// Returns whether Claude Code executes the command itself.
pub fn is_builtin(name: &str) -> bool {
    BUILTIN.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_names_are_sorted_and_found() {
        assert!(BUILTIN.is_sorted());
        assert!(is_builtin("clear") && !is_builtin("init") && !is_builtin("/clear"));
    }
}
