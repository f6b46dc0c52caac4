//! Built-in profiles, as far as clients know them.
//!
//! Generated from the profile table in daemon/agents/src/profile/table.rs; a test rewrites it.

/// Names of the built-in profiles, variants last. A user may define more.
#[rustfmt::skip]
pub const PROFILES: &[&str] = &[
    "agentskills",
    "claude-code",
    "opencode",
    "opencode-agent-skills",
    "codex",
    "gemini-cli",
    "copilot-cli",
    "qwen-code",
    "kilo",
    "mistral-vibe",
    "cursor",
    "vscode",
    "goose",
    "amp",
    "windsurf",
    "kiro",
    "claude-code@founding",
    "opencode@founding",
];

/// Directory of an agent's own skills in a project, and true if the agent only looks in the working
/// directory.
#[rustfmt::skip]
pub(crate) const OWN_DIRECTORIES: &[(&str, &str, bool)] = &[
    ("agentskills", ".agents/skills", false),
    ("claude-code", ".claude/skills", false),
    ("opencode", ".opencode/skills", false),
    ("opencode-agent-skills", ".opencode/skills", true),
    ("codex", ".codex/skills", false),
    ("gemini-cli", ".gemini/skills", true),
    ("copilot-cli", ".github/skills", false),
    ("qwen-code", ".qwen/skills", true),
    ("kilo", ".kilo/skills", false),
    ("mistral-vibe", ".vibe/skills", true),
    ("cursor", ".cursor/skills", false),
    ("vscode", ".github/skills", true),
    ("goose", ".agents/skills", true),
    ("amp", ".agents/skills", false),
    ("windsurf", ".windsurf/skills", false),
    ("kiro", ".kiro/skills", false),
];

/// Variables that the built-in profiles read, and those by which their agents are recognised.
#[rustfmt::skip]
pub(crate) const VARIABLES: &[&str] = &[
    "HOME",
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CLAUDECODE",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_PERMISSION",
    "OPENCODE",
    "CODEX_HOME",
    "CODEX_THREAD_ID",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_TRUST_WORKSPACE",
    "GEMINI_CLI",
    "COPILOT_HOME",
    "QWEN_HOME",
    "KILO_CONFIG",
    "KILO_CONFIG_CONTENT",
    "KILO_CONFIG_DIR",
    "KILO_DISABLE_EXTERNAL_SKILLS",
    "KILO_DISABLE_CLAUDE_CODE",
    "KILO_DISABLE_CLAUDE_CODE_SKILLS",
    "KILO_DISABLE_PROJECT_CONFIG",
    "KILO_PERMISSION",
    "VIBE_HOME",
];
