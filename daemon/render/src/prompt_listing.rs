//! Renders prompt listings: the lists of skills that agents put into their prompts.
//!
//! Discovery selects the skills; this module formats them within the agent's budget, and counts
//! shortened descriptions and omitted skills.

mod budget;
mod claude;
mod codex;
mod cost;
mod listed_skill;
mod lists;
pub mod plugin_search;
pub(crate) mod template;

use serde_json::json;
use skills_agents::profile::template::ListingTemplate;
use skills_agents::profile::{Keyword, OutputFormat};

pub use budget::{ListingBudget, PromptListing};
pub use cost::{EntryCost, ListingCost, ListingForm, ListingUnit, ListingUse};
pub use listed_skill::ListedSkill;
pub(super) use listed_skill::OneLineTexts;
pub(super) use lists::markdown;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingFormat {
    /// The open standard's: indented tags, all values escaped.
    Xml,
    Markdown,
    /// Claude Code's listing.
    Claude,
    /// Claude Code's listing as the founding documents describe it.
    ClaudeFounding,
    /// Codex's developer message.
    Codex,
    /// Gemini CLI's part of the system prompt.
    Gemini,
    /// The listing of opencode-agent-skills.
    Plugin,
    /// The listing of the open standard's reference tool.
    SkillsRef,
    /// opencode's part of the system prompt.
    Opencode,
    /// opencode's as the founding documents describe it.
    OpencodeFounding,
    Json,
    /// The listing of an agent whose texts are data of its row.
    Template(&'static ListingTemplate),
}

impl ListingFormat {
    /// Returns the listing format of an agent that loads skills in `format`.
    pub const fn of(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Opencode => Self::Opencode,
            OutputFormat::OpencodeFounding => Self::OpencodeFounding,
            OutputFormat::Claude => Self::Claude,
            OutputFormat::ClaudeFounding => Self::ClaudeFounding,
            OutputFormat::AgentSkills => Self::Xml,
            OutputFormat::Codex => Self::Codex,
            OutputFormat::Gemini => Self::Gemini,
            OutputFormat::Plugin => Self::Plugin,
            OutputFormat::Raw => Self::Json,
            OutputFormat::Template(it) => Self::Template(&it.listing),
        }
    }

    /// Returns the format with this word: one of [`Self::words`].
    pub fn from_word(word: &str) -> Option<Self> {
        let own = OWN_WORDS.iter().find(|it| it.0 == word).map(|it| it.1);
        let of_agent = || OutputFormat::from_keyword(word).filter(|it| *it != OutputFormat::Raw);
        own.or_else(|| of_agent().map(Self::of))
    }

    /// Returns the words of all formats: those that no agent has, then the agents'.
    pub fn words() -> Vec<&'static str> {
        let raw = OutputFormat::Raw.keyword();
        let of_agents = OutputFormat::keywords().into_iter().filter(|it| *it != raw);
        OWN_WORDS.iter().map(|it| it.0).chain(of_agents).collect()
    }
}

/// Words of the formats that no agent has. `agentskills` is the word of `xml` as an agent's.
const OWN_WORDS: [(&str, ListingFormat); 4] = [
    ("xml", ListingFormat::Xml),
    ("markdown", ListingFormat::Markdown),
    ("skills-ref", ListingFormat::SkillsRef),
    ("json", ListingFormat::Json),
];

impl ListingFormat {
    /// Estimates the tokens of a listing as its agent does: Claude Code at four characters each;
    /// Codex, and skillsd for agents that do not count, at four bytes.
    pub fn estimate_tokens(self, text: &str) -> u64 {
        match self {
            Self::Claude | Self::ClaudeFounding => (text.chars().count() as u64).div_ceil(4),
            Self::Xml
            | Self::Markdown
            | Self::Codex
            | Self::Gemini
            | Self::Plugin
            | Self::SkillsRef
            | Self::Opencode
            | Self::OpencodeFounding
            | Self::Json
            | Self::Template(_) => estimate_tokens(text),
        }
    }
}

