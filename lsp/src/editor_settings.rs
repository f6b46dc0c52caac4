//! [`EditorSettings`]: the profiles and severities that the user selects in the editor.

use skills_discovery::levels::Level;

/// The user's settings in the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditorSettings {
    /// The profiles to check; empty for those of the configuration.
    pub(crate) profiles: Vec<String>,
    /// Severity overrides.
    pub(crate) levels: Vec<LevelOverride>,
}

/// The severity of a rule or a family of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelOverride {
    /// The files it applies to; all if `None`.
    pub(crate) glob: Option<String>,
    pub(crate) rule: String,
    pub(crate) level: Level,
}
