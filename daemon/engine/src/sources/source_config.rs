//! [`SourceConfig`]: configuration of external sources of skills: registries, MCP servers and
//! bundled skills.

use std::collections::BTreeMap;
use std::time::Duration;

use skills_config::McpServer;
use skills_discovery::remote::Address;

/// Configuration of sources other than the agents' directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// Profiles that list the bundled skills.
    pub bundled: Vec<String>,
    /// Names of bundled skills to leave out.
    pub bundled_disabled: Vec<String>,
    /// Registries.
    pub remote: RemoteOptions,
    /// MCP servers.
    pub mcp: McpOptions,
}

/// Hosts that are accessed without encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHttp {
    /// This machine only.
    Loopback,
    /// Other machines too.
    Anywhere,
}

/// Configuration of registries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Addresses in the user's configuration.
    pub addresses: Vec<Address>,
    /// Profiles that list them.
    pub profiles: Vec<String>,
    /// Interval between fetches.
    pub interval: Duration,
    /// Hosts that are accessed without encryption.
    pub plain_http: PlainHttp,
}

/// Configuration of MCP servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpOptions {
    /// Servers by name.
    pub servers: BTreeMap<String, McpServer>,
    /// Profiles that list their prompts.
    pub profiles: Vec<String>,
    /// Timeout of a start and of a request.
    pub timeout: Duration,
    /// Time without use after which a server is stopped.
    pub idle: Duration,
}

impl Default for SourceConfig {
    /// Returns a configuration without sources.
    fn default() -> Self {
        let remote = RemoteOptions {
            addresses: Vec::new(),
            profiles: Vec::new(),
            interval: Duration::from_hours(1),
            plain_http: PlainHttp::Loopback,
        };
        let mcp = McpOptions {
            servers: BTreeMap::new(),
            profiles: Vec::new(),
            timeout: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        };
        Self { bundled: Vec::new(), bundled_disabled: Vec::new(), remote, mcp }
    }
}
