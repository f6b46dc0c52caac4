//! Catalogs: the skills that there are, as an agent tells its model of them.
//!
//! What is listed is settled elsewhere; here it is written down, within the room that the agent
//! gives it. Whatever was shortened or left out for want of room is counted.

mod claude;
mod codex;
mod lists;
pub mod plugin_search;

use std::path::Path;

use serde_json::json;
use skills_agents::listing::one_line;
use skills_agents::profile::{OutputFormat, Scope};

use crate::xml::escape;

/// How a catalog is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingFormat {
    /// The open standard's: tags, indented, all values escaped.
    Xml,
    /// A list in Markdown.
    Markdown,
    /// Claude Code's listing.
    Claude,
    /// The same as the founding documents describe it.
    ClaudeFounding,
    /// Codex's developer message.
    Codex,
    /// Gemini CLI's part of the system prompt.
    Gemini,
    /// That of the plugin opencode-agent-skills.
    Plugin,
    /// That of the open standard's reference tool.
    SkillsRef,
    /// opencode's part of the system prompt.
    Opencode,
    /// The same as the founding documents describe it.
    OpencodeFounding,
    /// A JSON array.
    Json,
}

impl ListingFormat {
    /// Returns how an agent that loads skills in this format writes its catalog.
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
        }
    }
}

/// A skill that is listed.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description; empty when there is none.
    pub description: &'a str,
    /// More on when to use it.
    pub when_to_use: Option<String>,
    /// Its SKILL.md.
    pub path: &'a Path,
    /// The root that it was found under.
    pub root: &'a Path,
    /// What kind of place that is.
    pub scope: Scope,
    /// Whether it comes with the agent.
    pub is_bundled: bool,
    /// How often it was used, as far as is known.
    pub n_uses: u64,
}

/// How much room there is, and what is said when there is nothing to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingBudget {
    /// The model's context in tokens, where it is known.
    pub context_tokens: Option<u64>,
    /// The room in characters, in place of the agent's own rule.
    pub characters: Option<u64>,
    /// Whether an empty list gives the agent's own sentence in place of nothing.
    pub empty_text: bool,
}

/// A catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptListing {
    /// What the model reads; empty when there is nothing to list.
    pub text: String,
    /// How many skills it names.
    pub n_listed: usize,
    /// How many descriptions are not whole.
    pub n_shortened: usize,
    /// How many skills are not named.
    pub n_omitted: usize,
}

/// How many tokens a text has, roughly: four bytes each.
pub fn estimate_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// Writes a catalog. The skills come in the order of the profile.
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
        ListingFormat::Claude => claude::today(skills, room),
        ListingFormat::ClaudeFounding => claude::founding(skills, room),
        ListingFormat::Codex => codex::codex(skills, room),
        ListingFormat::Gemini => whole(lists::gemini(skills)),
        ListingFormat::Plugin => whole(lists::plugin(skills)),
        ListingFormat::SkillsRef => whole(lists::skills_ref(skills)),
        ListingFormat::Opencode => whole(lists::opencode(skills)),
        ListingFormat::OpencodeFounding => whole(lists::opencode_founding(skills)),
        ListingFormat::Json => whole(json_text(skills)),
    }
}

/// Returns whether a format is ours; the others are reproduced as their agents write them.
fn is_ours(format: ListingFormat) -> bool {
    use ListingFormat::{Json, Markdown, SkillsRef, Xml};
    matches!(format, Xml | Markdown | SkillsRef | Json)
}

/// The texts of skills, each on one line.
pub(super) struct OneLineTexts(Vec<[String; 3]>);

impl OneLineTexts {
    pub(super) fn of(skills: &[ListedSkill<'_>]) -> Self {
        let one = |it: &ListedSkill<'_>| {
            let when = it.when_to_use.as_deref().unwrap_or_default();
            [it.name, it.description, when].map(one_line)
        };
        Self(skills.iter().map(one).collect())
    }

    /// Makes tags in the texts plain text.
    pub(super) fn escaped(self) -> Self {
        Self(self.0.into_iter().map(|it| it.map(|it| escape(&it))).collect())
    }

    /// Returns the skills with these texts.
    pub(super) fn listed<'a>(&'a self, skills: &[ListedSkill<'a>]) -> Vec<ListedSkill<'a>> {
        let one =
            |(it, [name, description, when]): (&ListedSkill<'a>, &'a [String; 3])| ListedSkill {
                name,
                description,
                when_to_use: it.when_to_use.as_ref().map(|_| when.clone()),
                ..it.clone()
            };
        skills.iter().zip(&self.0).map(one).collect()
    }
}

/// What an agent says when it has no skills, where it says something.
fn empty_text(format: ListingFormat) -> &'static str {
    match format {
        ListingFormat::Opencode | ListingFormat::OpencodeFounding => lists::OPENCODE_NONE,
        ListingFormat::SkillsRef => "<available_skills>\n</available_skills>",
        ListingFormat::Json => "[]",
        ListingFormat::Xml
        | ListingFormat::Markdown
        | ListingFormat::Claude
        | ListingFormat::ClaudeFounding
        | ListingFormat::Codex
        | ListingFormat::Gemini
        | ListingFormat::Plugin => "",
    }
}

fn json_text(skills: &[ListedSkill<'_>]) -> String {
    let one = |it: &ListedSkill<'_>| {
        let location = it.path.to_string_lossy();
        json!({"name": it.name, "description": it.description, "location": location})
    };
    let text = skills.iter().map(one).collect::<serde_json::Value>().to_string();
    // Signs of tags stand in texts alone.
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

pub(super) use lists::{gemini_order, markdown};

#[cfg(test)]
mod tests;
