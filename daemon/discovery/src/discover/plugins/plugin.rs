//! A plugin, its key, and the paths at which it is searched.

use std::collections::BTreeMap;
use std::sync::Arc;

use skills_agents::profile::RootContent;
use skills_syntax::path::{AbsPath, check_component};

use crate::discover::owner::Owner;

/// A plugin that contains skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// Plugin and marketplace name as in settings: `name@market`.
    pub key: String,
    /// Directory of the plugin: `${CLAUDE_PLUGIN_ROOT}` in skills.
    pub root: AbsPath,
    /// Directory for data that survives updates: `${CLAUDE_PLUGIN_DATA}`.
    pub data: Option<AbsPath>,
    /// Values of `${user_config.X}`: the user's options, or the plugin's defaults. Options that the
    /// manifest marks as sensitive are left out.
    pub config: BTreeMap<String, String>,
}

/// A directory or file of a plugin that is searched.
#[derive(Clone, Debug)]
pub(in crate::discover) struct PluginPath {
    pub(in crate::discover) path: AbsPath,
    pub(in crate::discover) root_content: RootContent,
    pub(in crate::discover) form: PluginPathKind,
    /// The reason if it is not searched.
    pub(in crate::discover) off: Option<String>,
    /// The reason if the agent does not trust its folder.
    pub(in crate::discover) trust_reason: Option<String>,
    pub(in crate::discover) plugin: Arc<Plugin>,
    pub(in crate::discover) owner: Owner,
    /// The path that trust is recorded for, if it is not the plugin's own: the worktree that
    /// enables the plugin.
    pub(in crate::discover) trust_path: Option<AbsPath>,
}

/// The way to search a path of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::discover) enum PluginPathKind {
    /// A directory of skills or commands.
    Directory,
    /// A path from the manifest: a directory as in `Directory`, or a skill or command itself.
    FromManifest,
    /// A skill's directory.
    Skill,
}

/// Suggested action for a malformed plugin key.
pub(in crate::discover) const KEY: &str = "Write names without slashes, as `plugin@marketplace`.";

/// Checks a plugin's key, `name@market`: both parts become directories in the plugin cache.
pub(in crate::discover) fn check_key(key: &str) -> Result<(), String> {
    let (name, market) = key.rsplit_once('@').unwrap_or((key, "-"));
    for (what, text) in [("name", name), ("marketplace", market)] {
        check_component(text).map_err(|why| format!("the {what} of the plugin `{key}` {why}"))?;
    }
    Ok(())
}
