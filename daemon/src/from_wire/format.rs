//! Words of the wire that say how something is written, as the model knows them.

use skills_agents::profile::Format;
use skills_protocol::wire;
use skills_render::catalog::{CatalogFormat, Room};

/// Returns the format of a load.
pub(crate) fn load(format: wire::LoadFormat) -> Format {
    match format {
        wire::LoadFormat::Opencode => Format::Opencode,
        wire::LoadFormat::OpencodeFounding => Format::OpencodeFounding,
        wire::LoadFormat::Claude => Format::Claude,
        wire::LoadFormat::ClaudeFounding => Format::ClaudeFounding,
        wire::LoadFormat::AgentSkills => Format::AgentSkills,
        wire::LoadFormat::Codex => Format::Codex,
        wire::LoadFormat::Gemini => Format::Gemini,
        wire::LoadFormat::Plugin => Format::Plugin,
        wire::LoadFormat::Raw => Format::Raw,
    }
}

/// Returns the format of a catalog; a profile's name stands for its agent's.
pub(crate) fn catalog(format: wire::CatalogFormat) -> CatalogFormat {
    use wire::CatalogFormat as Wire;
    match format {
        Wire::Xml | Wire::AgentSkills => CatalogFormat::Xml,
        Wire::Markdown => CatalogFormat::Markdown,
        Wire::Claude | Wire::ClaudeCode => CatalogFormat::Claude,
        Wire::ClaudeFounding | Wire::ClaudeCodeFounding => CatalogFormat::ClaudeFounding,
        Wire::Codex => CatalogFormat::Codex,
        Wire::Gemini | Wire::GeminiCli => CatalogFormat::Gemini,
        Wire::Plugin | Wire::OpencodeAgentSkills => CatalogFormat::Plugin,
        Wire::SkillsRef => CatalogFormat::SkillsRef,
        Wire::Json => CatalogFormat::Json,
        Wire::Opencode => CatalogFormat::Opencode,
        Wire::OpencodeFounding => CatalogFormat::OpencodeFounding,
    }
}

/// Returns who asks.
pub(crate) fn by(by: Option<wire::By>) -> skills_render::By {
    match by {
        None | Some(wire::By::Model) => skills_render::By::Model,
        Some(wire::By::User) => skills_render::By::User,
    }
}

/// Returns how much room a catalog has.
pub(crate) fn room(
    context_tokens: Option<u64>,
    characters: Option<u64>,
    empty_text: Option<bool>,
) -> Room {
    Room { context_tokens, characters, empty_text: empty_text.unwrap_or_default() }
}
