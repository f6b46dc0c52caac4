//! State of each registry and MCP server, for `skillsd status`.

use skills_agents::profile::Provider;
use skills_syntax::path::AbsPath;

/// Status of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatus {
    /// Kind of source.
    pub provider: Provider,
    /// Address of the registry, or the configured name of the server.
    pub name: String,
    /// State of the source.
    pub phase: SourcePhase,
    /// Number of its skills.
    pub skills: usize,
    /// Description of a failure, as a sentence fragment.
    pub message: Option<String>,
    /// Path of its files, if it has any.
    pub path: Option<AbsPath>,
}

/// State of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourcePhase {
    /// Not needed yet, or unused for a while.
    #[default]
    Idle,
    /// Being started or fetched for the first time.
    Starting,
    /// Up to date.
    Ready,
    /// Unreachable; its last content is used.
    Stale,
    /// Unreachable, without content.
    Failed,
}
