//! Words of formats, from the wire to the model. The profile table has the words of agents.

use skills_agents::profile::{Keyword, OutputFormat, Profile, ProfileSet};
use skills_engine::View;
use skills_protocol::error::{RpcError, shortened};
use skills_protocol::wire;
use skills_render::prompt_listing::{ListingBudget, ListingFormat};

/// Returns the format of a load that `param` names by its word or by a profile's name; without one,
/// the format of `own`.
pub(crate) fn load(
    word: Option<&str>,
    param: &str,
    own: &Profile,
    profiles: &ProfileSet,
) -> Result<OutputFormat, RpcError> {
    let Some(word) = word else { return Ok(own.output) };
    let of_profile = || profiles.find(word).map(|it| it.output);
    OutputFormat::from_keyword(word)
        .or_else(of_profile)
        .ok_or_else(|| unknown(word, param, &OutputFormat::keywords()))
}

/// Returns the format of a prompt listing that `format` names by its word or by a profile's name;
/// without one, the format of `own`.
pub(crate) fn catalog(
    word: Option<&str>,
    own: &Profile,
    profiles: &ProfileSet,
) -> Result<ListingFormat, RpcError> {
    let Some(word) = word else { return Ok(ListingFormat::of(own.output)) };
    let of_profile = || profiles.find(word).map(|it| ListingFormat::of(it.output));
    ListingFormat::from_word(word)
        .or_else(of_profile)
        .ok_or_else(|| unknown(word, "format", &ListingFormat::words()))
}

fn unknown(word: &str, param: &str, words: &[&str]) -> RpcError {
    let known: Vec<_> = words.iter().map(|it| format!("`{it}`")).collect();
    RpcError::invalid_params(format!("there is no format `{}`", shortened(word)))
        .with_param(format!("params.{param}"))
        .with_hint(format!(
            "The formats are {}, and those of profiles by their names.",
            known.join(", ")
        ))
}

pub(crate) fn invoker(by: Option<wire::By>) -> skills_render::Invoker {
    match by {
        None | Some(wire::By::Model) => skills_render::Invoker::Model,
        Some(wire::By::User) => skills_render::Invoker::User,
    }
}

pub(crate) fn listing_budget(
    view: &View,
    context_tokens: Option<u64>,
    characters: Option<u64>,
    empty_text: Option<bool>,
) -> ListingBudget {
    let limits = view.resolution.listing;
    ListingBudget {
        context_tokens,
        characters,
        fraction: limits.fraction,
        longest: limits.longest,
        empty_text: empty_text.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use skills_agents::profile;

    use super::*;

    fn of(word: &str) -> Result<(OutputFormat, ListingFormat), RpcError> {
        let (own, profiles) = (profile::find("codex").unwrap(), ProfileSet::default());
        Ok((load(Some(word), "format", own, &profiles)?, catalog(Some(word), own, &profiles)?))
    }

    #[test]
    fn name_of_each_profile_selects_its_formats() {
        let mut n_templates = 0;
        for profile in profile::builtin() {
            n_templates += usize::from(matches!(profile.output, OutputFormat::Template(_)));
            let expected = (profile.output, ListingFormat::of(profile.output));
            assert_eq!(of(&profile.id).unwrap(), expected, "{}", profile.id);
        }
        assert!(n_templates > 8, "{n_templates}");
    }

    #[test]
    fn template_has_the_id_of_its_profile_as_word() {
        for profile in profile::agents() {
            if let OutputFormat::Template(template) = profile.output {
                assert_eq!(template.id, profile.id);
                assert_eq!(profile.output.keyword(), profile.id);
            }
        }
    }

    #[test]
    fn unknown_word_is_refused_with_all_words() {
        let own = profile::find("codex").unwrap();
        let error = load(Some("clade"), "style", own, &ProfileSet::default()).unwrap_err();
        assert_eq!(error.message, "there is no format `clade`");
        let data = error.data.unwrap();
        assert_eq!(data.path.as_deref(), Some("params.style"));
        let hint = data.hint.unwrap();
        assert!(hint.contains("`claude@founding`") && hint.contains("`pi`"), "{hint}");
        // The body alone is no listing.
        let error = catalog(Some("raw"), own, &ProfileSet::default()).unwrap_err();
        let hint = error.data.unwrap().hint.unwrap();
        assert!(hint.contains("`skills-ref`") && !hint.contains("`raw`"), "{hint}");
    }
}
