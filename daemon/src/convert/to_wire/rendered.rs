//! Conversion of rendered skills and listings to the wire.

use std::path::Path;

use skills_agents::profile::{Keyword, OutputFormat};
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire;
use skills_render::prompt_listing::{ListingFormat, PromptListing};
use skills_render::{ExecutionContext, LoadedSkill, Metadata, PromptMessage, Tool};

/// Fields of a load result that do not come from the renderer.
pub(crate) struct EventSubject<'a> {
    pub(crate) clock: String,
    pub(crate) health: Vec<wire::Health>,
    pub(crate) format: OutputFormat,
    pub(crate) dir: &'a Path,
    pub(crate) files: Vec<String>,
    pub(crate) hash: String,
    /// The shell that commands are written for.
    pub(crate) shell: String,
    /// Id of a subagent, if one is started.
    pub(crate) agent_id: Option<String>,
}

pub(crate) fn loaded(loaded: LoadedSkill, about: EventSubject<'_>) -> wire::LoadResult {
    let commands = loaded.commands.into_iter().map(|it| wire::ShellCommand {
        id: it.id,
        command: it.command,
        shell: about.shell.clone(),
    });
    wire::LoadResult {
        clock: about.clock,
        health: about.health,
        format: about.format.keyword().to_owned(),
        title: loaded.title,
        output: loaded.output,
        metadata: metadata(loaded.metadata, about.dir, about.format, about.agent_id),
        files: about.files,
        commands: commands.collect(),
        warnings: loaded.warnings,
        hash: about.hash,
    }
}

fn metadata(
    metadata: Metadata,
    dir: &Path,
    format: OutputFormat,
    agent_id: Option<String>,
) -> wire::LoadMetadata {
    let path_encoding = encoding_of([dir]);
    let message =
        |it: PromptMessage| wire::PromptMessage { role: it.role.to_owned(), content: it.content };
    let is_forked = metadata.status == Some(ExecutionContext::Forked);
    wire::LoadMetadata {
        name: metadata.name,
        dir: encode(dir, path_encoding),
        path_encoding,
        success: format.is_claude().then_some(true),
        status: metadata.status.map(|it| match it {
            ExecutionContext::Inline => wire::LoadStatus::Inline,
            ExecutionContext::Forked => wire::LoadStatus::Forked,
        }),
        command_name: metadata.command_name,
        allowed_tools: metadata.allowed_tools,
        disallowed_tools: metadata.disallowed_tools,
        model: metadata.model,
        effort: metadata.effort,
        context: metadata.context,
        agent: metadata.agent,
        agent_id: agent_id.filter(|_| is_forked),
        background: metadata.background,
        prompt_messages: metadata.prompt_messages.into_iter().map(message).collect(),
        hooks: metadata.hooks,
    }
}

pub(crate) struct ListingTotals {
    /// Number of skills, announced before or not.
    pub(crate) n_skills: usize,
    /// True if no skill was announced before.
    pub(crate) is_initial: bool,
}

pub(crate) fn catalog(
    catalog: PromptListing,
    format: ListingFormat,
    totals: &ListingTotals,
    clock: String,
    health: Vec<wire::Health>,
) -> wire::CatalogResult {
    wire::CatalogResult {
        clock,
        health,
        tokens: format.estimate_tokens(&catalog.text),
        text: catalog.text,
        count: catalog.n_listed as u64,
        skill_count: totals.n_skills as u64,
        is_initial: totals.is_initial,
        shortened: catalog.n_shortened as u64,
        omitted: catalog.n_omitted as u64,
    }
}

pub(crate) fn tool(tool: Tool) -> wire::SkillTool {
    wire::SkillTool {
        name: tool.name.to_owned(),
        description: tool.description,
        input_schema: tool.schema,
    }
}
