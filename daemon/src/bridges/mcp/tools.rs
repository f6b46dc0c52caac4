//! The four tools: what is said of them, and what they do.
//!
//! What goes wrong is an answer that the model reads, with what to do about it; an error of the
//! protocol is only a tool that is not there.

mod file;
mod load;
mod seek;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool,
    ToolAnnotations,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skills_client::ClientError;

use super::consent::User;
use super::context::McpContext;

pub(super) use load::{loaded, meta, notes};

/// Loads a skill.
const SKILL: &str = "skill";

/// Finds skills.
const SEARCH: &str = "search_skills";

/// Reads a file of a skill.
const READ: &str = "read_skill_file";

/// Says why a skill is there or is not.
const EXPLAIN: &str = "explain_skill";

/// Lists the tools, with the skills as they are now.
pub(super) async fn list(desk: &McpContext) -> Result<Vec<Tool>, ClientError> {
    let skill = load::tool(desk).await?;
    desk.note_listed();
    Ok(vec![
        skill,
        tool(SEARCH, "Search skills", seek::SEARCH, &seek::search_schema()),
        tool(READ, "Read a skill's file", file::READ, &file::schema()),
        tool(EXPLAIN, "Explain a skill", seek::EXPLAIN, &seek::explain_schema()),
    ])
}

/// Calls a tool.
pub(super) async fn call(
    desk: &McpContext,
    request: CallToolRequestParams,
    user: User,
) -> Result<CallToolResponse, ErrorData> {
    let CallToolRequestParams { name, arguments, .. } = request;
    let said = match &*name {
        SKILL => load::load(desk, arguments, user).await,
        SEARCH => seek::search(desk, arguments).await.map(CallToolResponse::from),
        READ => file::read(desk, arguments, user).await,
        EXPLAIN => seek::explain(desk, arguments).await.map(CallToolResponse::from),
        other => {
            let tools = [SKILL, SEARCH, READ, EXPLAIN].join(", ");
            let message = format!("there is no tool `{other}`; the tools are {tools}");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(said.unwrap_or_else(|why| CallToolResult::error(vec![ContentBlock::text(why)]).into()))
}

/// What a tool gives, or why it gives nothing.
type Said = Result<CallToolResult, String>;

/// Returns a tool that changes nothing and looks at nothing but skills.
fn tool(name: &'static str, title: &str, description: impl Into<String>, schema: &Value) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, description.into(), Arc::new(schema)).with_title(title).annotate(annotations)
}

/// Returns the JSON Schema of an object with these properties.
fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Reads what a model sent.
fn arguments<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| format!("the arguments do not fit the tool: {error}"))
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}
