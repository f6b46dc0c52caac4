//! Renders Claude Code's listing: one line for each skill, within 1 % of the context.

use std::borrow::Cow;

use skills_agents::claude_text;
use skills_agents::field_table::CLAUDE_MAX_DESCRIPTION;
use unicode_width::UnicodeWidthStr;

use super::budget::{ListingBudget, PromptListing};
use super::cost::{EntryCost, ListingCost, ListingForm, ListingUnit, ListingUse};
use super::listed_skill::ListedSkill;

/// The maximum length of a description in the founding version.
const LONGEST_FOUNDING: usize = 250;

/// The budget in characters if the context size is unknown: that of 200,000 tokens.
const FALLBACK: u64 = 8000;

/// The maximum of a budget that follows from the context size.
const LARGEST: u64 = 30_000;

/// The minimum length of a shown description; shorter ones are dropped.
const MIN_DESCRIPTION: usize = 20;

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
    /// Returns the line of today's listing, not yet cut.
    fn current(skill: &'a ListedSkill<'a>) -> Self {
        let name = match &skill.label {
            Some(label) => format!("{} ({label})", skill.name).into(),
            None => skill.name.into(),
        };
        let description = with_when_to_use(with_note(skill), skill);
        let description = claude_text::shown(&description);
        Self { name, description, is_shortened: false }
    }

    /// Returns the line of the founding documents' listing, not yet cut.
    fn founding(skill: &'a ListedSkill<'a>) -> Self {
        let description = with_when_to_use(skill.description.into(), skill).into_owned();
        Self { name: skill.name.into(), description, is_shortened: false }
    }

    /// Truncates the description to the longest of today's listing.
    fn cut_units(&mut self, longest: usize) {
        let units: Vec<u16> =
            self.description.encode_utf16().take(longest.saturating_add(1)).collect();
        if units.len() > longest {
            // Half a character becomes U+FFFD.
            self.description = String::from_utf16_lossy(&units[..longest - 1]);
            self.description.push(ELLIPSIS);
            self.is_shortened = true;
        }
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

    fn form(&self) -> ListingForm {
        match (self.is_shortened, self.description.is_empty()) {
            (false, _) => ListingForm::Whole,
            (true, false) => ListingForm::Shortened,
            (true, true) => ListingForm::Name,
        }
    }
}

/// Measures a text as the agent does for its budget.
type Measure = fn(&str) -> usize;

/// The agent budgets by the columns that a text takes in a terminal.
const COLUMNS: Measure = |text| text.width();

/// The founding documents budget by characters.
const CHARACTERS: Measure = |text| text.chars().count();

/// The lines of a listing after cuts.
pub(super) struct ClaudeListing<'a> {
    lines: Vec<ListingLine<'a>>,
    /// The length of each line before cuts, by the agent's measure.
    whole: Vec<usize>,
    measure: Measure,
    limit: usize,
}

impl<'a> ClaudeListing<'a> {
    fn new(lines: Vec<ListingLine<'a>>, measure: Measure, limit: usize) -> Self {
        let whole = lines.iter().map(|it| measure(&it.text())).collect();
        Self { lines, whole, measure, limit }
    }

    fn length(&self, line: &ListingLine<'_>) -> usize {
        (self.measure)(&line.text())
    }

    /// Returns the length of all lines and the line ends between them.
    fn used(&self) -> usize {
        self.lines.iter().map(|it| self.length(it) + 1).sum::<usize>().saturating_sub(1)
    }

    /// Returns the listing's text and counts.
    pub(super) fn render(&self) -> PromptListing {
        let texts: Vec<_> = self.lines.iter().map(ListingLine::text).collect();
        PromptListing {
            text: texts.join("\n"),
            n_listed: self.lines.len(),
            n_shortened: self.lines.iter().filter(|it| it.is_shortened).count(),
            n_omitted: 0,
        }
    }

