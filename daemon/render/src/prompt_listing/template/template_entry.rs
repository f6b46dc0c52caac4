//! Entries of a listing whose format is data of the profile table.

use std::borrow::Cow;
use std::path::Path;

use skills_agents::listing::one_line;
use skills_agents::profile::template::ListingTemplate;

use crate::prompt_listing::{ListedSkill, ListingForm};
use crate::template::{escape, fill, scope_word};

/// Returns the length of a text as JavaScript counts it.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// An entry of a listing under construction.
pub(super) struct TemplateEntry<'a> {
    pub(super) skill: &'a ListedSkill<'a>,
    /// The number of the skill in the call.
    pub(super) index: usize,
    pub(super) text: String,
    /// The length of the entry if nothing were cut.
    pub(super) whole: usize,
    pub(super) form: ListingForm,
}

impl TemplateEntry<'_> {
    /// Returns the length that counts towards the limit: the entry and a line break.
    pub(super) fn length(&self) -> usize {
        units(&self.text) + 1
    }
}

pub(super) fn entry(
    template: &ListingTemplate,
    skill: &ListedSkill<'_>,
    description: &str,
    when_to_use: Option<&str>,
) -> String {
    let path = || {
        let home = skill.home.filter(|it| template.tilde && it.is_absolute());
        match home.and_then(|it| skill.path.strip_prefix(it).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => skill.path.to_string_lossy().into_owned(),
        }
    };
    let whole = template.entry;
    let without = || Cow::Owned(whole.replacen(template.empty, "", 1));
    let layout = if description.is_empty() { without() } else { Cow::Borrowed(whole) };
    fill(&layout, |word| {
        let escaped = |text: &str| Some(Cow::Owned(escape(template.escape, text).into_owned()));
        match word {
            "name" => escaped(skill.name),
            "description" => escaped(description),
            "path" => escaped(&path()),
            "dir" => escaped(&skill.path.parent().unwrap_or(skill.path).to_string_lossy()),
            "scope" => Some(scope_word(template.scopes, skill.scope).into()),
            "when" => Some(match when_to_use.filter(|it| !it.is_empty()) {
                Some(when) => {
                    fill(template.when_to_use, |it| (it == "when").then(|| escaped(when)).flatten())
                        .into()
                }
                None => "".into(),
            }),
            _ => None,
        }
    })
}

/// Returns a skill's category: the path from the search root to the directory that contains the
/// skill's, or the skill's directory if that is the root; `general` for a skill in the root itself.
pub(super) fn category(skill: &ListedSkill<'_>) -> String {
    let below = skill.path.parent().and_then(|it| it.strip_prefix(skill.root).ok());
    let above = below.and_then(Path::parent).filter(|it| !it.as_os_str().is_empty());
    let own = below.filter(|it| !it.as_os_str().is_empty());
    // The name of a directory must not add lines to the listing.
    one_line(&above.or(own).unwrap_or(Path::new("general")).to_string_lossy())
}
