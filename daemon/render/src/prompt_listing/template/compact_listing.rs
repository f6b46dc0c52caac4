//! Listings that are cut as a whole ([`CompactListing`]): those of OpenClaw.
//!
//! The steps are those of the agent's source, because the length to which descriptions are cut
//! depends on them.

use std::borrow::Cow;

use skills_agents::listing::one_line;
use skills_agents::profile::template::{CompactListing, ListingTemplate};

use super::template_entry::{TemplateEntry, entry, units};
use crate::prompt_listing::ListingForm;
use crate::template::fill;

/// The text before the entries of a listing that was cut.
pub(super) struct CutListing {
    pub(super) head: Cow<'static, str>,
    /// The length of the listing without its entries and the line breaks after them.
    pub(super) around: usize,
}

/// Form of all descriptions: whole, or at most of a length, 0 for none.
type Descriptions = Option<usize>;

/// Cuts the entries so that the listing has at most `most` UTF-16 units.
pub(super) fn cut(
    template: &ListingTemplate,
    compact: &CompactListing,
    entries: &mut [TemplateEntry<'_>],
    most: usize,
) -> CutListing {
    let listing = Listing { template, compact, n_all: entries.len(), entries };
    let fits = |n: usize, form, with_note| listing.length(n, form, with_note) <= most;
    let n_first = listing.n_all.min(compact.most);
    let (n_listed, form, with_note) = if fits(n_first, None, true) {
        (n_first, None, true)
    } else {
        let mut n_listed = last(0, n_first, |n| fits(n, Some(0), true));
        if n_listed == 0 && fits(n_first, None, false) {
            (n_first, None, false)
        } else {
            if n_listed == 0 {
                n_listed = last(0, n_first, |n| fits(n, Some(0), false));
            }
            let with_note = fits(n_listed, Some(0), true);
            let (least, longest) = compact.lengths;
            let can_cut = n_listed > 0 && fits(n_listed, Some(least), with_note);
            let length = if can_cut {
                last(least, longest, |length| fits(n_listed, Some(length), with_note))
            } else {
                0
            };
            // Without room for the note alone, there is no list.
            (n_listed, Some(length), with_note)
        }
    };
    let note = if with_note { listing.note(n_listed, form) } else { String::new() };
    let head = if n_listed == 0 { "" } else { listing.head(form) };
    let texts: Vec<_> = entries.iter().take(n_listed).map(|it| text(template, it, form)).collect();
    for (nth, it) in entries.iter_mut().enumerate() {
        let Some(text) = texts.get(nth) else {
            (it.form, it.text) = (ListingForm::Omitted, String::new());
            continue;
        };
        it.form = match form {
            None => continue,
            Some(0) => ListingForm::Name,
            Some(length) if units(&one_line(it.skill.description)) > length => {
                ListingForm::Shortened
            }
            Some(_) => ListingForm::Whole,
        };
        it.text.clone_from(text);
    }
    let tail = if n_listed == 0 { 0 } else { units(template.tail) };
    let gap = units(compact.gap);
    let around = if note.is_empty() { gap - 1 } else { units(&note) + gap };
    let around = (around + units(head) + tail).saturating_sub(1);
    let head = match (note.is_empty(), n_listed) {
        (true, _) => head.to_owned(),
        (false, 0) => note,
        (false, _) => note + compact.gap + head,
    };
    CutListing { head: head.into(), around }
}

/// Returns the last number from `low` to `high` that fits, by halves; `low` if none does.
fn last(mut low: usize, mut high: usize, fits: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn shortened(description: &str, length: usize) -> String {
    let text = one_line(description);
    if units(&text) <= length {
        return text;
    }
    let (room, end) = if length <= 3 { (length, "") } else { (length - 3, "...") };
    let mut used = 0;
    let kept = text.chars().take_while(|it| {
        used += it.len_utf16();
        used <= room
    });
    let kept: String = kept.collect();
    if end.is_empty() { kept } else { format!("{}{end}", kept.trim_end()) }
}

fn text(template: &ListingTemplate, it: &TemplateEntry<'_>, form: Descriptions) -> String {
    let Some(length) = form else { return it.text.clone() };
    let description = shortened(it.skill.description, length);
    entry(template, it.skill, &description, None)
}

/// A listing under construction.
struct Listing<'a> {
    template: &'a ListingTemplate,
    compact: &'a CompactListing,
    n_all: usize,
    entries: &'a [TemplateEntry<'a>],
}

