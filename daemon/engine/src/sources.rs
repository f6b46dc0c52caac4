//! Skills from sources other than the user's directories: bundled skills, registries and prompts
//! of MCP servers.

pub(crate) mod bundled;
pub(crate) mod change_notifier;
pub(crate) mod fetching;
pub(crate) mod mcp_client;
pub(crate) mod registries;
pub(crate) mod source_config;
pub(crate) mod source_limits;
pub(crate) mod source_set;
pub(crate) mod source_status;
pub(crate) mod source_uses;
