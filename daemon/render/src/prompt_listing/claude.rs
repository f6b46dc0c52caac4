//! Renders Claude Code's listing: one line for each skill, within 1 % of the context.

use std::borrow::Cow;

use super::budget::{ListingBudget, PromptListing};
use super::listed_skill::ListedSkill;

/// The maximum length of a description, including `when_to_use`.
const LONGEST: usize = 1536;
const LONGEST_FOUNDING: usize = 250;

/// The budget in characters if the context size is unknown: that of 200,000 tokens.
const FALLBACK: u64 = 8000;

/// The minimum length of a shown description; shorter ones are dropped.
const WORTH: usize = 20;

/// The end of a truncated description.
const ELLIPSIS: char = '…';

/// A line under construction.
struct ListingLine<'a> {
    skill: &'a ListedSkill<'a>,
    /// The shown description; empty for the name alone.
    description: Cow<'a, str>,
    is_shortened: bool,
}

impl<'a> ListingLine<'a> {
    fn new(skill: &'a ListedSkill<'a>, longest: usize) -> Self {
        let mut description = Cow::Borrowed(skill.description);
        if let Some(more) = skill.when_to_use.as_deref().filter(|it| !it.trim().is_empty()) {
            description = Cow::Owned(format!("{description} - {more}"));
        }
        let mut line = Self { skill, description, is_shortened: false };
        line.cut(longest);
        line
    }

    /// Truncates the description to `longest` characters.
    fn cut(&mut self, longest: usize) {
        if self.description.chars().count() > longest {
            let kept = self.description.chars().take(longest.saturating_sub(1));
            self.description = kept.chain([ELLIPSIS]).collect::<String>().into();
            self.is_shortened = true;
        }
    }

    fn drop_description(&mut self) {
        self.is_shortened |= !self.description.is_empty();
        self.description = Cow::Borrowed("");
    }

    fn text(&self) -> String {
        let name = self.skill.name;
        if self.description.is_empty() {
            return format!("- {name}");
        }
        format!("- {name}: {}", self.description)
    }

    fn length(&self) -> usize {
        let description = self.description.chars().count();
        let colon = if description == 0 { 0 } else { 2 };
        2 + self.skill.name.chars().count() + colon + description
    }
}

/// Returns the listing's budget in characters.
fn budget(room: &ListingBudget) -> usize {
    let of_context = room.context_tokens.map(|it| it.saturating_mul(4) / 100);
    room.characters.or(of_context).unwrap_or(FALLBACK) as usize
}

fn length(lines: &[ListingLine<'_>]) -> usize {
    // Line ends between the lines.
    lines.iter().map(|it| it.length() + 1).sum::<usize>().saturating_sub(1)
}

fn finish(lines: &[ListingLine<'_>]) -> PromptListing {
    let texts: Vec<_> = lines.iter().map(ListingLine::text).collect();
    PromptListing {
        text: texts.join("\n"),
        n_listed: lines.len(),
        n_shortened: lines.iter().filter(|it| it.is_shortened).count(),
        n_omitted: 0,
    }
}

/// The current listing. If it exceeds the budget, the least used skills lose their descriptions
/// first, later ones before earlier ones. Every name stays.
pub(super) fn current(skills: &[ListedSkill<'_>], room: &ListingBudget) -> PromptListing {
    let mut lines: Vec<_> = skills.iter().map(|it| ListingLine::new(it, LONGEST)).collect();
    let mut by_use: Vec<_> = (0..lines.len()).filter(|it| !skills[*it].is_bundled).collect();
    by_use.sort_by(|a, b| skills[*a].use_score.total_cmp(&skills[*b].use_score).then(b.cmp(a)));
    let mut left = length(&lines);
    for index in by_use {
        if left <= budget(room) {
            break;
        }
        let before = lines[index].length();
        lines[index].drop_description();
        left -= before - lines[index].length();
    }
    finish(&lines)
}

/// The listing of the founding documents. If it exceeds the budget, all descriptions share equally
/// the budget that names and bundled skills leave.
pub(super) fn founding(skills: &[ListedSkill<'_>], room: &ListingBudget) -> PromptListing {
    let mut lines: Vec<_> =
        skills.iter().map(|it| ListingLine::new(it, LONGEST_FOUNDING)).collect();
    let budget = budget(room);
    if length(&lines) > budget {
        let mut taken = lines.len() - 1;
        let mut n_sharing = 0;
        for line in &lines {
            if line.skill.is_bundled {
                taken += line.length();
            } else {
                // `- `, the name and `: `.
                taken += line.skill.name.chars().count() + 4;
                n_sharing += 1;
            }
        }
        let share = budget.saturating_sub(taken) / usize::max(n_sharing, 1);
        for line in lines.iter_mut().filter(|it| !it.skill.is_bundled) {
            if share < WORTH { line.drop_description() } else { line.cut(share) }
        }
    }
    let PromptListing { text, n_listed, n_shortened, n_omitted } = finish(&lines);
    let text = format!(
        "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n{text}\n</system-reminder>"
    );
    PromptListing { text, n_listed, n_shortened, n_omitted }
}
