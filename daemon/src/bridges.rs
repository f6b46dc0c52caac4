//! Servers that speak other protocols and get their answers from the daemon: LSP and MCP.

pub(crate) mod lsp;
pub(crate) mod mcp;
pub(crate) mod rules_page;
