//! The MCP server configured by tests; implemented in the test kit.

fn main() {
    skills_testkit::mcp::run();
}
