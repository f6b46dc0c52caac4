//! The agents whose reading of frontmatter the field table describes.

/// A reader of frontmatter: an agent, a plugin, an editor, or the open standard itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Agent {
    /// The Agent Skills standard with its client guide.
    AgentSkills,
    /// Claude Code.
    ClaudeCode,
    /// opencode.
    OpenCode,
    /// The opencode-agent-skills plugin.
    OpenCodeAgentSkills,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// VS Code with Copilot.
    VsCode,
}

impl Agent {
    /// All agents, in the order of the reference page.
    pub const ALL: [Self; 7] = [
        Self::AgentSkills,
        Self::ClaudeCode,
        Self::OpenCode,
        Self::OpenCodeAgentSkills,
        Self::Codex,
        Self::GeminiCli,
        Self::VsCode,
    ];

    /// Returns the name used on the wire and the command line: the profile's id, if there is a
    /// profile.
    pub const fn id(self) -> &'static str {
        match self {
            Self::AgentSkills => "agentskills",
            Self::ClaudeCode => "claude-code",
            Self::OpenCode => "opencode",
            Self::OpenCodeAgentSkills => "opencode-agent-skills",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::VsCode => "vscode",
        }
    }

    /// Returns the display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentSkills => "Agent Skills standard",
            Self::ClaudeCode => "Claude Code",
            Self::OpenCode => "opencode",
            Self::OpenCodeAgentSkills => "opencode-agent-skills",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::VsCode => "VS Code",
        }
    }

    /// Returns the version that the field table describes.
    pub const fn version(self) -> &'static str {
        match self {
            Self::AgentSkills => "69ef37e",
            Self::ClaudeCode => "2.1.240",
            Self::OpenCode => "1.18.33",
            Self::OpenCodeAgentSkills => "0.7.0",
            Self::Codex => "0.169.0",
            Self::GeminiCli => "0.61.0",
            Self::VsCode => "documentation of May 2026",
        }
    }

    /// Returns the agent of a profile, also for variants (`claude-code@founding`).
    pub fn from_profile_id(id: &str) -> Option<Self> {
        let name = id.split_once('@').map_or(id, |(name, _)| name);
        Self::ALL.into_iter().find(|it| it.id() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    #[test]
    fn profile_and_agent_versions_match() {
        for profile in profile::agents() {
            let agent = Agent::from_profile_id(&profile.id).unwrap();
            assert_eq!(agent.name(), profile.agent);
            assert_eq!(agent.version(), profile.version);
        }
    }

    #[test]
    fn profile_variant_maps_to_its_agent() {
        assert_eq!(Agent::from_profile_id("claude-code@founding"), Some(Agent::ClaudeCode));
        assert_eq!(Agent::from_profile_id("claude"), None);
    }
}
