//! `completion/complete`: values for a prompt's arguments and for the parts of a resource URI.
//!
//! Values of an argument come from the choices in the skill's `argument-hint` (`add|remove`); those
//! of a URI are skill names and file paths.

use std::collections::HashMap;

use rmcp::ErrorData;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo,
    Reference,
};
use serde_json::{Map, Value};
use skills_client::ClientError;
use skills_protocol::method::{SkillsResources, SkillsUsage};
use skills_protocol::wire::{ResourcesParams, Scope, UsageParams};

use crate::context::{McpContext, error_text};
use crate::names::{SKILL_FILE, TEMPLATE};
use crate::prompts::{ARGUMENTS, names, prompt_error};

/// Returns the matching values in list order.
pub(crate) async fn complete(
    mcp: &McpContext,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let CompleteRequestParams { r#ref, argument, context, .. } = request;
    let values = match &r#ref {
        Reference::Prompt(prompt) => {
            let frontmatter = mcp.frontmatter(&prompt.name).await;
            choices(&frontmatter.map_err(|error| prompt_error(&error))?, &argument)
        }
        Reference::Resource(resource) if resource.uri == TEMPLATE => {
            let offered = complete_uri(mcp, &argument, context).await;
            offered.map_err(|error| prompt_error(&error))?
        }
        Reference::Resource(resource) => {
            let message = format!("`{}` has no arguments; `{TEMPLATE}` has", resource.uri);
            return Err(ErrorData::invalid_params(message, None));
        }
        _ => {
            let message = "only prompts and resource templates have arguments";
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let (n_values, most) = (values.len(), CompletionInfo::MAX_VALUES);
    let shown = values.into_iter().take(most).collect();
    let total = u32::try_from(n_values).ok();
    let info = CompletionInfo::with_pagination(shown, total, n_values > most);
    info.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
}

/// Completes the variables of the file URI template.
async fn complete_uri(
    mcp: &McpContext,
    argument: &ArgumentInfo,
    context: Option<CompletionContext>,
) -> Result<Vec<String>, ClientError> {
    let begins = |it: &String| it.starts_with(&argument.value);
    match &*argument.name {
        "name" => {
            let listed = mcp.listed(&[]).await?;
            let mut names: Vec<_> = listed
                .into_iter()
                .filter(|it| it.scope != Scope::Mcp)
                .map(|it| it.name)
                .filter(begins)
                .collect();
            names.sort_unstable();
            names.dedup();
            // The most used ones first.
            let used = mcp.ask::<SkillsUsage>(UsageParams::default()).await?.skills;
            let mut places = HashMap::new();
            for (place, it) in used.iter().enumerate() {
                places.entry(&*it.name).or_insert(place);
            }
            names.sort_by_cached_key(|it| places.get(&**it).copied().unwrap_or(used.len()));
            Ok(names)
        }
        "path" => {
            let Some(name) = context.and_then(|it| it.arguments?.remove("name")) else {
                return Ok(Vec::new());
            };
            let params = ResourcesParams { name: Some(name), ..ResourcesParams::default() };
            let listed = mcp.ask::<SkillsResources>(params).await.inspect_err(|error| {
                tracing::debug!(why = error_text(error), "cannot complete file paths");
            })?;
            let files = listed.resources.into_iter().map(|it| it.relative);
            Ok([SKILL_FILE.to_owned()].into_iter().chain(files).filter(begins).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns the hint's choices for an argument. In the text of all arguments, the last word is
/// completed.
fn choices(frontmatter: &Map<String, Value>, argument: &ArgumentInfo) -> Vec<String> {
    let hint = frontmatter.get("argument-hint").and_then(Value::as_str).unwrap_or_default();
    let places: Vec<Vec<&str>> = hint.split_whitespace().map(alternatives).collect();
    let (before, begun, nth) = if argument.name == ARGUMENTS {
        let begun = argument.value.rsplit(char::is_whitespace).next().unwrap_or_default();
        let before = &argument.value[..argument.value.len() - begun.len()];
        (before, begun, before.split_whitespace().count())
    } else {
        let nth = names(frontmatter).iter().position(|it| *it == argument.name);
        let Some(nth) = nth else { return Vec::new() };
        ("", argument.value.as_str(), nth)
    };
    let offered = places.get(nth).into_iter().flatten().filter(|it| it.starts_with(begun));
    offered.map(|it| format!("{before}{it}")).collect()
}

/// Splits `[add|remove]` or `<add|remove>`; a word without choices is a placeholder.
fn alternatives(word: &str) -> Vec<&str> {
    let inner = word.trim_matches(['[', ']', '<', '>', '(', ')', '{', '}']);
    if inner.contains('|') {
        inner.split('|').filter(|it| !it.is_empty()).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, expected: &[&str]) {
        let frontmatter =
            json!({"arguments": "what item", "argument-hint": "[add|remove|archive] <item>"});
        let frontmatter = frontmatter.as_object().expect("an object");
        assert_eq!(choices(frontmatter, &ArgumentInfo::new(name, value)), expected);
    }

    #[test]
    fn choices_of_the_argument_hint_are_completed() {
        check("what", "", &["add", "remove", "archive"]);
        check("what", "a", &["add", "archive"]);
        check("item", "", &[]);
        check("nothing", "", &[]);
        check("arguments", "re", &["remove"]);
        check("arguments", "add x", &[]);
        check("arguments", "", &["add", "remove", "archive"]);
    }
}
