//! Names of the environment variables that skillsd uses.
//!
//! Nothing here reads the environment; clients read it when they start and pass the values on.
//! Invariant: [`DISCOVERY`] holds exact names, never patterns, because a pattern could send keys
//! and tokens to the daemon.

/// Absolute path of the daemon's socket; replaces the default location.
pub const SKILLSD_SOCKET: &str = "SKILLSD_SOCKET";

/// Additional directories whose skills are included in every command, separated by colons.
pub const SKILLSD_ADD_DIRS: &str = "SKILLSD_ADD_DIRS";

/// Profile of every command without `--profile`.
pub const SKILLSD_PROFILE: &str = "SKILLSD_PROFILE";

/// Log filter of the daemon, in the syntax of `tracing`, for example `debug`.
pub const SKILLSD_LOG: &str = "SKILLSD_LOG";

/// The user's runtime directory, which contains the socket by default.
pub const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";

/// The user's home directory.
pub const HOME: &str = "HOME";

/// Base directory of the user's configuration; default `~/.config`.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Base directory of the user's state; default `~/.local/state`.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Base directory of the user's cache; default `~/.cache`.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";

/// Claude Code's configuration directory; default `~/.claude`.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Codex's configuration directory; default `~/.codex`.
pub const CODEX_HOME: &str = "CODEX_HOME";

/// Copilot CLI's configuration directory; default `~/.copilot`.
pub const COPILOT_HOME: &str = "COPILOT_HOME";

/// Qoder's configuration directory; default `~/.qoder`.
pub const QODER_CONFIG_DIR: &str = "QODER_CONFIG_DIR";

/// Qwen Code's configuration directory; default `~/.qwen`.
pub const QWEN_HOME: &str = "QWEN_HOME";

/// Parent of Gemini CLI's directory `.gemini`; default the home directory.
pub const GEMINI_CLI_HOME: &str = "GEMINI_CLI_HOME";

/// Directories of programs, in which agents are looked for.
pub const PATH: &str = "PATH";

/// Set by Claude Code for the commands it runs.
pub const CLAUDECODE: &str = "CLAUDECODE";

/// Set by opencode for the commands it runs.
pub const OPENCODE: &str = "OPENCODE";

/// Set by Codex for the commands it runs.
pub const CODEX_THREAD_ID: &str = "CODEX_THREAD_ID";

/// Set by Gemini CLI for the commands it runs.
pub const GEMINI_CLI: &str = "GEMINI_CLI";

/// Set by Copilot CLI for the commands it runs.
pub const COPILOT_CLI: &str = "COPILOT_CLI";

/// Set by Qwen Code for the commands it runs.
pub const QWEN_CODE: &str = "QWEN_CODE";

/// Set by Kilo for the commands it runs, with [`OPENCODE`].
pub const KILO: &str = "KILO";

/// Variables that agents set for the commands they run.
pub const RUN_VARIABLES: [&str; 7] =
    [CLAUDECODE, OPENCODE, CODEX_THREAD_ID, GEMINI_CLI, COPILOT_CLI, QWEN_CODE, KILO];

/// Variables that discovery and the choice of the profile depend on; clients send them and [`PATH`]
/// as `environment`.
pub const DISCOVERY: &[&str] = crate::profiles::VARIABLES;

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