impl Listing<'_> {
    fn head(&self, form: Descriptions) -> &'static str {
        match form {
            None => self.template.head,
            Some(0) => self.compact.head_of_names,
            Some(_) => self.compact.head,
        }
    }

    /// Returns the note before a list of the first `n_listed` skills.
    fn note(&self, n_listed: usize, form: Descriptions) -> String {
        let (shortened, omitted) = self.compact.words;
        let descriptions = if form == Some(0) { omitted } else { shortened };
        let with =
            |text: &str| fill(text, |it| (it == "descriptions").then(|| descriptions.into()));
        if n_listed < self.n_all {
            return fill(self.compact.omits, |word| match word {
                "listed" => Some(n_listed.to_string().into()),
                "all" => Some(self.n_all.to_string().into()),
                "form" if form.is_none() => Some("".into()),
                "form" => Some(with(self.compact.form).into()),
                _ => None,
            });
        }
        if form.is_some() { with(self.compact.cuts) } else { String::new() }
    }

    /// Returns the length of the listing of the first `n_listed` skills.
    fn length(&self, n_listed: usize, form: Descriptions, with_note: bool) -> usize {
        let Self { template, compact, entries, .. } = self;
        let note = if with_note { units(&self.note(n_listed, form)) } else { 0 };
        if n_listed == 0 {
            return note;
        }
        let texts = entries.iter().take(n_listed).map(|it| units(&text(template, it, form)));
        let texts = texts.sum::<usize>() + (n_listed - 1) * units(template.separator);
        let gap = units(compact.gap) - usize::from(note == 0);
        note + gap + units(self.head(form)) + texts + units(template.tail)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use skills_agents::profile::{self, Scope};

    use super::*;
    use crate::prompt_listing::{ListedSkill, ListingBudget, ListingFormat, write_listing};

    /// Lengths and notes of the agent's own function, run with the same skills. The texts were
    /// equal.
    #[test]
    fn list_over_the_limit_is_cut_as_openclaw_cuts_it() {
        let profile = profile::find("openclaw").unwrap();
        let shortened = "compact format (descriptions shortened)";
        let omitted = "compact format (descriptions omitted)";
        for (n, length, expected, note, n_listed, n_shortened) in [
            (10, 50, 2303, "", 10, 0),
            (60, 300, 17891, shortened, 60, 60),
            (100, 300, 17991, shortened, 100, 100),
            (150, 40, 14864, omitted, 150, 150),
            (
                160,
                20,
                14882,
                "included 150 of 160 (compact format, descriptions omitted)",
                150,
                150,
            ),
            (
                200,
                500,
                14882,
                "included 150 of 200 (compact format, descriptions omitted)",
                150,
                150,
            ),
            (140, 0, 13904, omitted, 140, 140),
        ] {
            let names: Vec<_> = (0..n).map(|nth| format!("skill-{nth:03}")).collect();
            let description = |nth: usize| {
                let text = format!("Number {nth} {}", "word ".repeat(200));
                text[..text.len().min(length + (nth * 7) % 40)].trim().to_owned()
            };
            let descriptions: Vec<_> = (0..n).map(description).collect();
            let paths: Vec<_> = names.iter().map(|it| format!("/h/s/{it}/SKILL.md")).collect();
            let skills = (0..n).map(|nth| ListedSkill {
                name: &names[nth],
                label: None,
                description: &descriptions[nth],
                note: None,
                when_to_use: None,
                path: Path::new(&paths[nth]),
                home: Some(Path::new("/h")),
                root: Path::new("/h/s"),
                shown: None,
                scope: Scope::User,
                is_bundled: false,
                use_score: 0.0,
            });
            let skills: Vec<_> = skills.collect();
            let format = ListingFormat::of(profile.output);
            let listing = write_listing(format, &skills, &ListingBudget::default());
            // Without a note the list begins with two line breaks, which are not ours.
            let before = if note.is_empty() { 2 } else { 0 };
            assert_eq!(units(&listing.text) + before, expected, "{n} {length}");
            assert!(listing.text.lines().next().unwrap().contains(note), "{n} {length}");
            let counts = (listing.n_listed, listing.n_shortened, listing.n_omitted);
            assert_eq!(counts, (n_listed, n_shortened, n - n_listed), "{n} {length}");
        }
    }
}