    /// Returns the listing in the reminder of the founding documents.
    pub(super) fn render_reminder(&self) -> PromptListing {
        let listing = self.render();
        let text = format!(
            "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n{}\n</system-reminder>",
            listing.text
        );
        PromptListing { text, ..listing }
    }

    /// Returns the costs of the entries. A token is four characters, by the agent's own estimate.
    pub(super) fn cost(&self) -> ListingCost {
        let entry = |(line, whole): (&ListingLine<'_>, &usize)| EntryCost {
            form: line.form(),
            characters: self.length(line) as u64 + 1,
            whole_characters: *whole as u64 + 1,
            tokens: (line.text().chars().count() as u64 + 1).div_ceil(4),
        };
        let (limit, used) = (self.limit as u64, self.used() as u64);
        ListingCost {
            budget: Some(ListingUse { unit: ListingUnit::Characters, limit, used }),
            entries: self.lines.iter().zip(&self.whole).map(entry).collect(),
        }
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

/// Returns a multiple of a number of characters, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is small and the factor positive; the cast saturates"
)]
fn share(characters: usize, factor: f64) -> usize {
    (characters as f64 * factor) as usize
}

/// Returns the current listing. If it exceeds the budget, the most used skills keep their
/// descriptions, then earlier ones before later ones; each that still fits is kept. Every name
/// stays.
pub(super) fn current<'a>(
    skills: &'a [ListedSkill<'a>],
    room: &ListingBudget,
) -> ClaudeListing<'a> {
    let of_context = || {
        let usual = budget(room).min(LARGEST as usize);
        // Measured: the setting replaces 1 % of the context.
        room.fraction.map_or(usual, |it| share(usual, it * 100.0).max(1))
    };
    let limit = room.characters.map_or_else(of_context, |it| it as usize);
    let lines = skills.iter().map(ListingLine::current).collect();
    let mut listing = ClaudeListing::new(lines, COLUMNS, limit);
    let longest = room.longest.filter(|it| *it > 0).unwrap_or(CLAUDE_MAX_DESCRIPTION);
    listing.lines.iter_mut().for_each(|it| it.cut_units(longest));
    let mut by_use: Vec<_> = (0..skills.len()).filter(|it| !skills[*it].is_bundled).collect();
    by_use.sort_by(|a, b| skills[*b].use_score.total_cmp(&skills[*a].use_score));
    // The line without `- ` and the name.
    let width_of_description = |it: &ListingLine<'_>| COLUMNS(&it.text()) - COLUMNS(&it.name) - 2;
    let sum: usize = by_use.iter().map(|it| width_of_description(&listing.lines[*it])).sum();
    let mut taken = listing.used() - sum;
    for index in by_use {
        let line = &mut listing.lines[index];
        let more = width_of_description(line);
        if taken + more <= limit {
            taken += more;
        } else {
            line.drop_description();
        }
    }
    listing
}

/// Returns the listing of the founding documents. If it exceeds the budget, all descriptions share
/// equally the budget that names and bundled skills leave.
pub(super) fn founding<'a>(
    skills: &'a [ListedSkill<'a>],
    room: &ListingBudget,
) -> ClaudeListing<'a> {
    let limit = budget(room);
    let lines = skills.iter().map(ListingLine::founding).collect();
    let mut listing = ClaudeListing::new(lines, CHARACTERS, limit);
    listing.lines.iter_mut().for_each(|it| it.cut(LONGEST_FOUNDING));
    if listing.used() > limit {
        let mut taken = skills.len() - 1;
        let mut n_sharing = 0;
        for (line, skill) in listing.lines.iter().zip(skills) {
            if skill.is_bundled {
                taken += listing.length(line);
            } else {
                // `- `, the name and `: `.
                taken += line.name.chars().count() + 4;
                n_sharing += 1;
            }
        }
        let share = limit.saturating_sub(taken) / usize::max(n_sharing, 1);
        for (line, _) in listing.lines.iter_mut().zip(skills).filter(|it| !it.1.is_bundled) {
            if share < MIN_DESCRIPTION { line.drop_description() } else { line.cut(share) }
        }
    }
    listing
}
