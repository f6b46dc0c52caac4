//! Prompts: one for each skill that a user may invoke, with its arguments.
//!
//! They belong to the user, so skills that only the user may invoke are included. Named arguments
//! of a skill become arguments of the prompt. Every prompt also takes `arguments`, the text as
//! typed.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role,
};
use serde_json::{Map, Value};
use skills_agents::listing::visible_line;
use skills_client::ClientError;
use skills_discovery::discover::{PROMPT_ARGUMENT, PROMPT_REQUIRED};
use skills_protocol::error::SKILL_NOT_FOUND;
use skills_protocol::wire::{By, Entry, Include};

use crate::context::{AT_ONCE, McpContext, error_text, refusal};
use crate::tools::{load_skill, meta, notes};

/// Name of the prompt argument that holds all arguments as one text.
pub(crate) const ARGUMENTS: &str = "arguments";

/// Lists the skills that a user may invoke.
pub(crate) async fn list(mcp: &McpContext) -> Result<Vec<Prompt>, ClientError> {
    let mut entries = mcp.listed(&[Include::Hidden]).await?;
    mcp.note_listed();
    let mut seen = BTreeSet::new();
    entries.retain(|it| it.user_invocable && seen.insert(it.name.clone()));
    let prompts = stream::iter(entries).map(|entry| prompt(mcp, entry)).buffered(AT_ONCE);
    Ok(prompts.collect().await)
}

async fn prompt(mcp: &McpContext, entry: Entry) -> Prompt {
    let frontmatter = mcp.frontmatter(&entry.name).await.unwrap_or_default();
    let arguments = arguments(&frontmatter);
    let description = entry.description.as_deref().map(visible_line);
    Prompt::new(&entry.name, description, Some(arguments)).with_title(visible_line(&entry.name))
}

fn arguments(frontmatter: &Map<String, Value>) -> Vec<PromptArgument> {
    let one =
        |name: &String| PromptArgument::new(name).with_required(is_required(frontmatter, name));
    let mut arguments: Vec<_> = names(frontmatter).iter().map(one).collect();
    if !arguments.iter().any(|it| it.name == ARGUMENTS) {
        let hint = frontmatter.get("argument-hint").and_then(Value::as_str);
        let said = match hint {
            Some(hint) => format!("As typed after the skill's name: {}", visible_line(hint)),
            None => "As typed after the skill's name.".to_owned(),
        };
        arguments.push(PromptArgument::new(ARGUMENTS).with_description(said).with_required(false));
    }
    arguments
}

/// Returns whether an argument belongs to a prompt of another MCP server that requires it.
fn is_required(frontmatter: &Map<String, Value>, name: &str) -> bool {
    let said = &frontmatter.get("metadata").unwrap_or(&Value::Null);
    let said = said[format!("{PROMPT_ARGUMENT}{name}")].as_str();
    said.is_some_and(|it| it.starts_with(PROMPT_REQUIRED))
}

/// Returns a skill's argument names, from a list or a string separated by whitespace.
pub(crate) fn names(frontmatter: &Map<String, Value>) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    match frontmatter.get("arguments") {
        Some(Value::String(text)) => words(text),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

pub(crate) async fn get(
    mcp: &McpContext,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let given = request.arguments.unwrap_or_default();
    let (typed, superfluous) =
        typed_arguments(mcp, &request.name, &given).await.map_err(|error| prompt_error(&error))?;
    let loaded = load_skill(mcp, request.name.clone(), typed, By::User).await;
    let mut loaded = loaded.map_err(|error| prompt_error(&error))?;
    if !superfluous.is_empty() {
        let (names, name) = (superfluous.join("`, `"), &request.name);
        loaded.warnings.push(format!("Ignored: `{name}` has no argument `{names}`."));
    }
    let mut messages = vec![PromptMessage::new_text(Role::User, &loaded.output)];
    messages.extend(notes(&loaded).map(|it| PromptMessage::new_text(Role::User, it)));
    let mut result = GetPromptResult::new(messages);
    result.description = Some(loaded.title.clone());
    result.meta = Some(meta(&loaded));
    Ok(result)
}

/// Returns the arguments as they would be typed, and the names of those that the skill lacks.
async fn typed_arguments(
    mcp: &McpContext,
    name: &str,
    given: &JsonObject,
) -> Result<(Option<String>, Vec<String>), ClientError> {
    let text = |name: &str| given.get(name).map(plain);
    if given.is_empty() || given.keys().all(|it| it == ARGUMENTS) {
        return Ok((text(ARGUMENTS), Vec::new()));
    }
    let names = names(&mcp.frontmatter(name).await?);
    let is_superfluous = |it: &&String| *it != ARGUMENTS && !names.contains(it);
    let superfluous = given.keys().filter(is_superfluous).map(|it| visible_line(it)).collect();
    let values: Vec<_> = names.iter().map(|it| text(it)).collect();
    let last = values.iter().rposition(Option::is_some).map_or(0, |it| it + 1);
    let mut typed: Vec<_> =
        values[..last].iter().map(|it| quote(it.as_deref().unwrap_or_default())).collect();
    if !names.iter().any(|it| it == ARGUMENTS) {
        typed.extend(text(ARGUMENTS));
    }
    Ok(((!typed.is_empty()).then(|| typed.join(" ")), superfluous))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Quotes a value so that it is parsed as one argument.
fn quote(value: &str) -> String {
    let is_plain = !value.is_empty()
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    if is_plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "'\\''")) }
}

pub(crate) fn prompt_error(error: &ClientError) -> ErrorData {
    match refusal(error) {
        Some(it) => {
            let data = it.data.as_ref().filter(|_| it.code == SKILL_NOT_FOUND);
            let data = data.and_then(|it| serde_json::to_value(it).ok());
            ErrorData::invalid_params(error_text(error), data)
        }
        None => ErrorData::internal_error(error_text(error), None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn named_arguments_and_the_text_argument_are_listed() {
        let said = |value: Value| -> Vec<String> {
            let frontmatter = value.as_object().expect("an object").clone();
            arguments(&frontmatter).into_iter().map(|it| it.name).collect()
        };
        assert_eq!(said(json!({})), ["arguments"]);
        assert_eq!(said(json!({"arguments": "issue branch"})), ["issue", "branch", "arguments"]);
        assert_eq!(said(json!({"arguments": ["arguments", 3]})), ["arguments"]);
    }

    #[test]
    fn values_are_quoted_as_one_argument() {
        assert_eq!(quote("plain"), "plain");
        assert_eq!(quote("two words"), "'two words'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), "'it'\\''s'");
    }
}
