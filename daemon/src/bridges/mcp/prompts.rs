//! Prompts: each skill that a user may start, with its arguments.
//!
//! They are the user's, so a skill that only the user may start is among them. Where a skill names
//! its arguments each is one of the prompt's; every prompt takes `arguments` besides or instead,
//! the text as it would be typed.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use futures_util::stream;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role,
};
use serde_json::{Map, Value};
use skills_agents::listing::one_line;
use skills_client::ClientError;
use skills_protocol::error::SKILL_NOT_FOUND;
use skills_protocol::wire::{By, Entry, Include};

use super::context::{AT_ONCE, McpContext, refusal, told};
use super::tools::{loaded, meta, notes};

/// The text of all arguments.
pub(super) const ARGUMENTS: &str = "arguments";

/// Lists the skills that a user may start.
pub(super) async fn list(desk: &McpContext) -> Result<Vec<Prompt>, ClientError> {
    let mut entries = desk.listed(&[Include::Hidden]).await?;
    desk.note_listed();
    let mut seen = BTreeSet::new();
    entries.retain(|it| it.user_invocable && seen.insert(it.name.clone()));
    let prompts = stream::iter(entries).map(|entry| prompt(desk, entry)).buffered(AT_ONCE);
    Ok(prompts.collect().await)
}

async fn prompt(desk: &McpContext, entry: Entry) -> Prompt {
    let frontmatter = desk.frontmatter(&entry.name).await.unwrap_or_default();
    let arguments = arguments(&frontmatter);
    let description = entry.description.as_deref().map(one_line);
    Prompt::new(&entry.name, description, Some(arguments)).with_title(one_line(&entry.name))
}

fn arguments(frontmatter: &Map<String, Value>) -> Vec<PromptArgument> {
    let one = |name: &String| PromptArgument::new(name).with_required(false);
    let mut arguments: Vec<_> = names(frontmatter).iter().map(one).collect();
    if !arguments.iter().any(|it| it.name == ARGUMENTS) {
        let hint = frontmatter.get("argument-hint").and_then(Value::as_str);
        let said = match hint {
            Some(hint) => format!("As typed after the skill's name: {}", one_line(hint)),
            None => "As typed after the skill's name.".to_owned(),
        };
        arguments.push(PromptArgument::new(ARGUMENTS).with_description(said).with_required(false));
    }
    arguments
}

/// Returns the arguments that a skill names: a list, or one text with blanks between them.
pub(super) fn names(frontmatter: &Map<String, Value>) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    match frontmatter.get("arguments") {
        Some(Value::String(text)) => words(text),
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Gives a skill to a user who asked for it by name.
pub(super) async fn get(
    desk: &McpContext,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let given = request.arguments.unwrap_or_default();
    let typed = typed(desk, &request.name, &given).await.map_err(|error| refused(&error))?;
    let loaded = loaded(desk, request.name, typed, By::User).await;
    let loaded = loaded.map_err(|error| refused(&error))?;
    let mut messages = vec![PromptMessage::new_text(Role::User, &loaded.output)];
    messages.extend(notes(&loaded).map(|it| PromptMessage::new_text(Role::User, it)));
    let mut result = GetPromptResult::new(messages);
    result.description = Some(loaded.title.clone());
    result.meta = Some(meta(&loaded));
    Ok(result)
}

/// Returns the arguments as they would be typed.
async fn typed(
    desk: &McpContext,
    name: &str,
    given: &JsonObject,
) -> Result<Option<String>, ClientError> {
    let text = |name: &str| given.get(name).map(plain);
    if given.is_empty() || given.keys().all(|it| it == ARGUMENTS) {
        return Ok(text(ARGUMENTS));
    }
    let names = names(&desk.frontmatter(name).await?);
    let values: Vec<_> = names.iter().map(|it| text(it)).collect();
    let last = values.iter().rposition(Option::is_some).map_or(0, |it| it + 1);
    let mut typed: Vec<_> =
        values[..last].iter().map(|it| quoted(it.as_deref().unwrap_or_default())).collect();
    if !names.iter().any(|it| it == ARGUMENTS) {
        typed.extend(text(ARGUMENTS));
    }
    Ok((!typed.is_empty()).then(|| typed.join(" ")))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a value that is read as one argument.
fn quoted(value: &str) -> String {
    let is_plain = !value.is_empty()
        && !value.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    if is_plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "'\\''")) }
}

/// Returns why a prompt is not given.
pub(super) fn refused(error: &ClientError) -> ErrorData {
    match refusal(error) {
        Some(it) => {
            let data = it.data.as_ref().filter(|_| it.code == SKILL_NOT_FOUND);
            let data = data.and_then(|it| serde_json::to_value(it).ok());
            ErrorData::invalid_params(told(error), data)
        }
        None => ErrorData::internal_error(told(error), None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn named_arguments_are_the_prompts_and_all_take_a_text() {
        let said = |value: Value| -> Vec<String> {
            let frontmatter = value.as_object().expect("an object").clone();
            arguments(&frontmatter).into_iter().map(|it| it.name).collect()
        };
        assert_eq!(said(json!({})), ["arguments"]);
        assert_eq!(said(json!({"arguments": "issue branch"})), ["issue", "branch", "arguments"]);
        assert_eq!(said(json!({"arguments": ["arguments", 3]})), ["arguments"]);
    }

    #[test]
    fn a_value_is_one_argument_whatever_is_in_it() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
