//! Metadata of a loaded skill ([`Metadata`]): tools, model, effort, execution context, hooks.

use serde_json::Value as Json;
use skills_agents::field_table::hooks::find_kind;
use skills_agents::field_table::{self, Field};
use skills_agents::fields::{FieldValue, Fields, HookGroup, TypeMismatch, json};
use skills_agents::profile::OutputFormat;

use super::load_request::LoadRequest;
use super::skill_file::SkillFile;

/// Settings that the agent applies when it loads a skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The skill's name, as the agent knows it.
    pub name: String,
    pub dir: String,
    /// The execution context; `None` for agents that have only one.
    pub status: Option<ExecutionContext>,
    /// The slash command's name, without `/`.
    pub command_name: Option<String>,
    /// Tools allowed without approval.
    pub allowed_tools: Vec<String>,
    /// Tools disabled while the skill is active.
    pub disallowed_tools: Vec<String>,
    /// The model to use; `None` for the current one.
    pub model: Option<String>,
    /// The model's effort level.
    pub effort: Option<String>,
    /// `fork`, if the skill requests it.
    pub context: Option<String>,
    /// The type of subagent, if the skill runs in one.
    pub agent: Option<String>,
    /// True if a subagent runs in the background.
    pub background: Option<bool>,
    /// Messages to the model, in order.
    pub prompt_messages: Vec<PromptMessage>,
    /// The hooks to register, as written.
    pub hooks: Option<Json>,
}

/// The context in which a skill runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionContext {
    /// The session's own context.
    Inline,
    /// A separate subagent.
    Forked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// The sender's role.
    pub role: &'static str,
    /// The message's text.
    pub content: String,
}

impl PromptMessage {
    fn user(content: String) -> Self {
        Self { role: "user", content }
    }
}

/// The default type of subagent.
const GENERAL: &str = "general-purpose";

/// Returns the metadata of a skill whose rendered text is `output`.
pub(super) fn metadata(loading: &LoadRequest<'_>, output: &str) -> Metadata {
    let base = Metadata {
        name: loading.name.to_owned(),
        dir: loading.dir.to_owned(),
        ..Metadata::default()
    };
    match loading.format {
        OutputFormat::Claude | OutputFormat::ClaudeFounding => claude(loading, output, base),
        OutputFormat::AgentSkills | OutputFormat::Raw | OutputFormat::Template(_) => {
            Metadata { allowed_tools: list(loading.body, &field_table::ALLOWED_TOOLS), ..base }
        }
        OutputFormat::Opencode
        | OutputFormat::OpencodeFounding
        | OutputFormat::Codex
        | OutputFormat::Gemini
        | OutputFormat::Plugin => base,
    }
}

fn claude(loading: &LoadRequest<'_>, output: &str, base: Metadata) -> Metadata {
    let body = loading.body;
    let context = word(body, &field_table::CONTEXT).filter(|it| it == "fork");
    let model = word(body, &field_table::MODEL).filter(|it| it != "inherit");
    let is_forked = context.is_some();
    let line = format!("<command-name>/{}</command-name>", loading.name);
    let agent = || word(body, &field_table::AGENT).unwrap_or_else(|| GENERAL.to_owned());
    let message = PromptMessage::user(output.to_owned());
    Metadata {
        status: Some(if is_forked { ExecutionContext::Forked } else { ExecutionContext::Inline }),
        command_name: Some(loading.name.to_owned()),
        allowed_tools: list(body, &field_table::ALLOWED_TOOLS),
        disallowed_tools: list(body, &field_table::DISALLOWED_TOOLS),
        model: model.map(|it| with_suffix(it, loading.model)),
        effort: word(body, &field_table::EFFORT),
        agent: is_forked.then(agent),
        // The founding document has no background: a fork is awaited.
        background: (is_forked && loading.format == OutputFormat::Claude)
            .then(|| switch(body, &field_table::BACKGROUND).unwrap_or(true)),
        // A subagent receives only the text, as its task. Otherwise the line with the skill's name
        // comes first.
        prompt_messages: if is_forked {
            vec![message]
        } else {
            vec![PromptMessage::user(line), message]
        },
        hooks: hooks(body),
        context,
        ..base
    }
}

/// The suffix of models with a long context.
const LONG: &str = "[1m]";

/// Keeps the long-context suffix of the current model when a skill switches models.
fn with_suffix(model: String, before: Option<&str>) -> String {
    let is_long = before.is_some_and(|it| it.trim_end().ends_with(LONG));
    if is_long && !model.ends_with(LONG) { model + LONG } else { model }
}

/// Reads a field, if the agent has the fields.
fn read(body: &SkillFile, field: &Field) -> Option<FieldValue> {
    if !body.has_fields() {
        return None;
    }
    Fields::new(body.document.frontmatter.as_ref()?, &body.record.head).read(field)?.value
}

/// Returns a word as the agent understands it.
fn word(body: &SkillFile, field: &Field) -> Option<String> {
    if !body.has_fields() {
        return None;
    }
    Fields::new(body.document.frontmatter.as_ref()?, &body.record.head).word(field)
}

fn switch(body: &SkillFile, field: &Field) -> Option<bool> {
    match read(body, field)? {
        FieldValue::Switch(on) => Some(on),
        _ => None,
    }
}

pub(super) fn list(body: &SkillFile, field: &Field) -> Vec<String> {
    match read(body, field) {
        Some(FieldValue::List(items)) => items.into_iter().map(|it| it.text).collect(),
        _ => Vec::new(),
    }
}

/// Returns a sentence for each part of the hooks that has another type than the agent expects.
pub(super) fn hook_faults(body: &SkillFile) -> Vec<String> {
    let fields = body.document.frontmatter.as_ref().filter(|_| body.has_fields());
    let reading =
        fields.and_then(|it| Fields::new(it, &body.record.head).read(&field_table::HOOKS));
    let groups = match reading.as_ref().and_then(|it| it.value.as_ref()) {
        Some(FieldValue::Hooks(groups)) => groups.as_slice(),
        _ => &[],
    };
    let incomplete: Vec<_> = groups.iter().flat_map(incomplete_hooks).collect();
    let faults = reading.map(|it| it.faults).unwrap_or_default();
    let sentence = |it: TypeMismatch| {
        let (expected, found) = (it.expected, it.found.name());
        format!("Its `hooks` have {found} in place of {expected}; that part is ignored.")
    };
    faults.into_iter().map(sentence).chain(incomplete).collect()
}

/// Returns a sentence for each hook of a group that lacks something without which it never runs.
fn incomplete_hooks(group: &HookGroup) -> Vec<String> {
    let event = &group.event.text;
    if !group.has_hooks {
        return vec![format!("A group of its `{event}` hooks has no `hooks` list and is ignored.")];
    }
    let missing = group.handlers.iter().filter_map(|handler| {
        let kind = handler.kind.as_ref().and_then(|it| find_kind(&it.text));
        let Some(kind) = kind else { return Some("type") };
        let mut names = handler.settings.iter().map(|it| &it.0).chain(&handler.mistyped);
        let mut is_missing = |key: &str| match handler.text(key) {
            Some(value) => value.text.trim().is_empty(),
            None => !names.any(|it| it.text == key),
        };
        kind.keys.iter().filter(|it| it.required).map(|it| it.name).find(|it| is_missing(it))
    });
    missing
        .map(|key| format!("One of its `{event}` hooks has no `{key}` and never runs."))
        .collect()
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
