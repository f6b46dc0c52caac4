//! `search_skills`: finds skills for a task.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use skills_agents::listing::visible_line;
use skills_protocol::method::SkillsSearch;
use skills_protocol::wire::{SearchHit, SearchParams};
use skills_render::escape;

use super::definition::{ToolResult, arguments, object, text};
use crate::context::{McpContext, error_text};

pub(super) const DESCRIPTION: &str = "Finds skills by name and description, best match first. Use it when no skill in the description of the tool `skill` clearly fits, or when that list is shortened.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    limit: Option<u32>,
}

pub(super) fn schema() -> Value {
    let properties = json!({
        "query": {"type": "string", "description": "A few words about the task, or a name."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Maximum number of results; 10 by default."},
    });
    object(&properties, &["query"])
}

pub(super) async fn search(mcp: &McpContext, given: Option<JsonObject>) -> ToolResult {
    let SearchArguments { query, limit } = arguments(given)?;
    let params = SearchParams { query, limit, ..SearchParams::default() };
    let found = mcp.ask::<SkillsSearch>(params).await.map_err(|error| error_text(&error))?;
    if found.skills.is_empty() {
        return Ok(text("No skill matches. Try other words."));
    }
    Ok(text(found.skills.iter().map(hit).collect::<Vec<_>>().join("\n")))
}

fn hit(hit: &SearchHit) -> String {
    let description = hit.skill.description.as_deref().unwrap_or_default();
    let [name, description] = [&hit.skill.name, description].map(|it| escape(&visible_line(it)));
    format!("- {name}: {description}")
}
