//! Output formats of agents ([`OutputFormat`]).

/// The format of loaded skills and prompt listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// opencode's skill tool, and its slash commands for skills loaded by the user.
    Opencode,
    /// opencode as the founding documents describe it: with `file://` URLs.
    OpencodeFounding,
    /// Claude Code.
    Claude,
    /// Claude Code as the founding documents describe it: with `${ARG1}`-style arguments.
    ClaudeFounding,
    /// The open standard's client guide.
    AgentSkills,
    /// Codex, for a skill that is named explicitly.
    Codex,
    /// Gemini CLI's activation.
    Gemini,
    /// The opencode-agent-skills plugin.
    Plugin,
    /// The body as it is in the file.
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

    /// Returns whether this is a format of Claude Code, with its substitutions and numbered errors.
    pub const fn is_claude(self) -> bool {
        matches!(self, Self::Claude | Self::ClaudeFounding)
    }

    /// Returns whether this is a format of opencode.
    pub const fn is_opencode(self) -> bool {
        matches!(self, Self::Opencode | Self::OpencodeFounding)
    }
}
