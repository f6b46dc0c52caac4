//! Rules for finding Claude Code's plugins and Gemini CLI's extensions.

use super::text::Text;

/// The location of Gemini CLI's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionRule {
    /// The variable that names the agent's home directory; the user's home directory by default.
    pub variable: Text,
    /// The directory of all extensions, relative to that.
    pub directory: Text,
}

/// An agent's rule for finding Claude Code's plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginRule {
    /// The variable that names Claude Code's configuration directory, if the agent honours one;
    /// `.claude` below home by default.
    pub variable: Option<Text>,
    /// True if a plugin counts only if `enabledPlugins` enables it.
    pub enabled_only: bool,
    /// True if `cache/<plugin>/skills` and `cache/<market>/<plugin>/<version>/skills` are searched
    /// independently, before installed plugins.
    pub cache: bool,
    /// True if skill names are prefixed with the plugin's name and the directories between the
    /// plugin's skill directory and the skill.
    pub prefixed: bool,
    /// The keys of a plugin's manifest that name additional skill directories, or command
    /// directories if the key is `commands`. If empty, the manifest is not read.
    pub manifest: Vec<Text>,
    /// True if a directory with a manifest inside a skill directory is a plugin.
    pub beside_skills: bool,
}

impl PluginRule {
    /// Returns whether manifests and links of plugins count as in Claude Code today.
    pub fn reads_current_manifest(&self) -> bool {
        self.manifest.iter().any(|it| it == "skills")
    }
}
