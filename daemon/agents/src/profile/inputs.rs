//! What else a profile reads besides directories of skills: configuration files, plugins,
//! commands. Statements only; `skills_discovery::discover` acts on them.

use skills_syntax::config_tree::Syntax;

use super::{DisableSwitch, RootBase, Text};

/// One configuration file of an agent, or one family of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsRule {
    /// Where the relative paths start. A directory; where the only relative path is empty, the
    /// file itself.
    pub base: RootBase,
    /// Paths below the base; later ones override earlier ones.
    pub relative: Vec<Text>,
    /// Whether of [`RootBase::Ancestors`] the nearest is read first, so that the outermost overrides.
    pub nearest_first: bool,
    /// How the files are written.
    pub syntax: Syntax,
    /// What is read in them.
    pub reads: Vec<SettingsItem>,
    /// What the agent does when one cannot be read.
    pub broken: OnBrokenSettings,
    /// Whether the agent reads them in a trusted directory only.
    pub needs_trust: bool,
    /// Variables that keep the agent from reading them.
    pub switches: Vec<DisableSwitch>,
}

/// What is read in a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsItem {
    /// `skills.paths`: more directories, the last file's list.
    SkillPaths,
    /// `skills.urls`: catalogs by URL, the last file's list.
    SkillUrls,
    /// `permission` and `agent.NAME.permission`: rules in the order of their keys.
    PermissionMap,
    /// `permissions.allow`, `.ask` and `.deny`: rules like `Skill(name)`, from all files.
    PermissionLists,
    /// `skillOverrides`: a state for each name.
    SkillOverrides,
    /// `disableBundledSkills`: the agent's own skills are off.
    BundledSwitch,
    /// `enabledPlugins`: which plugins count.
    EnabledPlugins,
    /// `pluginConfigs`: what is set for plugins. The user's and the machine's files alone: a value
    /// may stand in a command.
    PluginConfigs,
    /// `skills.disabled`: names in any case, from all files; `skills.enabled`: all of them.
    DisabledSkills,
    /// `[[skills.config]]`: single skills on or off, by path or name.
    SkillsConfig,
    /// `security.folderTrust.enabled`: whether trust is asked for at all.
    FolderTrust,
    /// The whole file: directories and how far each is trusted.
    TrustedFolders,
}

/// What an agent does with a configuration file that it cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBrokenSettings {
    /// It does not start.
    Refuses,
    /// It goes on as if the file were not there.
    Ignores,
}

/// What makes a skill in a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootContent {
    /// A directory with a SKILL.md.
    Skills,
    /// Each Markdown file, its directories below the root being its namespace.
    Commands,
}

/// Where Gemini CLI keeps its extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionRule {
    /// The variable that names the directory that is home to the agent; without it the user's.
    pub variable: Text,
    /// The directory of all extensions, below that.
    pub directory: Text,
}

/// How an agent finds Claude Code's plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRule {
    /// The variable that names Claude Code's own directory, where the agent heeds one; without
    /// it `.claude` below home.
    pub variable: Option<Text>,
    /// Whether a plugin counts only where `enabledPlugins` says so.
    pub enabled_only: bool,
    /// Whether `cache/<plugin>/skills` and `cache/<market>/<plugin>/<version>/skills` count for
    /// themselves, before what is installed.
    pub cache: bool,
    /// Whether plugins' names stand before their skills' names, and after them the directories
    /// between a plugin's directory of skills and the skill.
    pub prefixed: bool,
    /// The keys of a plugin's manifest that name more directories of skills, or of commands
    /// where the key is `commands`. Without any, the manifest is not read.
    pub manifest: Vec<Text>,
    /// Whether a directory with a manifest in a directory of skills is a plugin.
    pub beside_skills: bool,
}
