//! `skill`: loads a skill in the format of the profile's agent.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};
use skills_client::ClientError;
use skills_protocol::method::{CatalogTool, SkillsLoad};
use skills_protocol::wire::{By, LoadParams, LoadResult, ShellCommand, ToolParams};

use super::definition::{arguments, object, tool as plain_tool};
use crate::consent::{User, ask_first};
use crate::context::{McpContext, error_text};

pub(super) const SKILL: &str = "skill";

/// Metadata key of the remaining fields of a `skills/load` result, for clients that apply them.
const META: &str = "skillsd/load";

/// Description of the tool if there are no skills.
const NONE: &str = "Loads a skill: instructions for a kind of task, with the files that belong to them. No skills are available now.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadArguments {
    name: String,
    #[serde(default)]
    arguments: Option<String>,
}

pub(super) async fn tool(mcp: &McpContext) -> Result<Tool, ClientError> {
    // One line per skill within a bounded length, because clients truncate long descriptions.
    let params = ToolParams { style: Some("raw".to_owned()), ..ToolParams::default() };
    let described = mcp.ask::<CatalogTool>(params).await?.tool;
    let (description, names) = match described {
        Some(tool) => (tool.description, names(&tool.input_schema)),
        None => (NONE.to_owned(), None),
    };
    let mut name = json!({"type": "string", "description": "The name of the skill."});
    if let Some(names) = names {
        name["enum"] = names;
    }
    let given = "The arguments of the skill, as a user would type them after its name; only if it takes any.";
    let properties = json!({"name": name, "arguments": {"type": "string", "description": given}});
    Ok(plain_tool(SKILL, "Load a skill", description, &object(&properties, &["name"])))
}

/// Returns the skill names in the schema of a described tool.
fn names(schema: &Value) -> Option<Value> {
    let mut properties = schema["properties"].as_object()?.values();
    properties.find_map(|it| it.get("enum").cloned())
}

/// Loads a skill; asks the user first if that needs approval.
pub(super) async fn load(
    mcp: &McpContext,
    given: Option<JsonObject>,
    user: User,
) -> Result<CallToolResponse, String> {
    let LoadArguments { name, arguments } = arguments(given)?;
    let load = async || load_skill(mcp, name.clone(), arguments.clone(), By::Model).await;
    let loaded = match load().await {
        Ok(loaded) => loaded,
        Err(refused) => {
            let asked = ask_first(mcp, user, refused).await.map_err(|error| error_text(&error))?;
            if let Some(question) = asked {
                return Ok(question.into());
            }
            load().await.map_err(|error| error_text(&error))?
        }
    };
    let mut content = vec![ContentBlock::text(&loaded.output)];
    content.extend(notes(&loaded).map(ContentBlock::text));
    Ok(CallToolResult::success(content).with_meta(Some(meta(&loaded))).into())
}

/// Calls `skills/load`. Commands in the skill never run.
pub(crate) async fn load_skill(
    mcp: &McpContext,
    name: String,
    args: Option<String>,
    by: By,
) -> Result<LoadResult, ClientError> {
    let shell = Some(mcp.shell);
    let params =
        LoadParams { name: Some(name), args, by: Some(by), shell, ..LoadParams::default() };
    mcp.ask::<SkillsLoad>(params).await
}

/// Returns notes for the model: warnings, and commands that did not run.
pub(crate) fn notes(loaded: &LoadResult) -> Option<String> {
    let mut notes = loaded.warnings.clone();
    if !loaded.commands.is_empty() {
        let commands: Vec<_> = loaded.commands.iter().map(command).collect();
        notes.push(format!(
            "This skill contains commands that its agent would replace by their output. They have not been run. Run those that you need under your own permissions before you follow the skill:\n{}",
            commands.join("\n")
        ));
    }
    (!notes.is_empty()).then(|| notes.join("\n"))
}

fn command(command: &ShellCommand) -> String {
    let ShellCommand { command, shell, .. } = command;
    format!("```{shell}\n{command}\n```")
}

/// Returns the fields that a capable client may apply: tools, model, hooks, commands.
pub(crate) fn meta(loaded: &LoadResult) -> MetaObject {
    let mut meta = MetaObject::new();
    let LoadResult { format, metadata, commands, warnings, hash, .. } = loaded;
    let rest = json!({
        "format": format,
        "metadata": metadata,
        "commands": commands,
        "warnings": warnings,
        "hash": hash,
    });
    meta.insert(META.to_owned(), rest);
    meta
}
