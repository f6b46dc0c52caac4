//! Output formats of agents ([`OutputFormat`]).

use super::template::PromptTemplate;

/// The format of loaded skills and prompt listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// opencode's skill tool, and its slash commands for skills loaded by the user.
    Opencode,
    /// opencode as the founding documents describe it: with `file://` URLs.
    OpencodeFounding,
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
    /// An agent whose texts are data of its row.
    Template(&'static PromptTemplate),
}

impl OutputFormat {
    /// Returns whether this is a format of Claude Code, with its substitutions and numbered errors.
    pub const fn is_claude(self) -> bool {
        matches!(self, Self::Claude | Self::ClaudeFounding)
    }

    pub const fn is_opencode(self) -> bool {
        matches!(self, Self::Opencode | Self::OpencodeFounding)
    }
}
