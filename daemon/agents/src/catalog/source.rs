//! Where the catalog's facts come from.

/// A place where something is stated, or an agent on which it was measured.
#[derive(PartialEq, Eq, Debug)]
pub struct Source {
    /// What it is.
    pub title: &'static str,
    /// Its address; empty for a measurement.
    pub address: &'static str,
    /// Which state of it.
    pub version: &'static str,
}

pub static SPECIFICATION: Source = Source {
    title: "Agent Skills specification",
    address: "https://agentskills.io/specification",
    version: "commit 69ef37e",
};

pub static CLAUDE_SKILLS: Source = Source {
    title: "Claude Code documentation, Skills, frontmatter reference",
    address: "https://code.claude.com/docs/en/skills#frontmatter-reference",
    version: "September 2026",
};

pub static CLAUDE_HOOKS: Source = Source {
    title: "Claude Code documentation, Hooks reference",
    address: "https://code.claude.com/docs/en/hooks",
    version: "September 2026",
};

pub static CLAUDE_CHANGES: Source = Source {
    title: "Claude Code change log",
    address: "https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
    version: "to 2.1.251",
};

pub static OPENCODE: Source =
    Source { title: "opencode, measured on the running agent", address: "", version: "1.18.33" };

pub static PLUGIN: Source = Source {
    title: "opencode-agent-skills, src/skills.ts",
    address: "https://github.com/joshuadavidthomas/opencode-agent-skills",
    version: "0.7.0",
};

pub static CODEX: Source = Source {
    title: "Codex, codex-rs/core-skills/src/loader.rs",
    address: "https://github.com/openai/codex",
    version: "0.169.0",
};

pub static GEMINI: Source = Source {
    title: "Gemini CLI, packages/core/src/skills/skillLoader.ts",
    address: "https://github.com/google-gemini/gemini-cli",
    version: "0.61.0",
};

pub(super) static VS_CODE: Source = Source {
    title: "VS Code documentation, Use Agent Skills in VS Code",
    address: "https://code.visualstudio.com/docs/agent-customization/agent-skills",
    version: "May 2026",
};

pub static CORPUS: Source = Source {
    title: "Keys of 126,617 SKILL.md files in 205 public repositories",
    address: "",
    version: "November 2026",
};

pub static AUTHORING: Source = Source {
    title: "Skill authoring best practices",
    address: "https://platform.claude.com/docs/en/agents-and-tools/agent-skills/best-practices",
    version: "September 2026",
};

pub static CLAUDE_PERMISSIONS: Source = Source {
    title: "Claude Code documentation, Permissions, rule syntax",
    address: "https://code.claude.com/docs/en/permissions",
    version: "September 2026",
};

pub static YAML: Source = Source {
    title: "YAML specification",
    address: "https://yaml.org/spec/1.2.2/",
    version: "1.2.2",
};

pub static GIT_IGNORE: Source = Source {
    title: "Git documentation, gitignore, pattern format",
    address: "https://git-scm.com/docs/gitignore#_pattern_format",
    version: "2.51",
};

pub static COMMON_MARK: Source = Source {
    title: "CommonMark specification",
    address: "https://spec.commonmark.org/0.31.2/",
    version: "0.31.2",
};

pub static UNICODE: Source = Source {
    title: "Unicode Technical Standard 55, Source code handling",
    address: "https://www.unicode.org/reports/tr55/",
    version: "17.0",
};
