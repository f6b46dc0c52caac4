//! What an agent has to do besides reading the text: tools, model, effort, where it runs.

use serde_json::Value as Json;
use skills_agents::field_table::{self, Field};
use skills_agents::fields::{FieldValue, Fields, json};
use skills_agents::profile::OutputFormat;

use super::load::LoadRequest;
use super::skill_file::SkillFile;

/// What comes with a loaded skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The skill's name, as the agent knows it.
    pub name: String,
    /// Its directory.
    pub dir: String,
    /// Where it runs; none where the agent knows one place only.
    pub status: Option<ExecutionContext>,
    /// The command that stands for it, without `/`.
    pub command_name: Option<String>,
    /// Tools that may be used without asking.
    pub allowed_tools: Vec<String>,
    /// Tools that are taken away.
    pub disallowed_tools: Vec<String>,
    /// The model to use; none for the one in use.
    pub model: Option<String>,
    /// How much that model thinks.
    pub effort: Option<String>,
    /// `fork`, where the skill asks for it.
    pub context: Option<String>,
    /// The type of subagent, where it runs in one.
    pub agent: Option<String>,
    /// Whether a subagent runs in the background.
    pub background: Option<bool>,
    /// What is said to the model, in order.
    pub prompt_messages: Vec<PromptMessage>,
    /// The hooks to register, as they are written.
    pub hooks: Option<Json>,
}

/// Where a skill runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionContext {
    /// In the conversation.
    Inline,
    /// In a subagent of its own.
    Forked,
}

/// A message to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: &'static str,
    /// What is said.
    pub content: String,
}

impl PromptMessage {
    fn user(content: String) -> Self {
        Self { role: "user", content }
    }
}

/// The subagent of a skill that asks for one and names none.
const GENERAL: &str = "general-purpose";

/// Returns what comes with a skill whose text is `output`.
pub(super) fn metadata(loading: &LoadRequest<'_>, output: &str) -> Metadata {
    let named = Metadata {
        name: loading.name.to_owned(),
        dir: loading.dir.to_owned(),
        ..Metadata::default()
    };
    match loading.format {
        OutputFormat::Claude | OutputFormat::ClaudeFounding => claude(loading, output, named),
        OutputFormat::AgentSkills | OutputFormat::Raw => {
            Metadata { allowed_tools: list(loading.body, &field_table::ALLOWED_TOOLS), ..named }
        }
        OutputFormat::Opencode
        | OutputFormat::OpencodeFounding
        | OutputFormat::Codex
        | OutputFormat::Gemini
        | OutputFormat::Plugin => named,
    }
}

fn claude(loading: &LoadRequest<'_>, output: &str, named: Metadata) -> Metadata {
    let body = loading.body;
    let context = text(body, &field_table::CONTEXT).filter(|it| it == "fork");
    let model = text(body, &field_table::MODEL).filter(|it| it != "inherit");
    let is_forked = context.is_some();
    let line = format!("<command-name>/{}</command-name>", loading.name);
    let agent = || text(body, &field_table::AGENT).unwrap_or_else(|| GENERAL.to_owned());
    let said = PromptMessage::user(output.to_owned());
    Metadata {
        status: Some(if is_forked { ExecutionContext::Forked } else { ExecutionContext::Inline }),
        command_name: Some(loading.name.to_owned()),
        allowed_tools: list(body, &field_table::ALLOWED_TOOLS),
        disallowed_tools: list(body, &field_table::DISALLOWED_TOOLS),
        model: model.map(|it| with_suffix(it, loading.model)),
        effort: text(body, &field_table::EFFORT),
        agent: is_forked.then(agent),
        background: is_forked.then(|| switch(body, &field_table::BACKGROUND).unwrap_or(true)),
        // A subagent sees the text as its whole task; in the conversation the line that names
        // the skill comes first.
        prompt_messages: if is_forked { vec![said] } else { vec![PromptMessage::user(line), said] },
        hooks: hooks(body),
        context,
        ..named
    }
}

/// The mark of a model with a long context.
const LONG: &str = "[1m]";

/// A model that takes another's place keeps its long context.
fn with_suffix(model: String, before: Option<&str>) -> String {
    let is_long = before.is_some_and(|it| it.trim_end().ends_with(LONG));
    if is_long && !model.ends_with(LONG) { model + LONG } else { model }
}

/// Reads a field, where the agent has it.
fn read(body: &SkillFile, field: &Field) -> Option<FieldValue> {
    if !body.has_fields() {
        return None;
    }
    Fields::new(body.document.frontmatter.as_ref()?, &body.record.head).read(field)?.value
}

fn text(body: &SkillFile, field: &Field) -> Option<String> {
    let text = match read(body, field)? {
        FieldValue::Text(item) | FieldValue::Choice(item) => item.text,
        FieldValue::Integer(integer) => integer.to_string(),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn switch(body: &SkillFile, field: &Field) -> Option<bool> {
    match read(body, field)? {
        FieldValue::Switch(on) => Some(on),
        _ => None,
    }
}

/// Returns the items of a list.
pub(super) fn list(body: &SkillFile, field: &Field) -> Vec<String> {
    match read(body, field) {
        Some(FieldValue::List(items)) => items.into_iter().map(|it| it.text).collect(),
        _ => Vec::new(),
    }
}

fn hooks(body: &SkillFile) -> Option<Json> {
    let Some(FieldValue::Hooks(groups)) = read(body, &field_table::HOOKS) else { return None };
    if groups.is_empty() {
        return None;
    }
    let frontmatter = body.document.frontmatter.as_ref()?;
    let entry = frontmatter.get(field_table::HOOKS.key)?;
    json(frontmatter, &body.record.head, [entry]).into_iter().next().map(|(_, hooks)| hooks)
}
