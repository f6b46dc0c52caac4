//! The agents whose reading of frontmatter the field table describes.

/// Declares [`Agent`]: each agent with its id, its name, and the version that the field table
/// describes.
macro_rules! agents {
    ($($(#[$doc:meta])* $agent:ident = $id:literal, $name:literal, $version:literal;)*) => {
        /// A reader of frontmatter: an agent, a plugin, an editor, or the open standard itself.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Agent {
            $($(#[$doc])* $agent,)*
        }

        impl Agent {
            /// All agents, in the order of the reference page.
            pub const ALL: &[Self] = &[$(Self::$agent),*];

            /// Returns the name used on the wire and the command line: the profile's id.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$agent => $id,)*
                }
            }

            /// Returns the display name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$agent => $name,)*
                }
            }

            /// Returns the version that the field table describes.
            pub const fn version(self) -> &'static str {
                match self {
                    $(Self::$agent => $version,)*
                }
            }
        }
    };
}

agents! {
    /// The Agent Skills standard with its client guide.
    AgentSkills = "agentskills", "Agent Skills standard", "69ef37e";
    /// Claude Code.
    ClaudeCode = "claude-code", "Claude Code", "2.1.330";
    /// opencode.
    OpenCode = "opencode", "opencode", "1.18.33";
    /// The opencode-agent-skills plugin.
    OpenCodeAgentSkills = "opencode-agent-skills", "opencode-agent-skills", "0.7.0";
    /// Codex.
    Codex = "codex", "Codex", "0.169.0";
    /// Gemini CLI.
    GeminiCli = "gemini-cli", "Gemini CLI", "0.61.0";
    /// VS Code with Copilot.
    VsCode = "vscode", "VS Code", "documentation of May 2026";
    /// GitHub Copilot CLI.
    CopilotCli = "copilot-cli", "Copilot CLI", "1.0.102";
    /// Qwen Code.
    QwenCode = "qwen-code", "Qwen Code", "0.24.4";
    /// Kilo.
    Kilo = "kilo", "Kilo", "7.7.9";
}

impl Agent {
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
        let expected = ["qoder"];
        assert_eq!(measured, expected);
        assert!(["cursor", "vscode", "kiro"].iter().all(|it| unknown.contains(it)));
    }

    #[test]
    fn profile_variant_maps_to_its_agent() {
        let variant = profile::find("claude-code@founding").unwrap();
        assert_eq!(variant.reader, Some(Agent::ClaudeCode));
    }
}
