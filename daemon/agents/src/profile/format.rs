//! Output formats of agents ([`OutputFormat`]).

use crate::keyword::keyword_enum;

keyword_enum! {
    /// The format of loaded skills and prompt listings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    OutputFormat {
        /// opencode's skill tool, and its slash commands for skills loaded by the user.
        Opencode = "opencode",
        /// opencode as the founding documents describe it: with `file://` URLs.
        OpencodeFounding = "opencode@founding",
        /// Claude Code.
        Claude = "claude",
        /// Claude Code as the founding documents describe it: with `${ARG1}`-style arguments.
        ClaudeFounding = "claude@founding",
        /// The open standard's client guide.
        AgentSkills = "agentskills",
        /// Codex, for a skill that is named explicitly.
        Codex = "codex",
        /// Gemini CLI's activation.
        Gemini = "gemini",
        /// The opencode-agent-skills plugin.
        Plugin = "plugin",
        /// The body as it is in the file.
        Raw = "raw",
    }
}

impl OutputFormat {
    /// Returns whether this is a format of Claude Code, with its substitutions and numbered errors.
    pub const fn is_claude(self) -> bool {
        matches!(self, Self::Claude | Self::ClaudeFounding)
    }

    /// Returns whether this is a format of opencode.
    pub const fn is_opencode(self) -> bool {
        matches!(self, Self::Opencode | Self::OpencodeFounding)
    }
}
