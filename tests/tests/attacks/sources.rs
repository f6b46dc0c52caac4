//! MCP servers and registries that send without end.
