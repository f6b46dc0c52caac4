//! The environment variables that skillsd knows, each named once.
//!
//! Nothing here reads the environment; clients read it at start-up and pass the values on.
//! Invariant: [`DISCOVERY`] holds exact names and never a pattern, because a pattern would carry
//! keys and tokens to the daemon.

/// Path of the daemon's socket, absolute; replaces the default location.
pub const SKILLSD_SOCKET: &str = "SKILLSD_SOCKET";

/// Further directories whose skills count for every command, separated by colons.
pub const SKILLSD_ADD_DIRS: &str = "SKILLSD_ADD_DIRS";

/// What the daemon logs, in the syntax of `tracing` filters, for example `debug`.
pub const SKILLSD_LOG: &str = "SKILLSD_LOG";

/// The user's runtime directory, in which the socket lives by default.
pub const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

/// The user's home directory.
pub const HOME: &str = "HOME";

/// Base of the user's configuration, `~/.config` when unset.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Base of the user's state, `~/.local/state` when unset.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Base of the user's cache, `~/.cache` when unset.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";

/// Where Claude Code keeps its configuration, `~/.claude` when unset.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Where Codex keeps its configuration, `~/.codex` when unset.
pub const CODEX_HOME: &str = "CODEX_HOME";

/// One more configuration directory of opencode.
pub const OPENCODE_CONFIG_DIR: &str = "OPENCODE_CONFIG_DIR";

/// One more configuration file of opencode.
pub const OPENCODE_CONFIG: &str = "OPENCODE_CONFIG";

/// Makes opencode ignore the skills of other agents.
pub const OPENCODE_DISABLE_EXTERNAL_SKILLS: &str = "OPENCODE_DISABLE_EXTERNAL_SKILLS";

/// Makes opencode ignore the skills under `.claude`.
pub const OPENCODE_DISABLE_CLAUDE_CODE_SKILLS: &str = "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS";

/// Makes opencode ignore the project's configuration.
pub const OPENCODE_DISABLE_PROJECT_CONFIG: &str = "OPENCODE_DISABLE_PROJECT_CONFIG";

/// Makes opencode ignore what is Claude Code's, its skills too.
pub const OPENCODE_DISABLE_CLAUDE_CODE: &str = "OPENCODE_DISABLE_CLAUDE_CODE";

/// Where Gemini CLI keeps its directory `.gemini`, the home directory when unset.
pub const GEMINI_CLI_HOME: &str = "GEMINI_CLI_HOME";

/// Makes Gemini CLI trust the folder it is started in.
pub const GEMINI_CLI_TRUST_WORKSPACE: &str = "GEMINI_CLI_TRUST_WORKSPACE";

/// The variables that discovery depends on: what a client sends as `environment`.
pub const DISCOVERY: &[&str] = &[
    HOME,
    XDG_CONFIG_HOME,
    CLAUDE_CONFIG_DIR,
    CODEX_HOME,
    OPENCODE_CONFIG_DIR,
    OPENCODE_CONFIG,
    OPENCODE_DISABLE_EXTERNAL_SKILLS,
    OPENCODE_DISABLE_CLAUDE_CODE,
    OPENCODE_DISABLE_CLAUDE_CODE_SKILLS,
    OPENCODE_DISABLE_PROJECT_CONFIG,
    GEMINI_CLI_HOME,
    GEMINI_CLI_TRUST_WORKSPACE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discovery_names_are_exact_and_unique() {
        let mut names = DISCOVERY.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DISCOVERY.len());
        let exact = |name: &&str| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        assert!(DISCOVERY.iter().all(exact));
    }
}
