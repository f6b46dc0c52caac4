//! The four MCP tools that the bridge offers to a model: definitions and calls.
//!
//! Failures are tool results with a message and a hint for the model; only an unknown tool is a
//! protocol error.

mod definition;
mod explain;
mod file;
mod load;
mod search;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Tool};
use skills_client::ClientError;

use crate::consent::User;
use crate::context::McpContext;
use definition::tool;
use load::SKILL;

pub(crate) use load::{load_skill, meta, notes};

const SEARCH: &str = "search_skills";

const READ: &str = "read_skill_file";

const EXPLAIN: &str = "explain_skill";

/// Lists the tools, with the current skills.
pub(crate) async fn list(mcp: &McpContext) -> Result<Vec<Tool>, ClientError> {
    let skill = load::tool(mcp).await?;
    mcp.note_listed();
    Ok(vec![
        skill,
        tool(SEARCH, "Search skills", search::DESCRIPTION, &search::schema()),
        tool(READ, "Read a skill's file", file::READ, &file::schema()),
        tool(EXPLAIN, "Explain a skill", explain::DESCRIPTION, &explain::schema()),
    ])
}

pub(crate) async fn call(
    mcp: &McpContext,
    request: CallToolRequestParams,
    user: User,
) -> Result<CallToolResponse, ErrorData> {
    let CallToolRequestParams { name, arguments, .. } = request;
    let said = match &*name {
        SKILL => load::load(mcp, arguments, user).await,
        SEARCH => search::search(mcp, arguments).await.map(CallToolResponse::from),
        READ => file::read(mcp, arguments, user).await,
        EXPLAIN => explain::explain(mcp, arguments).await.map(CallToolResponse::from),
        other => {
            let tools = [SKILL, SEARCH, READ, EXPLAIN].join(", ");
            let message = format!("unknown tool `{other}`; the tools are {tools}");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(said.unwrap_or_else(|why| CallToolResult::error(vec![ContentBlock::text(why)]).into()))
}
