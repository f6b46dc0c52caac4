//! Definitions of tools, their arguments as sent by a model, and their results.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Result of a tool, or the error message for the model.
pub(super) type ToolResult = Result<CallToolResult, String>;

/// Returns the definition of a read-only tool that accesses only skills.
pub(super) fn tool(
    name: &'static str,
    title: &str,
    description: impl Into<String>,
    schema: &Value,
) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(name, description.into(), Arc::new(schema)).with_title(title).annotate(annotations)
}

/// Returns the JSON Schema of an object with these properties.
pub(super) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn arguments<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| format!("invalid arguments: {error}"))
}

pub(super) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}
