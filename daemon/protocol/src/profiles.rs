//! Built-in profiles, as far as clients know them.
//!
//! Generated from the profile table in daemon/agents/src/profile/table.rs; a test rewrites it.

use crate::own_directory::{OwnDirectory, ProjectLevels};

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
    "qoder",
    "cline",
    "continue",
    "pi",
    "kimi-code",
    "droid",
    "openclaw",
    "cursor",
    "vscode",
    "goose",
    "amp",
    "windsurf",
    "kiro",
    "claude-code@founding",
    "opencode@founding",
];

/// Directories of an agent's own skills.
#[rustfmt::skip]
pub(crate) const OWN_DIRECTORIES: &[(&str, OwnDirectory)] = &[
    ("agentskills", OwnDirectory { project: ".agents/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".agents/skills" }),
    ("claude-code", OwnDirectory { project: ".claude/skills", levels: ProjectLevels::EachLevel, variable: "CLAUDE_CONFIG_DIR", below_home: ".claude", user: "skills" }),
    ("opencode", OwnDirectory { project: ".opencode/skills", levels: ProjectLevels::EachLevel, variable: "XDG_CONFIG_HOME", below_home: ".config", user: "opencode/skills" }),
    ("opencode-agent-skills", OwnDirectory { project: ".opencode/skills", levels: ProjectLevels::WorkingDirectory, variable: "HOME", below_home: "", user: ".config/opencode/skills" }),
    ("codex", OwnDirectory { project: ".codex/skills", levels: ProjectLevels::EachLevel, variable: "CODEX_HOME", below_home: ".codex", user: "skills" }),
    ("gemini-cli", OwnDirectory { project: ".gemini/skills", levels: ProjectLevels::WorkingDirectory, variable: "GEMINI_CLI_HOME", below_home: "", user: ".gemini/skills" }),
    ("copilot-cli", OwnDirectory { project: ".github/skills", levels: ProjectLevels::EachLevel, variable: "COPILOT_HOME", below_home: ".copilot", user: "skills" }),
    ("qwen-code", OwnDirectory { project: ".qwen/skills", levels: ProjectLevels::WorkingDirectory, variable: "QWEN_HOME", below_home: ".qwen", user: "skills" }),
    ("kilo", OwnDirectory { project: ".kilo/skills", levels: ProjectLevels::EachLevel, variable: "XDG_CONFIG_HOME", below_home: ".config", user: "kilo/skills" }),
    ("mistral-vibe", OwnDirectory { project: ".vibe/skills", levels: ProjectLevels::WorkingDirectory, variable: "VIBE_HOME", below_home: ".vibe", user: "skills" }),
    ("qoder", OwnDirectory { project: ".qoder/skills", levels: ProjectLevels::WorkingDirectory, variable: "QODER_CONFIG_DIR", below_home: ".qoder", user: "skills" }),
    ("cline", OwnDirectory { project: ".cline/skills", levels: ProjectLevels::WorktreeTop, variable: "CLINE_DIR", below_home: ".cline", user: "skills" }),
    ("continue", OwnDirectory { project: ".continue/skills", levels: ProjectLevels::WorkingDirectory, variable: "CONTINUE_GLOBAL_DIR", below_home: ".continue", user: "skills" }),
    ("pi", OwnDirectory { project: ".pi/skills", levels: ProjectLevels::WorkingDirectory, variable: "PI_CODING_AGENT_DIR", below_home: ".pi/agent", user: "skills" }),
    ("kimi-code", OwnDirectory { project: ".kimi-code/skills", levels: ProjectLevels::WorktreeTop, variable: "KIMI_CODE_HOME", below_home: ".kimi-code", user: "skills" }),
    ("droid", OwnDirectory { project: ".factory/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".factory/skills" }),
    ("openclaw", OwnDirectory { project: "", levels: ProjectLevels::None, variable: "OPENCLAW_STATE_DIR", below_home: ".openclaw", user: "skills" }),
    ("cursor", OwnDirectory { project: ".cursor/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".cursor/skills" }),
    ("vscode", OwnDirectory { project: ".github/skills", levels: ProjectLevels::WorkingDirectory, variable: "HOME", below_home: "", user: ".copilot/skills" }),
    ("goose", OwnDirectory { project: ".agents/skills", levels: ProjectLevels::WorkingDirectory, variable: "HOME", below_home: "", user: ".config/goose/skills" }),
    ("amp", OwnDirectory { project: ".agents/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".config/agents/skills" }),
    ("windsurf", OwnDirectory { project: ".windsurf/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".codeium/windsurf/skills" }),
    ("kiro", OwnDirectory { project: ".kiro/skills", levels: ProjectLevels::EachLevel, variable: "HOME", below_home: "", user: ".kiro/skills" }),
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
    "QODER_CONFIG_DIR",
    "CLINE_DIR",
    "CONTINUE_GLOBAL_DIR",
    "PI_CODING_AGENT_DIR",
    "KIMI_CODE_HOME",
    "OPENCLAW_STATE_DIR",
];
