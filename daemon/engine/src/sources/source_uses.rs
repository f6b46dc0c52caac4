//! The external sources (registries, MCP servers, bundled skills) that a view depends on.

use std::collections::BTreeSet;

use skills_discovery::remote::Address;

/// External sources that a view depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceDependencies {
    /// Registries.
    pub(crate) remote: BTreeSet<Address>,
    /// True if it depends on prompts of MCP servers.
    pub(crate) mcp: bool,
}

impl SourceDependencies {
    /// Returns true if a source in use changes by itself.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.mcp || !self.remote.is_empty()
    }
}
