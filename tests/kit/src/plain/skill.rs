//! One listed skill.

use std::path::PathBuf;

/// One listed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name used by the agent.
    pub name: String,
    /// Path of its SKILL.md as reached, symbolic links kept.
    pub path: PathBuf,
    /// Description shown to the model.
    pub description: String,
}
