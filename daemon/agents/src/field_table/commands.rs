//! The agents' built-in commands.
//!
//! Claude Code's own are in two lists. The names are from its command reference of September 2026,
//! plus those of older versions; prompts are those that 2.1.191 registers as such.

use super::Agent;

/// Commands that Claude Code executes itself, without `/`, sorted. They are not prompts, so a model
/// can receive nothing of them.
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

/// Built-in prompts of Claude Code, and commands of other agents, without `/`.
const NAMES: &[(Agent, &[&str])] = &[
    (
        Agent::ClaudeCode,
        &[
            "autofix-pr",
            "batch",
            "claude-api",
            "code-review",
            "debug",
            "fewer-permission-prompts",
            "init",
            "insights",
            "keybindings-help",
            "loop",
            "pr-comments",
            "review",
            "schedule",
            "security-review",
            "simplify",
            "statusline",
            "team-onboarding",
            "ultraplan",
            "ultrareview",
            "verify",
        ],
    ),
    (
        Agent::Codex,
        &[
            "approvals", "compact", "diff", "experimental", "feedback", "init", "logout", "mcp",
            "mention", "model", "new", "permissions", "prompts", "quit", "resume", "review",
            "skills", "status", "undo",
        ],
    ),
    (
        Agent::GeminiCli,
        &[
            "about", "auth", "bug", "chat", "clear", "compress", "copy", "directory", "docs",
            "editor", "extensions", "help", "hooks", "ide", "init", "mcp", "memory", "model",
            "privacy", "quit", "restore", "resume", "settings", "setup-github", "skills", "stats",
            "terminal-setup", "theme", "tools", "vim",
        ],
    ),
    (
        Agent::OpenCode,
        &[
            "compact", "connect", "details", "editor", "exit", "export", "help", "init", "models",
            "new", "redo", "review", "sessions", "share", "themes", "thinking", "undo", "unshare",
        ],
    ),
];

/// Returns the agents that have a built-in command or prompt of this name.
pub fn agents_with(name: &str) -> impl Iterator<Item = Agent> {
    let claude_code = is_builtin(name).then_some(Agent::ClaudeCode);
    let others = NAMES.iter().filter(move |(_, names)| names.contains(&name));
    claude_code.into_iter().chain(others.map(|(agent, _)| *agent))
}

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
        for (agent, names) in NAMES {
            assert!(names.is_sorted(), "{agent:?}");
        }
    }

    #[test]
    fn command_is_that_of_each_agent_that_has_it() {
        let found = |name: &str| agents_with(name).collect::<Vec<_>>();
        assert_eq!(found("clear"), [Agent::ClaudeCode, Agent::GeminiCli]);
        assert_eq!(found("code-review"), [Agent::ClaudeCode]);
        assert_eq!(found("codex-review"), []);
    }
}