/// Estimates a text's tokens, at four bytes each.
pub fn estimate_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// Renders a listing of skills that are in the profile's order.
pub fn write_listing(
    format: ListingFormat,
    skills: &[ListedSkill<'_>],
    room: &ListingBudget,
) -> PromptListing {
    if skills.is_empty() {
        let text = if room.empty_text { empty_text(format) } else { "" };
        return PromptListing { text: text.to_owned(), ..PromptListing::default() };
    }
    let whole = |text| PromptListing { text, n_listed: skills.len(), ..PromptListing::default() };
    let lines;
    let skills = if is_ours(format) {
        lines = OneLineTexts::of(skills);
        &*lines.listed(skills)
    } else {
        skills
    };
    match format {
        ListingFormat::Xml => whole(lists::standard(skills)),
        ListingFormat::Markdown => whole(lists::markdown_escaped(skills)),
        ListingFormat::Claude => claude::current(skills, room).render(),
        ListingFormat::ClaudeFounding => claude::founding(skills, room).render_reminder(),
        ListingFormat::Codex => codex::listing(skills, room).render(),
        ListingFormat::Gemini => whole(lists::gemini(skills)),
        ListingFormat::Plugin => whole(lists::plugin(skills)),
        ListingFormat::SkillsRef => whole(lists::skills_ref(skills)),
        ListingFormat::Opencode => whole(lists::opencode(skills)),
        ListingFormat::OpencodeFounding => whole(lists::opencode_founding(skills)),
        ListingFormat::Json => whole(json_text(skills)),
        ListingFormat::Template(it) => template::listing(it, skills, room).render(),
    }
}

/// Returns the costs of the listing that [`write_listing`] renders in a format that may shorten
/// entries; `None` for the others, whose entries have the costs of [`whole_entry_cost`].
pub fn listing_cost(
    format: ListingFormat,
    skills: &[ListedSkill<'_>],
    room: &ListingBudget,
) -> Option<ListingCost> {
    match format {
        ListingFormat::Claude => Some(claude::current(skills, room).cost()),
        ListingFormat::ClaudeFounding => Some(claude::founding(skills, room).cost()),
        ListingFormat::Codex => Some(codex::listing(skills, room).cost()),
        ListingFormat::Template(it) => Some(template::listing(it, skills, room).cost()),
        ListingFormat::Xml
        | ListingFormat::Markdown
        | ListingFormat::Gemini
        | ListingFormat::Plugin
        | ListingFormat::SkillsRef
        | ListingFormat::Opencode
        | ListingFormat::OpencodeFounding
        | ListingFormat::Json => None,
    }
}

/// Returns the cost of an entry in a listing that shortens none: what a second one adds.
pub fn whole_entry_cost(
    format: ListingFormat,
    skill: &ListedSkill<'_>,
    room: &ListingBudget,
) -> EntryCost {
    let text = |n| write_listing(format, &vec![skill.clone(); n], room).text;
    let (one, two) = (text(1), text(2));
    let characters = (two.chars().count() - one.chars().count()) as u64;
    let tokens = ((two.len() - one.len()) as u64).div_ceil(4);
    let form = ListingForm::Whole;
    EntryCost { form, characters, whole_characters: characters, tokens }
}

/// Returns whether a format is skillsd's own; the others reproduce their agents' output exactly.
fn is_ours(format: ListingFormat) -> bool {
    use ListingFormat::{Json, Markdown, SkillsRef, Xml};
    matches!(format, Xml | Markdown | SkillsRef | Json)
}

/// Returns the agent's text for an empty list, if it has one.
fn empty_text(format: ListingFormat) -> &'static str {
    match format {
        ListingFormat::Opencode => lists::OPENCODE_NONE,
        ListingFormat::OpencodeFounding => lists::OPENCODE_FOUNDING_NONE,
        ListingFormat::SkillsRef => "<available_skills>\n</available_skills>",
        ListingFormat::Json => "[]",
        ListingFormat::Xml
        | ListingFormat::Markdown
        | ListingFormat::Claude
        | ListingFormat::ClaudeFounding
        | ListingFormat::Codex
        | ListingFormat::Gemini
        | ListingFormat::Plugin
        | ListingFormat::Template(_) => "",
    }
}

fn json_text(skills: &[ListedSkill<'_>]) -> String {
    let one = |it: &ListedSkill<'_>| {
        let location = it.path.to_string_lossy();
        json!({"name": it.name, "description": it.description, "location": location})
    };
    let text = skills.iter().map(one).collect::<serde_json::Value>().to_string();
    // These characters occur only inside JSON strings.
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

#[cfg(test)]
mod tests;
