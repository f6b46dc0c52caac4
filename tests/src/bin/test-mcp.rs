//! The MCP server that tests configure: what it does is the test kit's.

fn main() {
    skills_testkit::mcp::run();
}
