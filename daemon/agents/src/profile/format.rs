//! The formats: whose way of writing is followed.

/// How a loaded skill is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// opencode's skill tool; for the user, its slash commands.
    Opencode,
    /// The same as the documents that founded this project describe it: `file://` URLs.
    OpencodeFounding,
    /// Claude Code.
    Claude,
    /// The same as the founding documents describe it: `${ARG1}`-style arguments too.
    ClaudeFounding,
    /// The open standard's client guide.
    AgentSkills,
    /// Codex, where a skill is named explicitly.
    Codex,
    /// Gemini CLI's activation.
    Gemini,
    /// The plugin opencode-agent-skills.
    Plugin,
    /// The body as it stands in the file.
    Raw,
}

impl OutputFormat {
    /// All formats, in the order of the reference.
    pub const ALL: [Self; 9] = [
        Self::Opencode,
        Self::OpencodeFounding,
        Self::Claude,
        Self::ClaudeFounding,
        Self::AgentSkills,
        Self::Codex,
        Self::Gemini,
        Self::Plugin,
        Self::Raw,
    ];

    /// Returns whether it is one of Claude Code's, with its substitutions and numbered errors.
    pub const fn is_claude(self) -> bool {
        matches!(self, Self::Claude | Self::ClaudeFounding)
    }

    /// Returns whether it is one of opencode's.
    pub const fn is_opencode(self) -> bool {
        matches!(self, Self::Opencode | Self::OpencodeFounding)
    }
}
