//! [`Settings`]: the profiles and rule levels that a text is checked with.

use skills_agents::profile::{self, DEFAULT_PROFILES, Profile};
use skills_discovery::levels::{ConfiguredLevels, Level};
use skills_syntax::path::AbsPath;

use super::finding::Finding;

/// The profiles and rule levels that a text is checked with.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    pub profiles: Vec<&'a Profile>,
    /// Severities that the configuration sets, by rule and path.
    pub levels: ConfiguredLevels,
}

impl Default for Settings<'static> {
    fn default() -> Self {
        let profiles = DEFAULT_PROFILES.iter().filter_map(|it| profile::find(it));
        Self { profiles: profiles.map(|it| &**it).collect(), levels: ConfiguredLevels::default() }
    }
}

impl Settings<'_> {
    /// Applies the configured levels to the findings of the file at `path`. Removes findings at
    /// level `off`.
    pub(super) fn apply_levels(&self, path: Option<&AbsPath>, findings: &mut Vec<Finding>) {
        findings.retain_mut(|finding| match self.levels.level(finding.rule.id.as_str(), path) {
            Some(Level::Off) => false,
            Some(Level::As(severity)) => {
                finding.diagnostic.severity = severity;
                true
            }
            None => true,
        });
    }
}
