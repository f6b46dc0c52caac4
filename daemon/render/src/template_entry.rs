//! Entries of the listings that are data of the profile table, and how a template is filled in.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;
use skills_agents::listing::one_line;
use skills_agents::profile::Scope;
use skills_agents::profile::template::{EscapeRule, ListingTemplate};

use super::prompt_listing::{ListedSkill, ListingForm};
use super::xml;

/// Replaces each `{word}` that has a value. The values are not searched.
pub(super) fn fill<'v>(template: &str, value: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let found = after.split_once('}').and_then(|(word, end)| Some((value(word)?, end)));
        if let Some((filled, end)) = found {
            text.push_str(&filled);
            rest = end;
        } else {
            text.push('{');
            rest = after;
        }
    }
    text + rest
}

pub(super) fn escape(rule: EscapeRule, text: &str) -> Cow<'_, str> {
    match rule {
        EscapeRule::Never => text.into(),
        EscapeRule::Tags => xml::escape(text).into(),
        EscapeRule::Json => {
            let text = Value::from(text).to_string();
            text[1..text.len() - 1].to_owned().into()
        }
        EscapeRule::Xml => xml::escape(text).replace('"', "&quot;").replace('\'', "&apos;").into(),
        EscapeRule::Html => xml::escape(text).replace('"', "&quot;").replace('\'', "&#x27;").into(),
    }
}

/// Returns the length of a text as JavaScript counts it.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the agent's word for a scope.
pub(super) fn scope_word(scopes: &'static [(Scope, &'static str)], scope: Scope) -> &'static str {
    let scope = if scope == Scope::Nested { Scope::Project } else { scope };
    let found = scopes.iter().find(|(it, _)| *it == scope);
    found.or(scopes.last()).map_or("", |(_, word)| word)
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
