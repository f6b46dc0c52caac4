//! Inputs of a profile besides skill directories: configuration files, plugins, extensions,
//! commands. `skills_discovery::discover` acts on them.

use skills_syntax::config_tree::Syntax;

use super::{DisableSwitch, RootBase, Text};

/// One configuration file of an agent, or one family of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsRule {
    /// The base of the relative paths: a directory, or the file itself if the only relative path is
    /// empty.
    pub base: RootBase,
    /// Paths below the base, lowest precedence first.
    pub relative: Vec<Text>,
    /// True if the nearest file of [`RootBase::Ancestors`] is read first, so that the outermost one
    /// has precedence.
    pub nearest_first: bool,
    /// The syntax of the files.
    pub syntax: Syntax,
    /// The settings that are read from them.
    pub reads: Vec<SettingsItem>,
    /// The agent's behaviour if a file cannot be read.
    pub broken: OnBrokenSettings,
    /// True if the agent reads them only in a trusted directory.
    pub needs_trust: bool,
    /// Environment variables that stop the agent from reading them.
    pub switches: Vec<DisableSwitch>,
}

/// A setting that is read from a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsItem {
    /// `skills.paths`: additional directories; the last file's list applies.
    SkillPaths,
    /// `skills.urls`: registries by URL; the last file's list applies.
    SkillUrls,
    /// `permission` and `agent.NAME.permission`: rules in the order of their keys.
    PermissionMap,
    /// `permissions.allow`, `.ask` and `.deny`: rules like `Skill(name)`, from all files.
    PermissionLists,
    /// `skillOverrides`: a state for each name.
    SkillOverrides,
    /// `disableBundledSkills`: disables the agent's own skills.
    BundledSwitch,
    /// `enabledPlugins`: the enabled plugins.
    EnabledPlugins,
    /// `pluginConfigs`: settings of plugins. Read only from the user's and the machine's files,
    /// because a value may become part of a command.
    PluginConfigs,
    /// `skills.disabled`: names in any case, from all files; `skills.enabled`: all of them.
    DisabledSkills,
    /// `[[skills.config]]`: single skills on or off, by path or name.
    SkillsConfig,
    /// `security.folderTrust.enabled`: whether trust is required at all.
    FolderTrust,
    /// The whole file: directories and their trust levels.
    TrustedFolders,
}

/// An agent's behaviour if a configuration file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBrokenSettings {
    /// The agent does not start.
    Refuses,
    /// The agent ignores the file.
    Ignores,
}

/// The form of skills in a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootContent {
    /// A directory with a SKILL.md.
    Skills,
    /// Each Markdown file; its directories below the root are its namespace.
    Commands,
}

/// The location of Gemini CLI's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionRule {
    /// The variable that names the agent's home directory; the user's home directory by default.
    pub variable: Text,
    /// The directory of all extensions, relative to that.
    pub directory: Text,
}

/// An agent's rule for finding Claude Code's plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
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
