//! Format names, from the wire to the model.

use skills_agents::profile::{Keyword, OutputFormat};
use skills_protocol::wire;
use skills_render::prompt_listing::{ListingBudget, ListingFormat};

/// Returns the format of a load.
pub(crate) fn load(format: wire::LoadFormat) -> OutputFormat {
    match format {
        wire::LoadFormat::Opencode => OutputFormat::Opencode,
        wire::LoadFormat::OpencodeFounding => OutputFormat::OpencodeFounding,
        wire::LoadFormat::Claude => OutputFormat::Claude,
        wire::LoadFormat::ClaudeFounding => OutputFormat::ClaudeFounding,
        wire::LoadFormat::AgentSkills => OutputFormat::AgentSkills,
        wire::LoadFormat::Codex => OutputFormat::Codex,
        wire::LoadFormat::Gemini => OutputFormat::Gemini,
        wire::LoadFormat::Plugin => OutputFormat::Plugin,
        wire::LoadFormat::Raw => OutputFormat::Raw,
        wire::LoadFormat::CopilotCli
        | wire::LoadFormat::QwenCode
        | wire::LoadFormat::Droid
        | wire::LoadFormat::KimiCode
        | wire::LoadFormat::Pi
        | wire::LoadFormat::Openclaw
        | wire::LoadFormat::Cline
        | wire::LoadFormat::Continue
        | wire::LoadFormat::MistralVibe => template(format.as_str()),
    }
}

/// Returns the format of a prompt listing; a profile's name selects its agent's format.
pub(crate) fn catalog(format: wire::CatalogFormat) -> ListingFormat {
    use wire::CatalogFormat as Wire;
    match format {
        Wire::Xml | Wire::AgentSkills => ListingFormat::Xml,
        Wire::Markdown => ListingFormat::Markdown,
        Wire::Claude | Wire::ClaudeCode => ListingFormat::Claude,
        Wire::ClaudeFounding | Wire::ClaudeCodeFounding => ListingFormat::ClaudeFounding,
        Wire::Codex => ListingFormat::Codex,
        Wire::Gemini | Wire::GeminiCli => ListingFormat::Gemini,
        Wire::Plugin | Wire::OpencodeAgentSkills => ListingFormat::Plugin,
        Wire::SkillsRef => ListingFormat::SkillsRef,
        Wire::Json => ListingFormat::Json,
        Wire::Opencode | Wire::Kilo => ListingFormat::Opencode,
        Wire::OpencodeFounding => ListingFormat::OpencodeFounding,
        Wire::CopilotCli
        | Wire::QwenCode
        | Wire::Droid
        | Wire::KimiCode
        | Wire::Pi
        | Wire::Openclaw
        | Wire::Cline
        | Wire::Continue
        | Wire::MistralVibe => ListingFormat::of(template(format.as_str())),
    }
}

/// Returns the format of an agent whose texts are data of the profile table.
fn template(word: &str) -> OutputFormat {
    OutputFormat::from_keyword(word).unwrap_or(OutputFormat::AgentSkills)
}

/// Returns the invoker.
pub(crate) fn by(by: Option<wire::By>) -> skills_render::Invoker {
    match by {
        None | Some(wire::By::Model) => skills_render::Invoker::Model,
        Some(wire::By::User) => skills_render::Invoker::User,
    }
}

/// Returns the budget of a prompt listing.
pub(crate) fn listing_budget(
    context_tokens: Option<u64>,
    characters: Option<u64>,
    empty_text: Option<bool>,
) -> ListingBudget {
    ListingBudget { context_tokens, characters, empty_text: empty_text.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use skills_agents::profile;

    use super::super::super::to_wire::rendered;
    use super::*;

    #[test]
    fn id_of_each_template_is_a_word_of_both_formats_and_maps_back() {
        let mut n_found = 0;
        for profile in profile::builtin() {
            let OutputFormat::Template(template) = profile.output else { continue };
            n_found += 1;
            let of = |word: &str| word == template.id;
            let format = wire::LoadFormat::ALL.iter().find(|it| of(it.as_str()));
            let format = *format.unwrap_or_else(|| panic!("no load format {}", template.id));
            assert_eq!(load(format), profile.output);
            assert_eq!(rendered::format(profile.output), format);
            let style = wire::CatalogFormat::ALL.iter().find(|it| of(it.as_str()));
            let style = *style.unwrap_or_else(|| panic!("no listing style {}", template.id));
            assert_eq!(catalog(style), ListingFormat::Template(&template.listing));
        }
        assert!(n_found > 8, "{n_found}");
    }
}
