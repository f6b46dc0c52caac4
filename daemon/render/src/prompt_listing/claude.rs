//! Renders Claude Code's listing: one line for each skill, within 1 % of the context.

use std::borrow::Cow;

use skills_agents::claude_text;
use unicode_width::UnicodeWidthStr;

use super::budget::{ListingBudget, PromptListing};
use super::listed_skill::ListedSkill;

/// The maximum length of a description, including `when_to_use`; in UTF-16 units today.
const LONGEST: usize = 1536;
const LONGEST_FOUNDING: usize = 250;

/// The budget in characters if the context size is unknown: that of 200,000 tokens.
const FALLBACK: u64 = 8000;

/// The maximum of a budget that follows from the context size.
const LARGEST: u64 = 30_000;

/// The minimum length of a shown description; shorter ones are dropped.
const WORTH: usize = 20;

/// The end of a truncated description.
const ELLIPSIS: char = '…';

/// A line under construction.
struct ListingLine<'a> {
    /// The skill's name, with its label.
    name: Cow<'a, str>,
    /// The shown description; empty for the name alone.
    description: String,
    is_shortened: bool,
}

impl<'a> ListingLine<'a> {
    /// Returns the line of today's listing.
    fn current(skill: &'a ListedSkill<'a>) -> Self {
        let name = match &skill.label {
            Some(label) => format!("{} ({label})", skill.name).into(),
            None => skill.name.into(),
        };
        let description = with_when_to_use(with_note(skill), skill);
        let description = claude_text::shown(&description);
        let mut line = Self { name, description, is_shortened: false };
        let units: Vec<u16> = line.description.encode_utf16().take(LONGEST + 1).collect();
        if units.len() > LONGEST {
            // Half a character becomes U+FFFD.
            line.description = String::from_utf16_lossy(&units[..LONGEST - 1]);
            line.description.push(ELLIPSIS);
            line.is_shortened = true;
        }
        line
    }

    /// Returns the line of the founding documents' listing.
    fn founding(skill: &'a ListedSkill<'a>) -> Self {
        let description = with_when_to_use(skill.description.into(), skill).into_owned();
        let mut line = Self { name: skill.name.into(), description, is_shortened: false };
        line.cut(LONGEST_FOUNDING);
        line
    }

    /// Truncates the description to `longest` characters.
    fn cut(&mut self, longest: usize) {
        if self.description.chars().count() > longest {
            let kept = self.description.chars().take(longest.saturating_sub(1));
            self.description = kept.chain([ELLIPSIS]).collect();
            self.is_shortened = true;
        }
    }

    fn drop_description(&mut self) {
        self.is_shortened |= !self.description.is_empty();
        self.description.clear();
    }

    fn text(&self) -> String {
        let Self { name, description, .. } = self;
        if description.is_empty() {
            format!("- {name}")
        } else {
            format!("- {name}: {description}")
        }
    }

    fn length(&self) -> usize {
        self.text().chars().count()
    }

    /// Returns the number of columns that the line takes in a terminal, by which the agent budgets.
    fn width(&self) -> usize {
        self.text().width()
    }
}

/// Returns the description with the note behind it.
fn with_note<'a>(skill: &'a ListedSkill<'_>) -> Cow<'a, str> {
    let description = claude_text::trim(skill.description);
    match &skill.note {
        Some(note) => format!("{description} {note}").into(),
        None => description.into(),
    }
}

fn with_when_to_use<'a>(description: Cow<'a, str>, skill: &ListedSkill<'_>) -> Cow<'a, str> {
    match skill.when_to_use.as_deref().filter(|it| !it.is_empty()) {
        Some(more) => format!("{description} - {more}").into(),
        None => description,
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

/// The current listing. If it exceeds the budget, the most used skills keep their descriptions,
/// then earlier ones before later ones; each that still fits is kept. Every name stays.
pub(super) fn current(skills: &[ListedSkill<'_>], room: &ListingBudget) -> PromptListing {
    let mut lines: Vec<_> = skills.iter().map(ListingLine::current).collect();
    let budget =
        room.characters.map_or_else(|| budget(room).min(LARGEST as usize), |it| it as usize);
    let mut by_use: Vec<_> = (0..lines.len()).filter(|it| !skills[*it].is_bundled).collect();
    by_use.sort_by(|a, b| skills[*b].use_score.total_cmp(&skills[*a].use_score));
    let width_of_description = |it: &ListingLine<'_>| it.width() - it.name.width() - 2;
    // With the line ends between the lines.
    let whole = lines.iter().map(|it| it.width() + 1).sum::<usize>().saturating_sub(1);
    let sum: usize = by_use.iter().map(|it| width_of_description(&lines[*it])).sum();
    let mut taken = whole - sum;
    for index in by_use {
        let more = width_of_description(&lines[index]);
        if taken + more <= budget {
            taken += more;
        } else {
            lines[index].drop_description();
        }
    }
    finish(&lines)
}

/// The listing of the founding documents. If it exceeds the budget, all descriptions share equally
/// the budget that names and bundled skills leave.
pub(super) fn founding(skills: &[ListedSkill<'_>], room: &ListingBudget) -> PromptListing {
    let mut lines: Vec<_> = skills.iter().map(ListingLine::founding).collect();
    let budget = budget(room);
    if length(&lines) > budget {
        let mut taken = lines.len() - 1;
        let mut n_sharing = 0;
        for (line, skill) in lines.iter().zip(skills) {
            if skill.is_bundled {
                taken += line.length();
            } else {
                // `- `, the name and `: `.
                taken += line.name.chars().count() + 4;
                n_sharing += 1;
            }
        }
        let share = budget.saturating_sub(taken) / usize::max(n_sharing, 1);
        for (line, _) in lines.iter_mut().zip(skills).filter(|it| !it.1.is_bundled) {
            if share < WORTH { line.drop_description() } else { line.cut(share) }
        }
    }
    let PromptListing { text, n_listed, n_shortened, n_omitted } = finish(&lines);
    let text = format!(
        "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n{text}\n</system-reminder>"
    );
    PromptListing { text, n_listed, n_shortened, n_omitted }
}
