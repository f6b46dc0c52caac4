//! `skill`: a skill as the profile's agent gives it to its model.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};
use skills_client::ClientError;
use skills_protocol::method::{CatalogTool, SkillsLoad};
use skills_protocol::wire::{By, LoadFormat, LoadParams, LoadResult, ShellCommand, ToolParams};

use super::{SKILL, arguments, object, tool as plain_tool};
use crate::bridges::mcp::consent::{User, ask_first};
use crate::bridges::mcp::context::{McpContext, told};

/// Where the rest of an answer of `skills/load` is, for a client that applies it.
const META: &str = "skillsd/load";

/// What is said where there are no skills.
const NONE: &str = "Loads a skill: instructions for a kind of task, with the files that belong to them. No skills are available here now.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    #[serde(default)]
    arguments: Option<String>,
}

/// Returns the tool with the skills as they are now.
pub(super) async fn tool(desk: &McpContext) -> Result<Tool, ClientError> {
    // One line for each skill, within a bounded room: clients cut long descriptions.
    let params = ToolParams { style: Some(LoadFormat::Claude), ..ToolParams::default() };
    let described = desk.ask::<CatalogTool>(params).await?.tool;
    let (description, names) = match described {
        Some(tool) => (tool.description, names(&tool.input_schema)),
        None => (NONE.to_owned(), None),
    };
    let mut name = json!({"type": "string", "description": "The name of the skill."});
    if let Some(names) = names {
        name["enum"] = names;
    }
    let given = "The arguments of the skill, as a user would type them after its name; only where it takes any.";
    let properties = json!({"name": name, "arguments": {"type": "string", "description": given}});
    Ok(plain_tool(SKILL, "Load a skill", description, &object(&properties, &["name"])))
}

/// Returns the names of a described tool's schema.
fn names(schema: &Value) -> Option<Value> {
    let mut properties = schema["properties"].as_object()?.values();
    properties.find_map(|it| it.get("enum").cloned())
}

/// Loads a skill; the user is asked first where that is wanted.
pub(super) async fn load(
    desk: &McpContext,
    given: Option<JsonObject>,
    user: User,
) -> Result<CallToolResponse, String> {
    let Arguments { name, arguments } = arguments(given)?;
    let load = async || loaded(desk, name.clone(), arguments.clone(), By::Model).await;
    let loaded = match load().await {
        Ok(loaded) => loaded,
        Err(refused) => {
            let asked = ask_first(desk, user, refused).await.map_err(|error| told(&error))?;
            if let Some(question) = asked {
                return Ok(question.into());
            }
            load().await.map_err(|error| told(&error))?
        }
    };
    let mut content = vec![ContentBlock::text(&loaded.output)];
    content.extend(notes(&loaded).map(ContentBlock::text));
    Ok(CallToolResult::success(content).with_meta(Some(meta(&loaded))).into())
}

/// Asks for a skill. Commands in it are never run.
pub(in crate::bridges::mcp) async fn loaded(
    desk: &McpContext,
    name: String,
    args: Option<String>,
    by: By,
) -> Result<LoadResult, ClientError> {
    let shell = Some(desk.shell);
    let params =
        LoadParams { name: Some(name), args, by: Some(by), shell, ..LoadParams::default() };
    desk.ask::<SkillsLoad>(params).await
}

/// Returns what the model has to know besides: what was not run, and what is odd.
pub(in crate::bridges::mcp) fn notes(loaded: &LoadResult) -> Option<String> {
    let mut notes = loaded.warnings.clone();
    if !loaded.commands.is_empty() {
        let commands: Vec<_> = loaded.commands.iter().map(command).collect();
        notes.push(format!(
            "The skill's text holds commands whose output belongs in their place. They have not been run. Run those that you need under your own permissions before you follow the text:\n{}",
            commands.join("\n")
        ));
    }
    (!notes.is_empty()).then(|| notes.join("\n"))
}

fn command(command: &ShellCommand) -> String {
    let ShellCommand { command, shell, .. } = command;
    format!("```{shell}\n{command}\n```")
}

/// Returns what a client may apply that knows how: tools, model, hooks, commands.
pub(in crate::bridges::mcp) fn meta(loaded: &LoadResult) -> MetaObject {
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
