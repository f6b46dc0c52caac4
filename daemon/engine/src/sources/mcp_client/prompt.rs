//! Prompts of MCP servers: answers, errors, and prompts as skills.

use std::sync::Arc;

use skills_agents::listing::{has_injection, one_line};
use skills_discovery::discover::{Prompt, ProvidedSkill};
use skills_syntax::invisible_chars;

/// Result of a prompt request.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptAnswer {
    /// The server's description.
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// True for the assistant's role.
    pub assistant: bool,
    /// The content.
    pub content: PromptContent,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum PromptContent {
    /// Text.
    Text(String),
    /// Any other content as its protocol JSON: an image, audio, a resource.
    Other(serde_json::Value),
}

/// Reasons why a prompt request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// The path is not a prompt of a configured server.
    #[error("no configured MCP server has this prompt")]
    Unknown,
    /// The server cannot be reached.
    #[error("the MCP server `{server}` is not available: {why}")]
    Unavailable {
        /// Name of the server.
        server: String,
        /// The reason.
        why: String,
    },
    /// The server returned an error, most often for a missing argument.
    #[error("the MCP server `{server}` returned an error: {why}")]
    Refused {
        /// Name of the server.
        server: String,
        /// The server's message.
        why: String,
    },
    /// The request timed out.
    #[error("the MCP server `{server}` did not answer in time")]
    TimedOut {
        /// Name of the server.
        server: String,
    },
}

/// Describes prompts whose names or descriptions contain invisible characters or forged listings.
pub(super) fn doubt(prompts: &[Prompt]) -> Option<String> {
    let is_doubtful = |it: &&Prompt| {
        let arguments = it.arguments.iter();
        let arguments = arguments.flat_map(|it| [Some(&it.name), it.description.as_ref()]);
        let mut texts = [Some(&it.name), it.description.as_ref()].into_iter().chain(arguments);
        texts.any(|it| {
            it.is_some_and(|it| !invisible_chars::runs(it).is_empty() || has_injection(it))
        })
    };
    let doubtful: Vec<_> = prompts.iter().filter(is_doubtful).collect();
    let name: String = one_line(&doubtful.first()?.name).chars().take(64).collect();
    let count = doubtful.len();
    Some(format!(
        "has {count} prompts with invisible characters or text that imitates a skill listing, for example `{name}`"
    ))
}

/// Returns prompts as skills.
pub(super) fn skills(prompts: &[Prompt]) -> Arc<[ProvidedSkill]> {
    let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
    prompts.iter().map(|it| it.to_skill(hash)).collect()
}
