//! Listings of agents whose formats are data of the profile table
//! ([`ListingTemplate`]).

mod compact_listing;
mod template_entry;

use std::borrow::Cow;

use skills_agents::listing::one_line;
use skills_agents::profile::Scope;
use skills_agents::profile::template::{
    BlanksRule, ListingLimit, ListingOrder, ListingTemplate, Overflow,
};

use self::template_entry::{TemplateEntry, category, entry, units};
use crate::locale;
use crate::prompt_listing::{
    EntryCost, ListedSkill, ListingBudget, ListingCost, ListingForm, ListingUnit, ListingUse,
    PromptListing,
};
use crate::template::{escape, fill, scope_word};

pub(crate) struct TemplateListing<'a> {
    template: &'static ListingTemplate,
    entries: Vec<TemplateEntry<'a>>,
    limit: Option<usize>,
    /// The text before the first skill.
    head: Cow<'static, str>,
    /// The part of the limit that the text around the entries takes, if it counts.
    around: Option<usize>,
}

/// Sorts entries by name within their scopes, and the user's within their directories. The scopes
/// keep their order.
fn sort_in_scopes(entries: &mut [TemplateEntry<'_>]) {
    let group =
        |it: &ListedSkill<'_>| (it.scope, (it.scope == Scope::User).then(|| it.root.to_owned()));
    let mut groups = Vec::new();
    for entry in &*entries {
        let group = group(entry.skill);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    entries.sort_by_cached_key(|it| {
        let group = group(it.skill);
        (groups.iter().position(|it| *it == group), it.skill.name)
    });
}

/// Returns the listing, cut to the agent's limit.
pub(crate) fn listing<'a>(
    template: &'static ListingTemplate,
    skills: &'a [ListedSkill<'a>],
    room: &ListingBudget,
) -> TemplateListing<'a> {
    let entry = |(index, skill): (usize, &'a ListedSkill<'a>)| {
        let (description, is_cut) = description(template, skill);
        let text = entry(template, skill, &description, skill.when_to_use.as_deref());
        let n_cut =
            if is_cut { units(skill.description).saturating_sub(units(&description)) } else { 0 };
        let form = if is_cut { ListingForm::Shortened } else { ListingForm::Whole };
        TemplateEntry { skill, index, whole: units(&text) + 1 + n_cut, text, form }
    };
    let mut entries: Vec<_> = skills.iter().enumerate().map(entry).collect();
    match template.order {
        ListingOrder::AsFound => {}
        ListingOrder::ByName => {
            entries.sort_by(|a, b| locale::compare(a.skill.name, b.skill.name));
        }
        ListingOrder::ByNameInScopes => sort_in_scopes(&mut entries),
        ListingOrder::ByCategory => {
            entries.sort_by_cached_key(|it| (category(it.skill), it.skill.name));
        }
    }
    if template.heading.contains("{scope}") {
        let place = |it: &TemplateEntry<'_>| {
            let word = scope_word(template.scopes, it.skill.scope);
            template.scopes.iter().position(|(_, other)| *other == word)
        };
        entries.sort_by_key(place);
    }
    let (mut head, mut around) = (template.head.into(), None);
    let limit = template.limit.as_ref().map(|limit| {
        let most = characters(limit, room);
        if let Overflow::Compact(compact) = limit.overflow {
            let cut = compact_listing::cut(template, compact, &mut entries, most);
            (head, around) = (cut.head, Some(cut.around));
        } else {
            cut(template, limit, &mut entries, most.saturating_add(limit.uncounted()));
        }
        most
    });
    TemplateListing { template, entries, limit, head, around }
}

