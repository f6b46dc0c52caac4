//! Bridges to other protocols: the LSP and MCP servers, both clients of the daemon.

pub(crate) mod lsp;
pub(crate) mod mcp;
