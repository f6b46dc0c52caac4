//! The sources that the field table cites ([`Citation`]).

/// A document that states a fact, or an agent on which it was measured.
#[derive(PartialEq, Eq, Debug)]
pub struct Citation {
    /// The document's title, or the agent and the kind of measurement.
    pub title: &'static str,
    /// The URL; empty for a measurement.
    pub address: &'static str,
    /// The version or date.
    pub version: &'static str,
}

pub static SPECIFICATION: Citation = Citation {
    title: "Agent Skills specification",
    address: "https://agentskills.io/specification",
    version: "commit 69ef37e",
};

pub static CLAUDE_SKILLS: Citation = Citation {
    title: "Claude Code documentation, Skills, frontmatter reference",
    address: "https://code.claude.com/docs/en/skills#frontmatter-reference",
    version: "September 2026",
};

pub static CLAUDE_HOOKS: Citation = Citation {
    title: "Claude Code documentation, Hooks reference",
    address: "https://code.claude.com/docs/en/hooks",
    version: "September 2026",
};

pub static CLAUDE_CHANGES: Citation = Citation {
    title: "Claude Code change log",
    address: "https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
    version: "to 2.1.251",
};

pub static OPENCODE: Citation =
    Citation { title: "opencode, measured on the running agent", address: "", version: "1.18.33" };

pub static PLUGIN: Citation = Citation {
    title: "opencode-agent-skills, src/skills.ts",
    address: "https://github.com/joshuadavidthomas/opencode-agent-skills",
    version: "0.7.0",
};

pub static CODEX: Citation = Citation {
    title: "Codex, codex-rs/core-skills/src/loader.rs",
    address: "https://github.com/openai/codex",
    version: "0.169.0",
};

pub static GEMINI: Citation = Citation {
    title: "Gemini CLI, packages/core/src/skills/skillLoader.ts",
    address: "https://github.com/google-gemini/gemini-cli",
    version: "0.61.0",
};

pub(super) static COPILOT: Citation = Citation {
    title: "Copilot CLI, measured on the running agent",
    address: "",
    version: "1.0.102",
};

pub(super) static QWEN: Citation = Citation {
    title: "Qwen Code, packages/core/src/skills/skill-manager.ts",
    address: "https://github.com/QwenLM/qwen-code",
    version: "0.24.4",
};

pub(super) static KILO: Citation =
    Citation { title: "Kilo, measured on the running agent", address: "", version: "7.7.9" };

pub(super) static VS_CODE: Citation = Citation {
    title: "VS Code documentation, Use Agent Skills in VS Code",
    address: "https://code.visualstudio.com/docs/agent-customization/agent-skills",
    version: "May 2026",
};

pub static CORPUS: Citation = Citation {
    title: "Keys of 126,617 SKILL.md files in 205 public repositories",
    address: "",
    version: "November 2026",
};

pub static AUTHORING: Citation = Citation {
    title: "Skill authoring best practices",
    address: "https://platform.claude.com/docs/en/agents-and-tools/agent-skills/best-practices",
    version: "September 2026",
};

pub static CLAUDE_PERMISSIONS: Citation = Citation {
    title: "Claude Code documentation, Permissions, rule syntax",
    address: "https://code.claude.com/docs/en/permissions",
    version: "September 2026",
};

pub static YAML: Citation = Citation {
    title: "YAML specification",
    address: "https://yaml.org/spec/1.2.2/",
    version: "1.2.2",
};

pub static GIT_IGNORE: Citation = Citation {
    title: "Git documentation, gitignore, pattern format",
    address: "https://git-scm.com/docs/gitignore#_pattern_format",
    version: "2.51",
};

pub static GIT_MERGE: Citation = Citation {
    title: "Git documentation, git-merge, how conflicts are presented",
    address: "https://git-scm.com/docs/git-merge#_how_conflicts_are_presented",
    version: "2.51",
};

pub static COMMON_MARK: Citation = Citation {
    title: "CommonMark specification",
    address: "https://spec.commonmark.org/0.31.2/",
    version: "0.31.2",
};

pub static UNICODE: Citation = Citation {
    title: "Unicode Technical Standard 55, Source code handling",
    address: "https://www.unicode.org/reports/tr55/",
    version: "17.0",
};
