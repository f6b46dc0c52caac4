//! Limits on data from MCP servers and registries, as `docs/sources.md` lists them.
//!
//! The limits of an index (skills, files) are in its reader, `skills_discovery::remote`.

use std::time::Duration;

/// The length of one message of an MCP server, in bytes.
pub(crate) const MCP_MESSAGE_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes that an MCP server may send in [`MCP_PERIOD`], on each of its two outputs.
pub(crate) const MCP_BYTES: u64 = 16 * 1024 * 1024;

/// Messages that an MCP server may send in [`MCP_PERIOD`].
pub(crate) const MCP_MESSAGES: u64 = 5000;

/// The period that bytes and messages are counted in.
pub(crate) const MCP_PERIOD: Duration = Duration::from_mins(1);

/// Pages of one list of prompts.
pub(crate) const MCP_PAGES: usize = 100;

/// Prompts of one MCP server.
pub(crate) const MCP_PROMPTS: usize = 1000;

/// Prompts that are asked of one MCP server at the same time.
pub(crate) const MCP_REQUESTS: usize = 16;

/// The pause between two lists of prompts that the server itself asks for.
pub(crate) const MCP_RELIST_PAUSE: Duration = Duration::from_millis(200);

/// The wait before an MCP server that went over a limit is started again.
pub(crate) const MCP_PENALTY: Duration = Duration::from_mins(5);

/// The length of an index, in bytes.
pub(crate) const INDEX_BYTES: u64 = 1024 * 1024;

/// The length of one file of a registry, in bytes.
pub(crate) const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The length of all that one update fetches, in bytes.
pub(crate) const UPDATE_BYTES: u64 = 64 * 1024 * 1024;

/// The time that one update may take.
pub(crate) const UPDATE_TIME: Duration = Duration::from_mins(2);

/// The time that one file may take.
pub(crate) const FILE_TIME: Duration = Duration::from_secs(20);

/// The time that a connection may take.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Redirects of one file.
pub(crate) const REDIRECTS: usize = 5;

/// Registries in all, from every configuration file.
pub(crate) const MAX_REGISTRIES: usize = 64;

/// Registries that are fetched at the same time.
pub(crate) const FETCHES_AT_ONCE: usize = 4;

/// Skills of one registry that health names as left out.
pub(crate) const REFUSED_SHOWN: usize = 20;
