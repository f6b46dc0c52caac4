//! Loads a prompt of an MCP server as a skill.
//!
//! The server's text has no placeholders or commands.

use std::collections::BTreeMap;

use skills_agents::field_table::{ARGUMENTS, METADATA};
use skills_agents::fields::{FieldValue, Fields, Pair};
use skills_agents::profile::{Keyword, OutputFormat};
use skills_discovery::discover::{Candidate, PROMPT_ARGUMENT, PROMPT_REQUIRED, address_of};
use skills_engine::{Engine, PromptContent, PromptError, PromptMessage, View};
use skills_protocol::error::RpcError;
use skills_protocol::wire;
use skills_render::named_arguments;

use crate::access::authorize::Permit;
use crate::convert::to_wire;

pub(super) async fn load(
    engine: &Engine,
    view: &View,
    candidate: &Candidate,
    params: &wire::LoadParams,
    format: OutputFormat,
    _permit: &Permit,
) -> Result<wire::LoadResult, RpcError> {
    let PromptArguments { given, missing, warnings } =
        arguments(candidate, params.args.as_deref().unwrap_or_default());
    if !missing.is_empty() {
        return Err(incomplete(candidate, &missing));
    }
    let answer = engine.prompt(&candidate.path, given).await;
    let answer = answer.map_err(|error| failed(&error, candidate))?;
    let messages: Vec<_> = answer.messages.iter().map(message).collect();
    let texts: Vec<_> = messages.iter().map(|it| it.content.as_str()).collect();
    let dir = candidate.dir();
    let name = &candidate.name;
    Ok(wire::LoadResult {
        clock: view.clock.clone(),
        health: to_wire::health(&view.health),
        format: format.keyword().to_owned(),
        title: format!("Loaded skill: {name}"),
        output: texts.join("\n\n"),
        metadata: wire::LoadMetadata {
            name: name.clone(),
            dir: address_of(&dir).unwrap_or_else(|| dir.to_string_lossy().into_owned()),
            success: format.is_claude().then_some(true),
            status: format.is_claude().then_some(wire::LoadStatus::Inline),
            command_name: matches!(format, OutputFormat::Claude | OutputFormat::ClaudeFounding)
                .then(|| name.clone()),
            prompt_messages: messages,
            ..wire::LoadMetadata::default()
        },
        files: Vec::new(),
        commands: Vec::new(),
        warnings,
        hash: candidate.record().map(|it| to_wire::hash(&it.facts.hash)).unwrap_or_default(),
    })
}

/// The arguments of a prompt as given in a call.
#[derive(Default)]
struct PromptArguments {
    given: BTreeMap<String, String>,
    missing: Vec<String>,
    warnings: Vec<String>,
}

/// Assigns words to arguments by position; the last one takes the rest.
fn arguments(candidate: &Candidate, raw: &str) -> PromptArguments {
    let Some(record) = candidate.record() else { return PromptArguments::default() };
    let document = record.document();
    let fields = document.frontmatter.as_ref().map(|it| Fields::new(it, &record.head));
    let names = fields.map(|it| it.list(&ARGUMENTS)).unwrap_or_default();
    let names: Vec<_> = names.into_iter().map(|it| it.text).collect();
    let mut warnings = Vec::new();
    if names.is_empty() && !raw.trim().is_empty() {
        let name = &candidate.name;
        warnings.push(format!("The arguments are ignored: the prompt `{name}` takes none."));
    }
    let given = named_arguments(raw, names.iter().cloned());
    let metadata = fields.and_then(|it| it.read(&METADATA)?.value);
    let Some(FieldValue::Map(metadata)) = metadata else {
        return PromptArguments { given, missing: Vec::new(), warnings };
    };
    let is_missing = |name: &String| {
        let is_required = metadata.iter().any(|it| is_required_argument(it, name));
        is_required && given.get(name).is_none_or(String::is_empty)
    };
    let missing = names.iter().filter(|it| is_missing(it)).cloned().collect();
    PromptArguments { given, missing, warnings }
}

/// Returns whether an entry of a prompt's metadata says that this argument is required.
fn is_required_argument(Pair { key, value }: &Pair, name: &str) -> bool {
    let is_of = key.text.strip_prefix(PROMPT_ARGUMENT).is_some_and(|it| it == name);
    is_of && value.text.starts_with(PROMPT_REQUIRED)
}

fn incomplete(candidate: &Candidate, missing: &[String]) -> RpcError {
    let name = &candidate.name;
    let missing: Vec<_> = missing.iter().map(|it| format!("`{it}`")).collect();
    let word = if missing.len() == 1 { "argument" } else { "arguments" };
    let message = format!("the prompt `{name}` needs the {word} {}", missing.join(", "));
    RpcError::invalid_params(message).with_param("params.args").with_hint(
        "Send them in `args`, in the order of `argument-hint`; `skills/get` describes them.",
    )
}

fn message(message: &PromptMessage) -> wire::PromptMessage {
    let role = if message.assistant { "assistant" } else { "user" };
    let content = match &message.content {
        PromptContent::Text(text) => text.clone(),
        PromptContent::Other(value) => value.to_string(),
    };
    wire::PromptMessage { role: role.to_owned(), content }
}

fn failed(error: &PromptError, candidate: &Candidate) -> RpcError {
    let name = &candidate.name;
    let message = format!("failed to load `{name}`: {error}");
    match error {
        PromptError::Refused { .. } => RpcError::invalid_params(message)
            .with_hint("Send the arguments that it needs; `skills/get` names them."),
        PromptError::TimedOut { .. } => {
            RpcError::timed_out(message).with_hint("Retry, or check the server's own log.")
        }
        PromptError::Unknown | PromptError::Unavailable { .. } => RpcError::internal(message)
            .with_hint("Run `skillsd status` to see the state of the server."),
    }
}
