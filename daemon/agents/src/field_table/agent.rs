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
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Qwen Code.
    QwenCode,
    /// Kilo.
    Kilo,
}

impl Agent {
    /// All agents, in the order of the reference page.
    pub const ALL: [Self; 10] = [
        Self::AgentSkills,
        Self::ClaudeCode,
        Self::OpenCode,
        Self::OpenCodeAgentSkills,
        Self::Codex,
        Self::GeminiCli,
        Self::VsCode,
        Self::CopilotCli,
        Self::QwenCode,
        Self::Kilo,
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
            Self::CopilotCli => "copilot-cli",
            Self::QwenCode => "qwen-code",
            Self::Kilo => "kilo",
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
            Self::CopilotCli => "Copilot CLI",
            Self::QwenCode => "Qwen Code",
            Self::Kilo => "Kilo",
        }
    }

    /// Returns the version that the field table describes.
    pub const fn version(self) -> &'static str {
        match self {
            Self::AgentSkills => "69ef37e",
            Self::ClaudeCode => "2.1.330",
            Self::OpenCode => "1.18.33",
            Self::OpenCodeAgentSkills => "0.7.0",
            Self::Codex => "0.169.0",
            Self::GeminiCli => "0.61.0",
            Self::VsCode => "documentation of May 2026",
            Self::CopilotCli => "1.0.102",
            Self::QwenCode => "0.24.4",
            Self::Kilo => "7.7.9",
        }
    }

    /// Returns the budget of the agent's skill listing in characters, if it has one: Claude Code
    /// 2.1.330 with its default context window, and Codex 0.169.0 with a window of 272,000 tokens,
    /// which it assumes for an unknown model: 2 % of them, of four characters each.
    pub const fn listing_budget(self) -> Option<usize> {
        match self {
            Self::ClaudeCode => Some(8000),
            Self::Codex => Some(272_000 / 50 * 4),
            Self::AgentSkills
            | Self::OpenCode
            | Self::OpenCodeAgentSkills
            | Self::GeminiCli
            | Self::VsCode
            | Self::CopilotCli
            | Self::QwenCode
            | Self::Kilo => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{self, Evidence};

    #[test]
    fn profile_and_agent_versions_match() {
        for profile in profile::agents() {
            let Some(agent) = profile.reader else { continue };
            assert_eq!(agent.id(), profile.id);
            assert_eq!(agent.name(), profile.agent);
            assert_eq!(agent.version(), profile.version);
        }
    }

    #[test]
    fn listing_of_agents_without_a_measured_form_is_unknown() {
        let unknown: Vec<_> =
            profile::agents().filter(|it| !it.knows_listing()).map(|it| &*it.id).collect();
        let measured = profile::agents().filter(|it| it.evidence != Evidence::Documentation);
        let measured: Vec<_> =
            measured.filter(|it| !it.knows_listing()).map(|it| &*it.id).collect();
        let expected = ["qoder", "openhands", "hermes"];
        assert_eq!(measured, expected);
        assert!(["cursor", "vscode", "kiro"].iter().all(|it| unknown.contains(it)));
    }

    #[test]
    fn profile_variant_maps_to_its_agent() {
        let variant = profile::find("claude-code@founding").unwrap();
        assert_eq!(variant.reader, Some(Agent::ClaudeCode));
    }
}
