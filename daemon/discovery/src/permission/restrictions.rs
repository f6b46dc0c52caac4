//! [`Restrictions`]: what an agent's settings keep skills from doing.

use super::rule::{Rule, SourceLocation};

/// Restrictions in all settings files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restrictions {
    /// Rules that deny or ask, each pattern with the tool: `Bash(git push *)`.
    pub shell: Vec<Rule>,
    /// Commands in skills do not run: `disableSkillShellExecution`.
    pub no_shell: Option<Switch>,
    /// Only managed skills have hooks: `allowManagedHooksOnly`, `disableAllHooks`.
    pub managed_hooks: Option<Switch>,
    /// No skill has hooks: `disableAllHooks` in managed settings.
    pub no_hooks: Option<Switch>,
    /// Only rules of managed settings count, and only managed skills have `allowed-tools`:
    /// `allowManagedPermissionRulesOnly`.
    pub managed_rules: Option<Switch>,
    /// Only managed skills and those of plugins are read: `strictPluginOnlyCustomization`.
    pub plugin_skills: Option<Switch>,
    /// Only managed skills and those of plugins have hooks: `strictPluginOnlyCustomization`.
    pub plugin_hooks: Option<Switch>,
    /// Plugins in directories of skills are not read: `strictKnownMarketplaces`,
    /// `blockedMarketplaces`.
    pub no_local_plugins: Option<Switch>,
}

/// A switch that is on, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its key.
    pub key: &'static str,
    /// Its position.
    pub source: SourceLocation,
}

impl Switch {
    /// Returns the switch and its position, as a phrase.
    pub fn shown(&self) -> String {
        let SourceLocation { file, at } = &self.source;
        format!("`{}` in `{}`, line {}", self.key, file.display(), at.line)
    }
}