/// Returns the limit for all skills that are not the agent's own.
fn characters(limit: &ListingLimit, room: &ListingBudget) -> usize {
    let of_context = room.context_tokens.zip(limit.per_100_tokens);
    let of_context =
        of_context.map(|(tokens, share)| (tokens as usize).saturating_mul(share) / 100);
    let all = of_context.unwrap_or(limit.characters).saturating_sub(limit.built_in);
    room.characters.map_or(all, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

/// Returns a description as the agent shows it, and whether it is cut.
fn description(template: &ListingTemplate, skill: &ListedSkill<'_>) -> (String, bool) {
    let text = match skill.description {
        "" => template.no_description.to_owned(),
        text => match template.blanks {
            BlanksRule::Kept => text.to_owned(),
            BlanksRule::Trimmed => text.trim().to_owned(),
            BlanksRule::Collapsed => one_line(text),
        },
    };
    match template.longest {
        Some((longest, end)) if units(&text) > longest => {
            let path = || Some(skill.path.to_string_lossy());
            let note = fill(end, |word| (word == "path").then(path).flatten());
            let room = longest.saturating_sub(units(&note));
            let (before, after) =
                if end.contains("{path}") { (room.div_ceil(2), room / 2) } else { (room, 0) };
            let end = units(&text) - after;
            let mut at = 0;
            let mut place = |it: &char| {
                at += it.len_utf16();
                at
            };
            let places: Vec<_> = text.chars().map(|it| (place(&it), it)).collect();
            let head = places.iter().take_while(|it| it.0 <= before).map(|it| it.1);
            let tail = places.iter().filter(|it| it.0 > end).map(|it| it.1);
            (head.chain(note.chars()).chain(tail).collect(), true)
        }
        _ => (text, false),
    }
}

/// Cuts the entries to the limit.
fn cut(
    template: &ListingTemplate,
    limit: &ListingLimit,
    entries: &mut [TemplateEntry<'_>],
    most: usize,
) {
    let all: usize = entries.iter().map(TemplateEntry::length).sum();
    if all <= most {
        return;
    }
    match limit.overflow {
        // Cut as a whole, by `compact_listing`.
        Overflow::Compact(_) => {}
        Overflow::NamesAfter(_) => {
            let mut used = 0;
            let mut fits = true;
            for entry in entries {
                used += entry.length();
                fits &= used <= most;
                if !fits {
                    entry.text = escape(template.escape, entry.skill.name).into_owned();
                    entry.form = ListingForm::Name;
                }
            }
        }
        Overflow::NameOnly(short) => {
            let name = |it: &TemplateEntry<'_>| {
                fill(short, |word| (word == "name").then(|| escape(template.escape, it.skill.name)))
            };
            let mut used: usize = entries.iter().map(|it| units(&name(it)) + 1).sum();
            for entry in entries {
                let short = name(entry);
                let more = entry.length() - (units(&short) + 1);
                if used + more <= most {
                    used += more;
                } else {
                    entry.text = short;
                    entry.form = ListingForm::Name;
                }
            }
        }
        Overflow::FirstLines => {
            for it in entries {
                let first = it.skill.description.split('\n').next().unwrap_or_default().trim();
                let text = entry(template, it.skill, first, None);
                if text != it.text {
                    it.text = text;
                    it.form = ListingForm::Shortened;
                }
            }
        }
    }
}

impl TemplateListing<'_> {
    /// Returns the listing's text and counts.
    pub(crate) fn render(&self) -> PromptListing {
        let Self { template, entries, .. } = self;
        let mut texts: Vec<String> = Vec::new();
        let mut named = Vec::new();
        let mut last = None;
        let after = template.limit.as_ref().and_then(|it| match it.overflow {
            Overflow::NamesAfter(text) => Some(text),
            Overflow::NameOnly(_) | Overflow::FirstLines | Overflow::Compact(_) => None,
        });
        let n_omitted = entries.iter().filter(|it| it.form == ListingForm::Omitted).count();
        let n_listed = entries.len() - n_omitted;
        for entry in entries.iter().take(n_listed) {
            if entry.form == ListingForm::Name && after.is_some() {
                named.push(&*entry.text);
                continue;
            }
            let heading = fill(template.heading, |it| match it {
                "scope" => Some(scope_word(template.scopes, entry.skill.scope).into()),
                "category" => Some(category(entry.skill).into()),
                _ => None,
            });
            let is_next = last.as_ref() != Some(&heading);
            texts.push(format!("{}{}", if is_next { &heading } else { "" }, entry.text));
            last = Some(heading);
        }
        if let (Some(after), false) = (after, named.is_empty()) {
            texts.push(format!("{after}{}", named.join(", ")));
        }
        let tail = if n_listed == 0 { "" } else { template.tail };
        let text = format!("{}{}{tail}", self.head, texts.join(template.separator));
        let n_whole = entries.iter().filter(|it| it.form == ListingForm::Whole).count();
        PromptListing { text, n_listed, n_shortened: n_listed - n_whole, n_omitted }
    }

    pub(crate) fn cost(&self) -> ListingCost {
        let listed = self.entries.iter().filter(|it| it.form != ListingForm::Omitted);
        let used = listed.map(TemplateEntry::length).sum::<usize>();
        let used = used + self.around.unwrap_or_default();
        let uncounted = self.template.limit.as_ref().map_or(0, ListingLimit::uncounted);
        let used = used.saturating_sub(uncounted) as u64;
        let budget = self.limit.map(|limit| ListingUse {
            unit: ListingUnit::Characters,
            limit: limit as u64,
            used,
        });
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|it| it.index);
        let cost = |it: &TemplateEntry<'_>| EntryCost {
            form: it.form,
            characters: it.length() as u64,
            whole_characters: it.whole as u64,
            tokens: (it.text.len() as u64 + 1).div_ceil(4),
        };
        ListingCost { budget, entries: entries.into_iter().map(cost).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use skills_agents::profile::template::PromptTemplate;
    use skills_agents::profile::{OutputFormat, Scope};

    use super::*;

    #[test]
    fn description_over_openhands_limit_is_cut_in_the_middle() {
        let profile = skills_agents::profile::find("openhands").unwrap();
        let skills_agents::profile::OutputFormat::Template(template) = profile.output else {
            panic!("no template")
        };
        let text = "long words ".repeat(95) + "end";
        let skill = ListedSkill {
            name: "long",
            label: None,
            description: &text,
            note: None,
            when_to_use: None,
            path: Path::new("/w/.openhands/skills/long/SKILL.md"),
            home: None,
            root: Path::new("/w/.openhands/skills"),
            shown: None,
            scope: Scope::Project,
            is_bundled: false,
            use_score: 0.0,
        };
        let (cut, is_cut) = description(&template.listing, &skill);
        assert!(is_cut);
        assert_eq!(units(&cut), 1024);
        let (before, after) = cut.split_once("<response clipped>").unwrap();
        assert!(text.starts_with(before) && after.ends_with("words end"), "{cut}");
        let rest = after.split_once("</NOTE>").unwrap().1;
        assert!(before.len() - rest.len() <= 1, "{cut}");
    }

    fn hermes() -> &'static PromptTemplate {
        let profile = skills_agents::profile::find("hermes").unwrap();
        let OutputFormat::Template(template) = profile.output else { panic!("no template") };
        template
    }

    #[test]
    fn skills_are_listed_by_category_and_name_without_an_empty_description() {
        let skills =
            [("z", "z", "Z."), ("a\nb/y", "o: ther", ""), ("a/x/w", "w", "W."), ("", "r", "R.")];
        let paths = skills.map(|it| Path::new("/s").join(it.0).join("SKILL.md"));
        let skill =
            |((_, name, description), path): (&(&'static str, &'static str, &'static str), _)| {
                ListedSkill {
                    name,
                    label: None,
                    description,
                    note: None,
                    when_to_use: None,
                    path,
                    home: None,
                    root: Path::new("/s"),
                    shown: None,
                    scope: Scope::User,
                    is_bundled: false,
                    use_score: 0.0,
                }
            };
        let skills: Vec<_> = skills.iter().zip(paths.iter().map(|it| &**it)).map(skill).collect();
        let text = listing(&hermes().listing, &skills, &ListingBudget::default()).render().text;
        let (_, text) = text.split_once("<available_skills>\n").unwrap();
        let (text, _) = text.split_once("\n</available_skills>").unwrap();
        assert_eq!(
            text,
            "  a b:\n    - o: ther\n  a/x:\n    - w: W.\n  general:\n    - r: R.\n  z:\n    - z: Z."
        );
    }
}
